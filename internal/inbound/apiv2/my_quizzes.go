package apiv2

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) myQuizzes() []wire.Operation {
	const all, each = myLecturePath + "/quizzes", myLecturePath + "/quizzes/{quiz_id}"
	l := f.learning
	return []wire.Operation{
		many("listCurrentUserQuizzes", all, perPage, bindQuizzes, l.Quizzes, myQuizReference),
		one("showCurrentUserQuiz", wire.Get, each, byQuiz, l.OneQuiz, myQuiz),
		one("showCurrentUserQuizResponse", wire.Get, each+"/response", byQuiz, l.OwnResponse, myResponse),
		one("putCurrentUserQuizResponse", wire.Put, each+"/response", bindSubmission, l.Submit, myResponse).Long(),
	}
}

func bindSubmission(in *wire.Input) learning.Submission {
	q := learning.Submission{Quiz: byQuiz(in), Answers: map[string]lyceum.QuestionAnswer{}}
	f := in.Body("answers").Required()
	members := f.Members()
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if wire.RepeatsNames(members[key]) {
			f.Refuse("must be an object without repeated names")
			break
		}
		var answer lyceum.QuestionAnswer
		if err := json.Unmarshal(members[key], &answer); err != nil {
			f.Refuse("must have lists of strings, or for matching objects of strings")
			break
		}
		q.Answers[key] = answer
	}
	return q
}

func myQuizHref(a *learning.AttachmentDetail) string {
	return fmt.Sprintf("/v2/current_user/courses/%d/lectures/%d/quizzes/%d", a.Course, a.Lecture, a.ID)
}

func myQuizReference(a learning.AttachmentDetail) gen.QuizReference {
	shown := quizReference(a)
	shown.Href = myQuizHref(&a)
	return shown
}

// myQuiz renders a quiz for a learner, without the correct answers.
func myQuiz(a learning.AttachmentDetail) gen.LearnerQuiz {
	shown := gen.LearnerQuiz{
		ID: int32(a.ID), Graded: a.Quiz.IsGraded(), InstantFeedback: a.Quiz.GivesFeedback(),
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt), Questions: []gen.LearnerQuestion{},
	}
	if a.Quiz == nil {
		return shown
	}
	for i := range a.Quiz.Questions {
		unanswered := a.Quiz.Questions[i].Unanswered()
		shown.Questions = append(shown.Questions, myQuestion(&unanswered))
	}
	return shown
}

func myQuestion(q *lyceum.Question) gen.LearnerQuestion {
	shown := gen.LearnerQuestion{
		QuestionKey: q.Key, Question: q.Question, Graded: q.Graded,
		QuestionType: gen.LearnerQuestionQuestionType(questionType(q.QuestionType)),
		Answers:      []gen.LearnerChoice{}, MatchingPrompts: []gen.QuestionPrompt{},
		MatchingPromptHeading: filled(q.PromptHeading), MatchingMatchHeading: filled(q.MatchHeading),
	}
	for _, a := range q.Answers {
		shown.Answers = append(shown.Answers, gen.LearnerChoice{ID: a.ID, Text: a.Text})
	}
	for _, p := range q.Prompts {
		shown.MatchingPrompts = append(shown.MatchingPrompts, gen.QuestionPrompt(p))
	}
	return shown
}

func myResponse(r learning.OwnResponse) gen.LearnerResponse {
	shown := gen.LearnerResponse{
		ResponseID: int32(r.ID), Quiz: gen.Reference{ID: int32(r.Quiz.ID), Href: myQuizHref(&r.Quiz)},
		Graded: r.PercentCorrect.Present, SubmittedAt: wire.OptMoment(r.SubmittedAt),
		CreatedAt: wire.Moment(r.CreatedAt), UpdatedAt: wire.Moment(r.UpdatedAt),
		Grade: responseGrade(&r.QuizResponse, r.Counted), Answers: wire.Answers(r.Answers),
		RetakesLeft: wire.Number(r.Retakes),
	}
	if r.Results == nil {
		return shown
	}
	results := []gen.AnswerResult{}
	for _, result := range r.Results {
		results = append(results, gen.AnswerResult{
			QuestionKey: result.Key, Correct: wire.Optional(result.Right), Feedback: wire.Optional(result.Feedback),
		})
	}
	shown.Results = &results
	return shown
}
