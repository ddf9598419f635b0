package lyceum

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// QuestionAnswer is the answer given to a question; the zero value means no answer.
type QuestionAnswer struct {
	Chosen  []string          // ids of answers; for fill_blank, the text entered
	Matched map[string]string // for matching: prompt id to answer id
}

// MarshalJSON encodes an answer as version 2 has it: a list, or an object for matching.
func (a QuestionAnswer) MarshalJSON() ([]byte, error) {
	if a.Matched != nil {
		return json.Marshal(a.Matched)
	}
	return json.Marshal(append([]string{}, a.Chosen...))
}

// UnmarshalJSON decodes a list or an object.
func (a *QuestionAnswer) UnmarshalJSON(text []byte) error {
	*a = QuestionAnswer{}
	if len(text) > 0 && text[0] == '{' {
		return json.Unmarshal(text, &a.Matched)
	}
	return json.Unmarshal(text, &a.Chosen)
}

// Tidy normalizes an answer: it sorts what was chosen and removes duplicates.
func (q *Question) Tidy(a QuestionAnswer) QuestionAnswer {
	if q.QuestionType == MatchingQuestion {
		return QuestionAnswer{Matched: orNone(a.Matched)}
	}
	return QuestionAnswer{Chosen: slices.Compact(slices.Sorted(slices.Values(a.Chosen)))}
}

func orNone(pairs map[string]string) map[string]string {
	if pairs == nil {
		return map[string]string{}
	}
	return pairs
}

// Grade counts the questions of a quiz: the graded ones, or all if none is graded.
type Grade struct {
	Correct, Answered, Total int32
}

// PercentCorrect returns the share of correct answers, from 0 to 1.
func (g Grade) PercentCorrect() float64 { return share(g.Correct, g.Total) }

// PercentAnswered returns the share of questions that were answered, from 0 to 1.
func (g Grade) PercentAnswered() float64 { return share(g.Answered, g.Total) }

func share(part, of int32) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// MaxWritten is the maximum length of an entered answer, in characters.
const MaxWritten = 2000

// Grade grades the answers to the questions, one for each, in order. It fails with Invalid if
// an answer is not possible for its question.
func (q *Quiz) Grade(given []QuestionAnswer) (Grade, error) {
	var g Grade
	if len(given) != len(q.Questions) {
		return g, Invalidf("answers must have one list for each of the %d questions", len(q.Questions))
	}
	var wrong []FieldError
	all := !q.IsGraded()
	for i := range q.Questions {
		asked, answer := &q.Questions[i], &given[i]
		if message := asked.misfit(answer); message != "" {
			wrong = append(wrong, FieldError{Field: "answers", Message: fmt.Sprintf("to question %d %s", i+1, message)})
		}
		if !asked.Graded && !all {
			continue
		}
		g.Total++
		if !asked.IsAnswered(answer) {
			continue
		}
		g.Answered++
		if !all && asked.IsRight(answer) {
			g.Correct++
		}
	}
	if len(wrong) > 0 {
		return Grade{}, InvalidFields(wrong...)
	}
	return g, nil
}

// misfit returns why an answer is not possible for the question, worded to follow the name of
// the answer, or "" if it is.
func (q *Question) misfit(a *QuestionAnswer) string {
	if q.QuestionType == MatchingQuestion {
		return q.mismatch(a)
	}
	switch {
	case len(a.Matched) > 0:
		return "must be a list"
	case len(a.Chosen) > 1 && (q.QuestionType == SingleQuestion || q.QuestionType == FillBlankQuestion):
		return "must be one answer"
	case q.QuestionType == FillBlankQuestion:
		if len(a.Chosen) == 1 {
			return CheckText(a.Chosen[0], 0, MaxWritten)
		}
		return ""
	}
	for _, id := range a.Chosen {
		if q.answer(id) == nil {
			return "must be one of " + q.ids()
		}
	}
	return ""
}

func (q *Question) mismatch(a *QuestionAnswer) string {
	if len(a.Chosen) > 0 {
		return "must be an object that has the id of an answer for each prompt"
	}
	for _, prompt := range slices.Sorted(maps.Keys(a.Matched)) {
		if !slices.ContainsFunc(q.Prompts, func(p QuizPrompt) bool { return p.ID == prompt }) {
			return "must have the ids of its prompts as names"
		}
		if q.answer(a.Matched[prompt]) == nil {
			return "must be one of " + q.ids()
		}
	}
	return ""
}

