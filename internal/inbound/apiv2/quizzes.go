package apiv2

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) quizzes() []wire.Operation {
	const all, each = lecturePath + "/quizzes", lecturePath + "/quizzes/{quiz_id}"
	l := f.learning
	return []wire.Operation{
		many("listLectureQuizzes", all, perPage, bindQuizzes, l.Quizzes, quizReference),
		one("showLectureQuiz", wire.Get, each, byQuiz, l.OneQuiz, quiz),
		wire.None("deleteLectureQuiz", wire.Delete, each, byQuiz, l.DeleteQuiz),
		one("listLectureQuizResponses", wire.Get, each+"/responses", byQuiz, f.quizResponses, quizAnswers),
	}
}

func byQuiz(in *wire.Input) learning.InLecture {
	return learning.InLecture{Lecture: byLecture(in), ID: wire.PathID[lyceum.AttachmentID](in, "quiz_id")}
}

func bindQuizzes(in *wire.Input) learning.QuizzesOf {
	return learning.QuizzesOf{Lecture: byLecture(in), Order: bindOrder(in, "created_at", "updated_at")}
}

func quizReference(a learning.AttachmentDetail) gen.QuizReference {
	return gen.QuizReference{
		ID: int32(a.ID), Graded: a.Quiz.IsGraded(), InstantFeedback: a.Quiz.GivesFeedback(),
		Href:      fmt.Sprintf("%s/quizzes/%d", lectureHref(a.Course, a.Lecture), a.ID),
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt),
	}
}

func quiz(a learning.AttachmentDetail) gen.Quiz {
	shown := gen.Quiz{
		ID: int32(a.ID), Graded: a.Quiz.IsGraded(), InstantFeedback: a.Quiz.GivesFeedback(),
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt),
	}
	shown.Questions = []gen.Question{}
	if a.Quiz != nil {
		for i := range a.Quiz.Questions {
			shown.Questions = append(shown.Questions, question(&a.Quiz.Questions[i]))
		}
	}
	return shown
}

func question(q *lyceum.Question) gen.Question {
	shown := gen.Question{
		QuestionKey: q.Key, Question: q.Question, QuestionType: questionType(q.QuestionType),
		Answers: []gen.QuestionChoice{}, CorrectAnswerID: append([]string{}, q.Correct...),
		MatchingPromptHeading: unlessEmpty(q.PromptHeading), MatchingMatchHeading: unlessEmpty(q.MatchHeading),
	}
	for i := range q.Answers {
		a := &q.Answers[i]
		shown.Answers = append(shown.Answers, gen.QuestionChoice{ID: a.ID, Text: a.Text, Match: unlessEmpty(a.Match)})
	}
	if len(q.Prompts) > 0 {
		prompts := make([]gen.QuestionPrompt, len(q.Prompts))
		for i := range q.Prompts {
			prompts[i] = gen.QuestionPrompt(q.Prompts[i])
		}
		shown.MatchingPrompts = &prompts
	}
	if q.Feedback != nil {
		feedback := gen.QuestionFeedback(*q.Feedback)
		shown.Feedback = &feedback
	}
	return shown
}

// questionType returns a type of the contract; unknown types are rendered as multiple
// choice.
func questionType(word string) gen.QuestionQuestionType {
	switch word {
	case lyceum.SingleQuestion, lyceum.FillBlankQuestion, lyceum.MatchingQuestion:
		return gen.QuestionQuestionType(word)
	}
	return gen.QuestionQuestionType(lyceum.MultipleQuestion)
}

// unlessEmpty returns nil for an empty string.
func unlessEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// quizWithResponses is a quiz with the responses to it.
type quizWithResponses struct {
	learning.QuizAnswers

	of learning.InLecture
}

func (f *Face) quizResponses(ctx context.Context, by lyceum.By, q learning.InLecture) (quizWithResponses, error) {
	all, err := f.learning.QuizResponses(ctx, by, q.Lecture.Course, q.Lecture.ID, q.ID)
	return quizWithResponses{all, q}, err
}

func quizAnswers(all quizWithResponses) gen.QuizAnswers {
	course := all.of.Lecture.Course
	shown := gen.QuizAnswers{
		Course: gen.NamedReference{
			ID: int32(course), Name: all.Lecture.CourseName, Href: fmt.Sprintf("/v2/products/courses/%d", course),
		},
		Lecture: gen.NamedReference{
			ID: int32(all.Lecture.ID), Name: all.Lecture.Name.Value, Href: lectureHref(course, all.Lecture.ID),
		},
		Quiz: gen.QuizSummary{
			ID: int32(all.of.ID), Graded: all.Quiz.IsGraded(), InstantFeedback: all.Quiz.GivesFeedback(),
		},
		Responses: make([]gen.QuizAnswer, len(all.Responses)),
	}
	for i := range all.Responses {
		r := &all.Responses[i]
		shown.Responses[i] = gen.QuizAnswer{
			SubmittedAt: wire.OptMoment(r.SubmittedAt), PercentCorrect: wire.Optional(r.PercentCorrect),
		}
		if r.UserEmail != "" {
			shown.Responses[i].User = &gen.QuizUser{
				ID: int32(r.User), Name: r.UserName.Value, Email: r.UserEmail, Href: fmt.Sprintf("/v2/users/%d", r.User),
			}
		}
	}
	return shown
}
