package apiv2

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// perResponses is the default page size.
const perResponses = 20

func (f *Face) userQuizResponses() []wire.Operation {
	return []wire.Operation{heavy(many(
		"listUserQuizResponses", usersPath+"/{user_id}/quiz-responses", perResponses, bindUserResponses,
		f.listUserResponses, userQuizResponse,
	))}
}

// responseQuery holds the parameters of the list of a user's responses.
type responseQuery struct {
	lyceum.QuizResponseFilter

	answers bool // include the answers
}

func bindUserResponses(in *wire.Input) responseQuery {
	keys := map[string]lyceum.QuizResponseKey{
		"submitted_at": lyceum.ResponseBySubmitted, "updated_at": lyceum.ResponseByUpdated,
		"created_at": lyceum.ResponseByCreated,
	}
	key := wire.OneOf(in.Query("sort_by"), "submitted_at", "updated_at", "created_at")
	return responseQuery{lyceum.QuizResponseFilter{
		User:      lyceum.Some(oneUser(in)),
		Lecture:   wire.ID[lyceum.LectureID](in.Query("lecture_id")),
		Course:    wire.ID[lyceum.CourseID](in.Query("course_id")),
		Submitted: wire.Period(in.Query("submitted_after"), in.Query("submitted_before")),
		Order: lyceum.Some(lyceum.QuizResponseOrder{
			By: keys[key.Value], Descending: wire.OneOf(in.Query("sort_direction"), "asc", "desc").Else("desc") == "desc",
		}),
	}, in.Query("include_answers").Bool().Value}
}

func (f *Face) listUserResponses(
	ctx context.Context, by lyceum.By, q responseQuery, p lyceum.Page,
) (lyceum.Listing[learning.PlacedResponse], error) {
	l, err := f.learning.UserResponses(ctx, by, q.QuizResponseFilter, p)
	for i := range l.Rows {
		if !q.answers {
			l.Rows[i].Answers = lyceum.None[lyceum.GivenAnswers]()
		}
	}
	return l, err
}

func userQuizResponse(r learning.PlacedResponse) gen.UserQuizResponse {
	shown := gen.UserQuizResponse{
		ResponseID: int32(r.ID), Quiz: gen.ResponseQuiz{ID: int32(r.Quiz.Value)},
		Graded: r.PercentCorrect.Present, SubmittedAt: wire.OptMoment(r.SubmittedAt),
		CreatedAt: wire.Moment(r.CreatedAt), UpdatedAt: wire.Moment(r.UpdatedAt),
		Grade: responseGrade(&r.QuizResponse, r.Counted), Answers: wire.Answers(r.Answers),
	}
	if !r.Quiz.Present {
		return shown
	}
	course, lecture := r.Course.Value, r.Lecture.Value
	shown.Course = &gen.ResponseCourse{
		ID: int32(course), Name: r.CourseName, Href: fmt.Sprintf("/v2/products/courses/%d", course),
	}
	shown.Lecture = &gen.ResponseLecture{ID: int32(lecture), Name: r.LectureName}
	if href := lectureHref(course, lecture); r.LectureShown {
		shown.Lecture.Href = &href
	}
	if href := fmt.Sprintf("%s/quizzes/%d", lectureHref(course, lecture), r.Quiz.Value); r.QuizShown {
		shown.Quiz.Href = &href
	}
	return shown
}

func responseGrade(r *lyceum.QuizResponse, g lyceum.Grade) gen.ResponseGrade {
	return gen.ResponseGrade{
		Correct: g.Correct, PercentCorrect: r.PercentCorrect.Value, Answered: g.Answered,
		PercentAnswered: g.PercentAnswered(), Remaining: g.Total - g.Answered, Total: g.Total,
	}
}
