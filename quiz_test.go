package lyceum_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// fourTypes has a question of each type in the form of version 1.
var fourTypes = []lyceum.PlainQuestion{
	{Question: "Which clay?", QuestionType: "single", Answers: []string{"red", "white"}, CorrectAnswers: []string{"red"}, Graded: true},
	{Question: "Which fire?", QuestionType: "multiple", Answers: []string{"a", "b", "c"}, CorrectAnswers: []string{"a", "c"}, Graded: true},
	{Question: "Clay is …", QuestionType: "fill_blank", Answers: []string{"wet", "damp"}, CorrectAnswers: []string{"wet", "damp"}, Graded: true},
	{
		Question: "What for?", QuestionType: "matching", Answers: []string{"Wheel = turning", "Kiln = firing", "glazing"},
		CorrectAnswers: []string{"Wheel = turning", "Kiln = firing"}, Graded: true,
	},
}

// TestQuestionsOfVersion1 checks that version 1 shows questions stored before version 2
// unchanged, and that they get the same keys and ids each time.
func TestQuestionsOfVersion1(t *testing.T) {
	stored, err := json.Marshal(fourTypes)
	if err != nil {
		t.Fatal(err)
	}
	var read, again lyceum.Questions
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	for i := range read {
		if got := read[i].Plain(); !reflect.DeepEqual(got, fourTypes[i]) {
			t.Errorf("%+v is read as %+v", fourTypes[i], got)
		}
		if wrong := read[i].Check(); wrong != "" {
			t.Errorf("%+v: %s", read[i], wrong)
		}
		if read[i].Key == "" || slices.ContainsFunc(read[:i], func(q lyceum.Question) bool { return q.Key == read[i].Key }) {
			t.Errorf("question %d has the key %q", i+1, read[i].Key)
		}
	}
	text, err := json.Marshal(read)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(read, again) {
		t.Errorf("%+v becomes %+v, %v", read, again, err)
	}
	matching := read[3]
	want := []lyceum.QuizAnswer{{ID: "1", Text: "firing", Match: "p2"}, {ID: "2", Text: "glazing"}, {ID: "3", Text: "turning", Match: "p1"}}
	if !slices.Equal(matching.Answers, want) || !slices.Equal(matching.Correct, []string{"3", "1"}) {
		t.Errorf("answers %+v, right %v", matching.Answers, matching.Correct)
	}
	for _, q := range read {
		hidden := q.Unanswered()
		if len(hidden.Correct) > 0 || slices.ContainsFunc(hidden.Answers, func(a lyceum.QuizAnswer) bool { return a.Match != "" }) {
			t.Errorf("a learner sees %+v", hidden)
		}
	}
}

func TestGrade(t *testing.T) {
	quiz := lyceum.Quiz{Questions: lyceum.PlainQuestions(fourTypes...)}
	right := []lyceum.QuestionAnswer{
		{Chosen: []string{"1"}},
		{Chosen: []string{"3", "1"}},
		{Chosen: []string{" DAMP "}},
		{Matched: map[string]string{"p1": "3", "p2": "1"}},
	}
	none := make([]lyceum.QuestionAnswer, 4)
	with := func(i int, a lyceum.QuestionAnswer) []lyceum.QuestionAnswer {
		all := slices.Clone(right)
		all[i] = a
		return all
	}
	for name, test := range map[string]struct {
		given []lyceum.QuestionAnswer
		want  lyceum.Grade
		wrong bool
	}{
		"all right":          {right, lyceum.Grade{Correct: 4, Answered: 4, Total: 4}, false},
		"nothing":            {none, lyceum.Grade{Total: 4}, false},
		"another answer":     {with(0, lyceum.QuestionAnswer{Chosen: []string{"2"}}), lyceum.Grade{Correct: 3, Answered: 4, Total: 4}, false},
		"one of two":         {with(1, lyceum.QuestionAnswer{Chosen: []string{"1"}}), lyceum.Grade{Correct: 3, Answered: 4, Total: 4}, false},
		"one too many":       {with(1, lyceum.QuestionAnswer{Chosen: []string{"1", "2", "3"}}), lyceum.Grade{Correct: 3, Answered: 4, Total: 4}, false},
		"another word":       {with(2, lyceum.QuestionAnswer{Chosen: []string{"dry"}}), lyceum.Grade{Correct: 3, Answered: 4, Total: 4}, false},
		"blank":              {with(2, lyceum.QuestionAnswer{Chosen: []string{" "}}), lyceum.Grade{Correct: 3, Answered: 3, Total: 4}, false},
		"one pair":           {with(3, lyceum.QuestionAnswer{Matched: map[string]string{"p1": "3"}}), lyceum.Grade{Correct: 3, Answered: 4, Total: 4}, false},
		"two answers to one": {with(0, lyceum.QuestionAnswer{Chosen: []string{"1", "2"}}), lyceum.Grade{}, true},
		"an unknown answer":  {with(1, lyceum.QuestionAnswer{Chosen: []string{"9"}}), lyceum.Grade{}, true},
		"an unknown prompt":  {with(3, lyceum.QuestionAnswer{Matched: map[string]string{"p9": "1"}}), lyceum.Grade{}, true},
		"too few":            {right[:3], lyceum.Grade{}, true},
	} {
		got, err := quiz.Grade(test.given)
		if got != test.want || test.wrong != (lyceum.KindOf(err) == lyceum.Invalid && err != nil) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestPairsWithTheirMark checks that a prompt can contain what separates it from its answer.
func TestPairsWithTheirMark(t *testing.T) {
	q := lyceum.Question{QuestionType: lyceum.MatchingQuestion, Prompts: []lyceum.QuizPrompt{{Text: "2"}, {Text: "x = 2"}, {Text: "x"}}}
	q.Match([]string{"number", "equation", "letter"}, []string{"2 = number"})
	given, wrong := q.Choose([]string{"2 = number", "x = 2 = equation", "x = letter"})
	if want := map[string]string{"p1": "4", "p2": "2", "p3": "3"}; wrong != "" || !reflect.DeepEqual(given.Matched, want) {
		t.Errorf("%v %s, want %v", given.Matched, wrong, want)
	}
	if _, wrong := q.Choose([]string{"x = 3"}); wrong == "" {
		t.Error("an unknown answer is accepted")
	}
}
