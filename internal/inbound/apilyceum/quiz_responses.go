package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) quizResponses() []wire.Operation {
	const all = "/lyceum/v1/quizzes/{quiz_id}/responses"
	return []wire.Operation{
		one("createQuizResponse", wire.Create, all, bindAnswer, f.Learning.Answer, "quiz_response", quizResponse).Long(),
	}
}

func bindAnswer(in *wire.Input) learning.Answer {
	return learning.Answer{
		Quiz:    wire.PathID[lyceum.AttachmentID](in, "quiz_id"),
		User:    wire.ID[lyceum.UserID](in.Body("user_id").Required()).Value,
		Answers: wire.Sequence[[]string](in.Body("answers").Required(), "lists of strings"),
	}
}

func quizResponse(r lyceum.AttachedResponse) gen.QuizResponse {
	shown := gen.QuizResponse{
		ID: int32(r.ID), QuizID: wire.Number(r.Attachment), UserID: int32(r.User),
		SubmittedAt: wire.OptMoment(r.SubmittedAt), PercentCorrect: wire.Optional(r.PercentCorrect),
		CreatedAt: wire.Moment(r.CreatedAt), UpdatedAt: wire.Moment(r.UpdatedAt), Answers: wire.Answers(r.Answers),
	}
	if g := r.Counts.Value; r.Counts.Present {
		shown.Correct, shown.Answered, shown.Total = &g.Correct, &g.Answered, &g.Total
	}
	return shown
}
