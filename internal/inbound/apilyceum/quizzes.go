package apilyceum

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// The limits of a new quiz (contract/lyceum/quizzes.yaml).
const (
	maxQuiz      = 1 << 20 // bytes of a body
	maxQuestions = 100
	maxQuestion  = 10_000
	maxAnswers   = 50
	maxHeading   = 300
)

func (f *Face) quizzes() []wire.Operation {
	const all = "/lyceum/v1/lectures/{lecture_id}/quizzes"
	create := one("createQuiz", wire.Create, all, bindNewQuiz, f.Learning.CreateQuiz, "quiz", quiz)
	const each = "/lyceum/v1/quizzes/{quiz_id}"
	change := one("updateQuiz", wire.Patch, each, bindQuizChange, f.Learning.UpdateQuiz, "quiz", quiz)
	create.MaxBody, change.MaxBody = maxQuiz, maxQuiz
	return []wire.Operation{create, change}
}

func bindQuizChange(in *wire.Input) learning.QuizChange {
	name := in.Body("name")
	q := learning.QuizChange{
		Quiz:            wire.PathID[lyceum.AttachmentID](in, "quiz_id"),
		Name:            wire.Nullable(name, name.Text(1, maxHeading)),
		InstantFeedback: in.Body("instant_feedback").Bool(),
		Graded:          in.Body("graded").Bool(),
	}
	for _, member := range in.Body("questions").Objects(maxQuestions) {
		q.Questions = append(q.Questions, bindQuestion(member))
	}
	return q
}

func bindNewQuiz(in *wire.Input) learning.NewQuiz {
	q := learning.NewQuiz{
		Lecture:         wire.PathID[lyceum.LectureID](in, "lecture_id"),
		Name:            in.Body("name").Text(1, maxHeading),
		InstantFeedback: in.Body("instant_feedback").Bool(),
	}
	for _, member := range in.Body("questions").Required().Objects(maxQuestions) {
		q.Questions = append(q.Questions, bindQuestion(member))
	}
	return q
}

func bindQuestion(member func(string) wire.Field) learning.NewQuestion {
	q := learning.NewQuestion{
		Question: member("question").Required().Text(1, maxQuestion).Value,
		Type: wire.OneOf(member("question_type").Required(), lyceum.SingleQuestion, lyceum.MultipleQuestion,
			lyceum.FillBlankQuestion, lyceum.MatchingQuestion).Value,
		Graded:  member("graded").Bool().Else(true),
		Answers: bindAnswers(member("answers")), Correct: bindAnswers(member("correct_answers")),
		PromptHeading: member("matching_prompt_heading").Text(1, maxHeading).Value,
		MatchHeading:  member("matching_match_heading").Text(1, maxHeading).Value,
	}
	for _, pair := range member("pairs").Objects(maxAnswers) {
		q.Pairs = append(q.Pairs, learning.Pair{
			Prompt: pair("prompt").Required().Text(1, lyceum.MaxWritten).Value,
			Match:  pair("match").Required().Text(1, lyceum.MaxWritten).Value,
		})
	}
	if feedback, given := member("feedback").Object(); given {
		q.Feedback = &lyceum.QuizFeedback{
			Correct:   feedback("correct").Text(0, lyceum.MaxWritten).Value,
			Incorrect: feedback("incorrect").Text(0, lyceum.MaxWritten).Value,
		}
	}
	return q
}

func bindAnswers(f wire.Field) []string {
	texts := wire.Sequence[string](f, "strings")
	if len(texts) > maxAnswers {
		f.Refuse(fmt.Sprintf("must be at most %d", maxAnswers))
		return nil
	}
	for i, text := range texts {
		if wrong := lyceum.CheckText(text, 1, lyceum.MaxWritten); wrong != "" {
			f.Refuse(fmt.Sprintf("has answer %d, which %s", i+1, wrong))
			return nil
		}
	}
	return texts
}

func quiz(a lyceum.Attachment) gen.Quiz {
	shown := gen.Quiz{
		ID: int32(a.ID), LectureID: int32(a.Lecture), Name: wire.Optional(a.Name), Position: wire.Optional(a.Position),
		Graded: a.Quiz.IsGraded(), InstantFeedback: a.Quiz.GivesFeedback(),
		Questions: make([]gen.Question, len(a.Quiz.Questions)),
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt),
	}
	for i := range a.Quiz.Questions {
		shown.Questions[i] = question(&a.Quiz.Questions[i])
	}
	return shown
}

func question(q *lyceum.Question) gen.Question {
	shown := gen.Question{
		QuestionKey: q.Key, Question: q.Question, QuestionType: q.QuestionType, Graded: q.Graded,
		Answers: make([]gen.Choice, len(q.Answers)), CorrectAnswerID: append([]string{}, q.Correct...),
		MatchingPrompts:       make([]gen.Prompt, len(q.Prompts)),
		MatchingPromptHeading: unlessEmpty(q.PromptHeading), MatchingMatchHeading: unlessEmpty(q.MatchHeading),
	}
	for i := range q.Answers {
		a := &q.Answers[i]
		shown.Answers[i] = gen.Choice{ID: a.ID, Text: a.Text, Match: unlessEmpty(a.Match)}
	}
	for i := range q.Prompts {
		shown.MatchingPrompts[i] = gen.Prompt(q.Prompts[i])
	}
	if q.Feedback != nil {
		feedback := gen.Feedback(*q.Feedback)
		shown.Feedback = &feedback
	}
	return shown
}

// unlessEmpty returns nil for an empty string.
func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
