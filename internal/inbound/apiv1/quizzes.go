package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) quizzes() []wire.Operation {
	const all, each = lecturePath + "/quizzes", lecturePath + "/quizzes/{quiz_id}"
	return []wire.Operation{
		one("ListQuizzes", wire.Get, all, bindLecture, f.showLecture, "quiz_ids", quizIDs),
		one("ShowQuiz", wire.Get, each, bindQuiz, f.showQuiz, "quiz", quiz),
		one("ShowQuizResponses", wire.Get, each+"/responses", bindQuiz, f.listResponses, "quiz_responses", responses),
	}
}

func bindQuiz(in *wire.Input) inLecture {
	q := bindLecture(in)
	q.attachment = wire.PathID[lyceum.AttachmentID](in, "quiz_id")
	return q
}

func quizIDs(l learning.LectureDetail) []int32 {
	ids := []int32{}
	for i := range l.Attachments {
		if l.Attachments[i].Kind == lyceum.QuizAttachment {
			ids = append(ids, int32(l.Attachments[i].ID))
		}
	}
	return ids
}

func (f *Face) showQuiz(ctx context.Context, by lyceum.By, q inLecture) (lyceum.Attachment, error) {
	_, a, err := f.Learning.Attachment(ctx, by, q.course, q.lecture, q.attachment, lyceum.QuizAttachment)
	return a, err
}

// quizType is the type of every quiz.
const quizType = "Quiz"

func quiz(a lyceum.Attachment) gen.QuizAttachment {
	shown := gen.QuizAttachment{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: "quiz", URL: wire.Optional(a.URL),
		Text: wire.Optional(a.Text), Position: a.Position.Value,
		Quiz: gen.Quiz{Type: quizType, Questions: []gen.QuizQuestion{}},
	}
	if a.Quiz != nil {
		shown.Quiz.ID, shown.Quiz.Questions = int32(a.Quiz.ID), questions(a.Quiz, withAnswers)
	}
	return shown
}

// answers says whether the correct answers of a quiz are rendered.
type answers uint8

const (
	withoutAnswers answers = iota
	withAnswers
)

func questions(quiz *lyceum.Quiz, shown answers) []gen.QuizQuestion {
	list := make([]gen.QuizQuestion, len(quiz.Questions))
	for i := range quiz.Questions {
		q := &quiz.Questions[i]
		if shown == withoutAnswers {
			unanswered := q.Unanswered()
			q = &unanswered
		}
		list[i] = gen.QuizQuestion(q.Plain())
	}
	return list
}

// quizResponses are the responses to a quiz, with its course and lecture.
type quizResponses struct {
	learning.QuizAnswers

	course lyceum.CourseID
}

func (f *Face) listResponses(ctx context.Context, by lyceum.By, q inLecture) (quizResponses, error) {
	all, err := f.Learning.QuizResponses(ctx, by, q.course, q.lecture, q.attachment)
	return quizResponses{all, q.course}, err
}

func responses(all quizResponses) gen.QuizResponses {
	list := gen.QuizResponses{
		CourseID: int32(all.course), CourseName: all.Lecture.CourseName,
		LectureID: int32(all.Lecture.ID), LectureName: all.Lecture.Name.Value,
		Graded:    all.Quiz.IsGraded(),
		Responses: []gen.QuizResponse{},
	}
	for _, r := range all.Responses {
		email := lyceum.Opt[string]{Value: r.UserEmail, Present: r.UserEmail != ""}
		list.Responses = append(list.Responses, gen.QuizResponse{
			StudentID: int32(r.User), StudentName: wire.Optional(r.UserName), StudentEmail: wire.Optional(email),
			SubmittedAt: wire.OptMoment(r.SubmittedAt), PercentCorrect: wire.Optional(r.PercentCorrect),
		})
	}
	return list
}
