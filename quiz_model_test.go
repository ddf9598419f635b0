package lyceum_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
)

// asked is a question as a teacher thinks of it, together with the answer given, all as
// strings.
type asked struct {
	kind    string
	graded  bool
	choices []string          // what can be chosen
	right   []string          // those of choices that are correct, or the accepted texts
	pairs   map[string]string // prompt to matching choice
	chosen  []string
	matched map[string]string
}

// words are texts, some of which differ only in case and spaces.
var words = []string{"red", "Red", " red", "white", "dry clay", "DRY  clay", "ash", "", " "}

// drawAsked generates a question of any type, and an answer to it.
func drawAsked(t *rapid.T) asked {
	a := asked{
		kind:   rapid.SampledFrom([]string{"single", "multiple", "fill_blank", "matching"}).Draw(t, "kind"),
		graded: rapid.Bool().Draw(t, "graded"),
	}
	some := func(name string, of []string, least, most int) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, most, rapid.ID).Draw(t, name)
	}
	written := words[:7]
	switch a.kind {
	case "single":
		a.choices = some("choices", written, 2, 5)
		a.right, a.chosen = some("right", a.choices, 1, 1), some("chosen", a.choices, 0, 1)
	case "multiple":
		a.choices = some("choices", written, 2, 5)
		a.right, a.chosen = some("right", a.choices, 1, len(a.choices)), some("chosen", a.choices, 0, len(a.choices))
	case "fill_blank":
		a.right, a.chosen = some("right", written, 1, 3), some("chosen", words, 0, 1)
	case "matching":
		prompts := some("prompts", []string{"Wheel", "Kiln", "Rib"}, 1, 3)
		a.choices = some("choices", written, len(prompts), 5)
		a.pairs, a.matched = map[string]string{}, map[string]string{}
		for i, prompt := range prompts {
			a.pairs[prompt] = a.choices[i]
			if rapid.Bool().Draw(t, "matched") {
				a.matched[prompt] = rapid.SampledFrom(a.choices).Draw(t, "match")
			}
		}
	}
	return a
}

// isAnswered and isRight are a naive model that compares texts.
func (a *asked) isAnswered() bool {
	if a.kind == "fill_blank" {
		return len(a.chosen) == 1 && strings.TrimSpace(a.chosen[0]) != ""
	}
	return len(a.chosen)+len(a.matched) > 0
}

func (a *asked) isRight() bool {
	if !a.isAnswered() {
		return false
	}
	switch a.kind {
	case "matching":
		return reflect.DeepEqual(a.matched, a.pairs)
	case "fill_blank":
		plain := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
		return slices.ContainsFunc(a.right, func(accepted string) bool { return plain(accepted) == plain(a.chosen[0]) })
	}
	return slices.Equal(slices.Sorted(slices.Values(a.chosen)), slices.Sorted(slices.Values(a.right)))
}

// question returns the question as it is stored, and the answer by ids.
func (a *asked) question(t *rapid.T) (lyceum.Question, lyceum.QuestionAnswer) {
	plain := lyceum.PlainQuestion{QuestionType: a.kind, Graded: a.graded, Answers: a.choices, CorrectAnswers: a.right}
	if a.kind == "fill_blank" {
		plain.Answers = a.right
	}
	q := lyceum.PlainQuestions(plain)[0]
	if a.kind == "matching" {
		var matches []string
		q.Prompts = nil
		for prompt, match := range a.pairs {
			q.Prompts, matches = append(q.Prompts, lyceum.QuizPrompt{Text: prompt}), append(matches, match)
		}
		q.Match(matches, slices.DeleteFunc(slices.Clone(a.choices), func(s string) bool { return slices.Contains(matches, s) }))
	}
	if wrong := q.Check(); wrong != "" {
		t.Fatalf("%+v: %s", q, wrong)
	}
	id := func(text string) string {
		return q.Answers[slices.IndexFunc(q.Answers, func(c lyceum.QuizAnswer) bool { return c.Text == text })].ID
	}
	var given lyceum.QuestionAnswer
	switch a.kind {
	case "fill_blank":
		given.Chosen = a.chosen
	case "matching":
		given.Matched = map[string]string{}
		for _, p := range q.Prompts {
			if text, there := a.matched[p.Text]; there {
				given.Matched[p.ID] = id(text)
			}
		}
	default:
		for _, text := range a.chosen {
			given.Chosen = append(given.Chosen, id(text))
		}
	}
	return q, given
}

// TestGradeAsAPersonWould compares grades with those of a naive model, for questions of all
// four types, also after questions and answers were encoded and decoded.
func TestGradeAsAPersonWould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var quiz lyceum.Quiz
		var given []lyceum.QuestionAnswer
		var want lyceum.Grade
		all := rapid.SliceOfN(rapid.Custom(drawAsked), 0, 6).Draw(t, "questions")
		graded := slices.ContainsFunc(all, func(a asked) bool { return a.graded })
		for i := range all {
			q, answer := all[i].question(t)
			q.Key = string(rune('a' + i))
			quiz.Questions, given = append(quiz.Questions, q), append(given, answer)
			if graded && !all[i].graded {
				continue
			}
			want.Total++
			if all[i].isAnswered() {
				want.Answered++
			}
			if graded && all[i].isRight() {
				want.Correct++
			}
		}
		check := func(when string) {
			if got, err := quiz.Grade(given); err != nil || got != want || quiz.Counted() != want.Total {
				t.Fatalf("%s: %+v, %v, want %+v for %+v", when, got, err, want, all)
			}
		}
		check("at once")
		answers := map[string]lyceum.QuestionAnswer{}
		for i := range given {
			answers[quiz.Questions[i].Key] = quiz.Questions[i].Tidy(given[i])
		}
		kept, err := lyceum.Give(answers).Read()
		if err != nil || lyceum.Give(kept) != lyceum.Give(answers) {
			t.Fatalf("%+v is read as %+v, %v", answers, kept, err)
		}
		for i := range given {
			given[i] = kept[quiz.Questions[i].Key]
		}
		text, err := json.Marshal(quiz.Questions)
		if err == nil {
			err = json.Unmarshal(text, &quiz.Questions)
		}
		if err != nil {
			t.Fatal(err)
		}
		check("as it is kept")
	})
}
