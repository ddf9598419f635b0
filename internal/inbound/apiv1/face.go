package apiv1

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Rules are what the face calls.
type Rules struct {
	Sales    *sales.Service
	Learning *learning.Service
	People   *people.Service
	Events   *events.Service
	Hash     people.Hasher
}

// Face answers the requests of contract/v1.yaml.
type Face struct {
	sales    *sales.Service
	learning *learning.Service
	people   *people.Service
	events   *events.Service
	hash     people.Hasher
	tokens   []wire.Operation
}

var _ wire.Face = (*Face)(nil)

// New makes the face over the rules it calls. Tokens are the operations by
// which apps get access tokens; they are the same in every version.
func New(r Rules, tokens []wire.Operation) *Face {
	return &Face{sales: r.Sales, learning: r.Learning, people: r.People, events: r.Events, hash: r.Hash, tokens: tokens}
}

// Name implements wire.Face.
func (f *Face) Name() string { return "v1" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	const course, mine = "/v1/courses/{course_id}", "/v1/current_user/courses/{course_id}"
	const lecture = "/lectures/{lecture_id}"
	return append([]wire.Operation{
		read("ListTransactions", "/v1/transactions", wire.Asked(bindListTransactions, f.ListTransactions)),
		read("ListCourses", "/v1/courses", wire.With(bindListCourses, f.ListCourses)),
		read("ShowCourse", course, wire.With(bindCourse, f.ShowCourse)),
		read("ShowCourseEnrollments", course+"/enrollments", wire.With(bindListCourseEnrollments, f.ListCourseEnrollments)),
		read("CourseProgress", course+"/progress", wire.With(bindShowCourseProgress, f.ShowCourseProgress)),
		read("ShowLecture", course+lecture, wire.With(bindLecture, f.ShowLecture)),
		write("MarkLectureComplete", http.MethodPost, course+lecture+"/mark_complete", http.StatusNoContent, wire.With(bindMarkComplete, f.MarkLectureComplete)),
		read("ShowVideo", course+lecture+"/videos/{video_id}", wire.With(bindVideo, f.ShowVideo)),
		read("ListQuizzes", course+lecture+"/quizzes", wire.With(bindLecture, f.ListQuizzes)),
		read("ShowQuiz", course+lecture+"/quizzes/{quiz_id}", wire.With(bindQuiz, f.ShowQuiz)),
		read("ShowQuizResponses", course+lecture+"/quizzes/{quiz_id}/responses", wire.With(bindQuiz, f.ListQuizResponses)),
		write("EnrollUser", http.MethodPost, "/v1/enroll", http.StatusNoContent, wire.With(bindEnrollment, f.CreateEnrollment)),
		write("UnenrollUser", http.MethodPost, "/v1/unenroll", http.StatusNoContent, wire.With(bindEnrollment, f.DeleteEnrollment)),
		read("ListUsers", "/v1/users", wire.With(bindListUsers, f.ListUsers)),
		write("CreateUser", http.MethodPost, "/v1/users", http.StatusCreated, wire.With(bindCreateUser, f.CreateUser)),
		read("ShowUser", "/v1/users/{user_id}", wire.With(bindUser, f.ShowUser)),
		write("UpdateUser", http.MethodPatch, "/v1/users/{user_id}", http.StatusOK, wire.With(bindUpdateUser, f.UpdateUser)),
		read("ListPricingPlans", "/v1/pricing_plans", wire.With(bindListPricingPlans, f.ListPricingPlans)),
		read("ShowPricingPlans", "/v1/pricing_plans/{pricing_plan_id}", wire.With(bindPricingPlan, f.ShowPricingPlan)),
		read("ListWebhooks", "/v1/webhooks", wire.With(bindNothing, f.ListWebhooks)),
		read("ShowWebhookEvents", "/v1/webhooks/{webhook_id}/events", wire.With(bindListWebhookEvents, f.ListWebhookEvents)),

		learner("getCurrentUser", http.MethodGet, "/v1/current_user/me", wire.Mine(f.GetCurrentUser)),
		learner("listCurrentUserCourses", http.MethodGet, "/v1/current_user/courses", wire.With(bindListMyCourses, f.ListCourses)),
		learner("showCurrentUserCourse", http.MethodGet, mine, wire.With(bindCourse, f.ShowCourse)),
		learner("showCurrentUserCourseProgress", http.MethodGet, mine+"/progress", wire.With(bindMyCourseProgress, f.ShowCourseProgress)),
		learner("showCurrentUserLecture", http.MethodGet, mine+lecture, wire.With(bindLecture, f.ShowLecture)),
		learner("markCurrentUserLectureComplete", http.MethodPost, mine+lecture+"/mark_complete", wire.With(bindLecture, f.MarkLectureComplete)),
		learner("showCurrentUserVideo", http.MethodGet, mine+lecture+"/videos/{video_id}", wire.With(bindVideo, f.ShowVideo)),
	}, f.tokens...)
}

// read and write are operations that a key of the school asks for.
func read(id, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{ID: id, Method: http.MethodGet, Path: path, Needs: lyceum.Read, Serve: serve}
}

func write(id, method, path string, success int, serve wire.Endpoint) wire.Operation {
	return wire.Operation{ID: id, Method: method, Path: path, Needs: lyceum.Write, Serve: serve, Success: success}
}

// learner is an operation that an app asks for with an access token. What it
// writes it answers without a body.
func learner(id, method, path string, serve wire.Endpoint) wire.Operation {
	op := wire.Operation{
		ID: id, Method: method, Path: path, Credential: wire.Bearer, Version: lyceum.V1, Serve: serve,
		Fail: wire.LearnerFailure(access.ScopesFor(lyceum.V1, id).All()),
	}
	if method != http.MethodGet {
		op.Success = http.StatusNoContent
	}
	return op
}

// Failure implements wire.Face: a message, or an array of them when several
// things are wrong. Only an API key that is missing or wrong is answered with
// the request's id, as by the gateway that programs know.
func (f *Face) Failure(e *lyceum.Error, requestID string) (int, wire.Body) {
	sentences := e.Sentences()
	if e.Kind == lyceum.Unauthenticated {
		return wire.Status(e.Kind), wire.JSON{Value: gen.CredentialError{Message: sentences[0], RequestID: requestID}}
	}
	if len(sentences) == 1 {
		return wire.Status(e.Kind), wire.JSON{Value: gen.Error{Message: sentences[0]}}
	}
	return wire.Status(e.Kind), wire.JSON{Value: gen.Error{Message: sentences}}
}
