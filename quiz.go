package lyceum

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Quiz is a set of questions.
type Quiz struct {
	ID              QuizID
	InstantFeedback Opt[bool] // learners are told which of their answers are correct; absent: they are not
	Questions       Questions
}

// IsGraded reports whether any question is graded.
func (q *Quiz) IsGraded() bool {
	return q != nil && slices.ContainsFunc(q.Questions, func(asked Question) bool { return asked.Graded })
}

// Counted returns how many questions count toward a grade: the graded ones, or all if none is
// graded.
func (q *Quiz) Counted() int32 {
	if q == nil {
		return 0
	}
	graded := int32(0)
	for i := range q.Questions {
		if q.Questions[i].Graded {
			graded++
		}
	}
	if graded == 0 {
		return int32(len(q.Questions))
	}
	return graded
}

// GivesFeedback reports whether learners are told which of their answers are correct.
func (q *Quiz) GivesFeedback() bool { return q != nil && q.InstantFeedback.Value }

// The contract's question types. An import can add other words.
const (
	SingleQuestion    = "single"     // one answer is chosen
	MultipleQuestion  = "multiple"   // several can be chosen
	FillBlankQuestion = "fill_blank" // text is entered
	MatchingQuestion  = "matching"   // each prompt is matched with an answer
)

// Question is one question of a quiz. Its JSON is that of version 2, plus whether it is graded;
// the JSON of version 1 can be parsed too.
type Question struct {
	// Key identifies the question in its quiz. It is derived from what is asked, unless an
	// import sets it: a question with a different wording has a different key, so that an
	// answer is never graded against another question.
	Key           string        `json:"question_key"`
	Question      string        `json:"question"`
	QuestionType  string        `json:"question_type"`
	Answers       []QuizAnswer  `json:"answers"`           // to choose from; for fill_blank, the accepted ones
	Correct       []string      `json:"correct_answer_id"` // for matching, in the order of the prompts
	Prompts       []QuizPrompt  `json:"matching_prompts,omitempty"`
	PromptHeading string        `json:"matching_prompt_heading,omitempty"`
	MatchHeading  string        `json:"matching_match_heading,omitempty"`
	Feedback      *QuizFeedback `json:"feedback,omitempty"`
	Graded        bool          `json:"graded"`
}

// QuizAnswer is an answer to choose. Its id is unique within the question.
type QuizAnswer struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Match string `json:"match,omitempty"` // id of the matching prompt
}

// QuizPrompt is a prompt that an answer must be matched with.
type QuizPrompt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// QuizFeedback is what learners are told after they answer.
type QuizFeedback struct {
	Correct   string `json:"correct,omitempty"`
	Incorrect string `json:"incorrect,omitempty"`
}

// PlainQuestion is a question in the form of version 1, with all answers as strings.
type PlainQuestion struct {
	Question       string   `json:"question"`
	QuestionType   string   `json:"question_type"`
	Answers        []string `json:"answers"`
	CorrectAnswers []string `json:"correct_answers"`
	Graded         bool     `json:"graded"`
}

// Questions are the questions of one quiz, each with its own key.
type Questions []Question

// PlainQuestions converts questions from the form of version 1.
func PlainQuestions(plain ...PlainQuestion) Questions {
	all := make(Questions, len(plain))
	for i := range plain {
		all[i] = plain[i].full()
	}
	all.Identify()
	return all
}

// Identify assigns keys to the questions that have none.
func (all Questions) Identify() {
	taken := map[string]bool{}
	for i := range all {
		taken[all[i].Key] = true
	}
	for i := range all {
		q := &all[i]
		if q.Key != "" {
			continue
		}
		base := q.digest()
		q.Key = base
		for n := 2; taken[q.Key]; n++ {
			q.Key = base + "-" + strconv.Itoa(n)
		}
		taken[q.Key] = true
	}
}

// KeepKeys assigns to questions that also exist in before the keys that they have there.
func (all Questions) KeepKeys(before Questions) {
	keys := map[string]string{}
	for i := range before {
		keys[before[i].digest()] = before[i].Key
	}
	for i := range all {
		if key, there := keys[all[i].digest()]; there {
			all[i].Key = key
		}
	}
}