// ids lists the ids of the answers to choose from, for an error message.
func (q *Question) ids() string {
	ids := make([]string, len(q.Answers))
	for i := range q.Answers {
		ids[i] = q.Answers[i].ID
	}
	return "the ids " + strings.Join(ids, ", ")
}

// choices lists the answers to choose from, for an error message.
func (q *Question) choices() string {
	texts := make([]string, len(q.Answers))
	for i := range q.Answers {
		texts[i] = q.Answers[i].Text
	}
	return strings.Join(texts, ", ")
}

// IsAnswered reports whether the question was answered at all.
func (q *Question) IsAnswered(a *QuestionAnswer) bool {
	if q.QuestionType == FillBlankQuestion {
		return len(a.Chosen) > 0 && plainText(a.Chosen[0]) != ""
	}
	return len(a.Chosen) > 0 || len(a.Matched) > 0
}

// IsRight reports whether an answer is correct. For single, it must be one of the correct
// answers; for multiple, it must have all of them and no others; for matching, every prompt
// must have its own answer; for fill_blank, the text must be accepted, ignoring case and white
// space.
func (q *Question) IsRight(a *QuestionAnswer) bool {
	switch q.QuestionType {
	case FillBlankQuestion:
		return q.accepts(a)
	case MatchingQuestion:
		for i, prompt := range q.Prompts {
			given := q.answer(a.Matched[prompt.ID])
			if right := q.answer(q.Correct[i]); given == nil || right == nil || given.Text != right.Text {
				return false
			}
		}
		return len(q.Prompts) > 0
	}
	given := slices.Compact(slices.Sorted(slices.Values(a.Chosen)))
	if q.QuestionType == SingleQuestion { // an import can add one with several correct answers
		return len(given) == 1 && slices.Contains(q.Correct, given[0])
	}
	return slices.Equal(given, slices.Sorted(slices.Values(q.Correct)))
}

func (q *Question) accepts(a *QuestionAnswer) bool {
	return len(a.Chosen) == 1 && plainText(a.Chosen[0]) != "" && slices.ContainsFunc(q.Correct, func(id string) bool {
		accepted := q.answer(id)
		return accepted != nil && plainText(accepted.Text) == plainText(a.Chosen[0])
	})
}

// plainText normalizes case and white space, which make no difference in an answer.
func plainText(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// Choose converts texts, the form that answers have in version 1, to an answer. If they are not
// a valid answer, wrong says why, worded to follow the name of the answer.
func (q *Question) Choose(texts []string) (a QuestionAnswer, wrong string) {
	switch q.QuestionType {
	case FillBlankQuestion:
		return QuestionAnswer{Chosen: texts}, ""
	case MatchingQuestion:
		return q.choosePairs(texts)
	}
	for _, text := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		i := slices.IndexFunc(q.Answers, func(a QuizAnswer) bool { return a.Text == text })
		if i < 0 {
			return a, "must be one of " + q.choices()
		}
		a.Chosen = append(a.Chosen, q.Answers[i].ID)
	}
	return a, ""
}

func (q *Question) choosePairs(pairs []string) (a QuestionAnswer, wrong string) {
	a.Matched = map[string]string{}
	for _, pair := range pairs {
		prompt, match, known := q.pairOf(pair)
		if !known {
			return a, "must be pairs of a prompt and one of " + q.choices() + ", such as prompt = answer"
		}
		a.Matched[prompt] = match
	}
	return a, ""
}

// pairOf returns the ids of the prompt and the answer of a pair, both of which can contain pairMark.
func (q *Question) pairOf(pair string) (prompt, match string, known bool) {
	for _, p := range q.Prompts {
		text, paired := strings.CutPrefix(pair, p.Text+pairMark)
		if !paired && pair != p.Text {
			continue
		}
		if !paired { // of an answer without a text
			text = ""
		}
		if i := slices.IndexFunc(q.Answers, func(a QuizAnswer) bool { return a.Text == text }); i >= 0 {
			return p.ID, q.Answers[i].ID, true
		}
	}
	return "", "", false
}