// digest returns a hash of what is asked, regardless of which answers are correct.
func (q *Question) digest() string {
	asked := []string{q.QuestionType, q.Question, strconv.Itoa(len(q.Prompts))}
	for _, p := range q.Prompts {
		asked = append(asked, p.Text)
	}
	if q.QuestionType != FillBlankQuestion {
		for _, a := range q.Answers {
			asked = append(asked, a.Text)
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", asked))
	return hex.EncodeToString(sum[:8])
}

// UnmarshalJSON parses questions in the form of either version.
func (all *Questions) UnmarshalJSON(text []byte) error {
	var list []Question
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*all = list
	all.Identify()
	return nil
}

// UnmarshalJSON parses a question in the form of either version.
func (q *Question) UnmarshalJSON(text []byte) error {
	type full Question // without this method
	var kind struct {
		Correct *json.RawMessage `json:"correct_answer_id"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Correct != nil {
		err := json.Unmarshal(text, (*full)(q))
		q.Answers, q.Correct = slices.Concat([]QuizAnswer{}, q.Answers), slices.Concat([]string{}, q.Correct)
		return err
	}
	var plain PlainQuestion
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	*q = plain.full()
	return nil
}

// pairMark separates a prompt from its answer in version 1.
const pairMark = " = "

// full converts the question to the form of version 2. A correct answer that is not among the
// answers is added to them.
func (p *PlainQuestion) full() Question {
	q := Question{
		Question: p.Question, QuestionType: p.QuestionType, Graded: p.Graded, Answers: []QuizAnswer{}, Correct: []string{},
	}
	if q.QuestionType == MatchingQuestion {
		q.pair(p)
		return q
	}
	ids := map[string]string{}
	for _, text := range slices.Concat(p.Answers, p.CorrectAnswers) {
		_, there := ids[text]
		if there && len(q.Answers) >= len(p.Answers) {
			continue
		}
		id := strconv.Itoa(len(q.Answers) + 1)
		q.Answers = append(q.Answers, QuizAnswer{ID: id, Text: text})
		if !there {
			ids[text] = id
		}
	}
	for _, text := range p.CorrectAnswers {
		if !slices.Contains(q.Correct, ids[text]) {
			q.Correct = append(q.Correct, ids[text])
		}
	}
	return q
}

// pair completes a matching question with the correct pairs, and with the answers that match no
// prompt.
func (q *Question) pair(p *PlainQuestion) {
	pairs := p.Answers // if none is marked correct, all are
	if right := p.CorrectAnswers; len(right) > 0 {
		wrong := func(pair string) bool { return !slices.Contains(right, pair) }
		pairs = append(slices.DeleteFunc(slices.Clone(pairs), wrong), right...)
	}
	var matches, others []string
	known := map[string]bool{}
	for _, pair := range pairs {
		prompt, match, _ := strings.Cut(pair, pairMark)
		if !known[prompt] {
			known[prompt] = true
			q.Prompts = append(q.Prompts, QuizPrompt{Text: prompt})
			matches = append(matches, match)
		}
	}
	for _, text := range p.Answers {
		if prompt, match, cut := strings.Cut(text, pairMark); cut && known[prompt] {
			text = match
		}
		if !slices.Contains(matches, text) && !slices.Contains(others, text) && !slices.Contains(pairs, text) {
			others = append(others, text)
		}
	}
	q.Match(matches, others)
}

// Match completes a matching question whose prompts have no ids yet, given the answer to each
// prompt, in order, and the answers that match none. Answers are sorted by text, so that their
// order does not reveal which prompt they match.
func (q *Question) Match(matches, others []string) {
	q.Answers = make([]QuizAnswer, 0, len(matches)+len(others))
	for i, text := range matches {
		q.Prompts[i].ID = "p" + strconv.Itoa(i+1)
		q.Answers = append(q.Answers, QuizAnswer{Text: text, Match: q.Prompts[i].ID})
	}
	for _, text := range others {
		q.Answers = append(q.Answers, QuizAnswer{Text: text})
	}
	slices.SortStableFunc(q.Answers, func(a, b QuizAnswer) int { return strings.Compare(a.Text, b.Text) })
	right := map[string]string{}
	for i := range q.Answers {
		a := &q.Answers[i]
		a.ID = strconv.Itoa(i + 1)
		right[a.Match] = a.ID
	}
	q.Correct = make([]string, len(q.Prompts))
	for i := range q.Prompts {
		q.Correct[i] = right[q.Prompts[i].ID]
	}
}

// Plain converts the question to the form of version 1.
func (q *Question) Plain() PlainQuestion {
	p := PlainQuestion{
		Question: q.Question, QuestionType: q.QuestionType, Answers: []string{}, CorrectAnswers: []string{}, Graded: q.Graded,
	}
	prompts := map[string]string{}
	for _, prompt := range q.Prompts {
		prompts[prompt.ID] = prompt.Text
	}
	for _, id := range q.Correct {
		if a := q.answer(id); a != nil {
			p.CorrectAnswers = append(p.CorrectAnswers, a.plain(prompts))
		}
	}
	if q.QuestionType == MatchingQuestion {
		p.Answers = append(p.Answers, p.CorrectAnswers...)
	}
	for i := range q.Answers {
		if a := &q.Answers[i]; a.Match == "" {
			p.Answers = append(p.Answers, a.Text)
		}
	}
	return p
}

// plain returns an answer as a string: preceded by the prompt that it matches, if any.
func (a *QuizAnswer) plain(prompts map[string]string) string {
	prompt := prompts[a.Match]
	switch {
	case a.Match == "":
		return a.Text
	case a.Text == "":
		return prompt
	}
	return prompt + pairMark + a.Text
}

func (q *Question) answer(id string) *QuizAnswer {
	for i := range q.Answers {
		if q.Answers[i].ID == id {
			return &q.Answers[i]
		}
	}
	return nil
}

// Unanswered returns the question without anything that reveals the correct answers.
func (q *Question) Unanswered() Question {
	shown := *q
	shown.Correct, shown.Feedback = []string{}, nil
	shown.Answers = make([]QuizAnswer, 0, len(q.Answers))
	if q.QuestionType == FillBlankQuestion {
		return shown
	}
	for _, a := range q.Answers {
		shown.Answers = append(shown.Answers, QuizAnswer{ID: a.ID, Text: a.Text})
	}
	if q.QuestionType == MatchingQuestion {
		slices.SortFunc(shown.Answers, func(a, b QuizAnswer) int { return strings.Compare(a.Text, b.Text) })
	}
	return shown
}

// Check returns what is inconsistent in a question, or "" if nothing is.
func (q *Question) Check() string {
	answers, prompts := map[string]string{}, map[string]bool{}
	for _, p := range q.Prompts {
		if p.ID == "" || prompts[p.ID] {
			return "matching_prompts must each have an id of their own"
		}
		prompts[p.ID] = true
	}
	matched := map[string]string{}
	for _, a := range q.Answers {
		if _, twice := answers[a.ID]; a.ID == "" || twice {
			return "answers must each have an id of their own"
		}
		if answers[a.ID] = a.Match; a.Match == "" {
			continue
		}
		if !prompts[a.Match] || matched[a.Match] != "" {
			return fmt.Sprintf("match of the answer %q must be the id of a prompt of its own", a.ID)
		}
		matched[a.Match] = a.ID
	}
	for _, id := range q.Correct {
		if _, there := answers[id]; !there {
			return "correct_answer_id must be ids of the answers"
		}
	}
	if q.QuestionType != MatchingQuestion {
		return ""
	}
	if len(q.Correct) != len(q.Prompts) {
		return "correct_answer_id must have the answer to each prompt"
	}
	for i, p := range q.Prompts {
		if q.Correct[i] != matched[p.ID] {
			return "correct_answer_id must have the answer to each prompt, in their order"
		}
	}
	return ""
}
