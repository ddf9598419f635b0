package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/contract"
)

// operation is what the contract says of one. A parameter is a line: its
// name, whether it stands in the path or the query, its type, then required,
// the values it may have, its range and the default. Alternatives of what a request must
// show are parted by "or", scopes that are all needed stand side by side.
type operation struct {
	id       string
	asks     string
	params   string
	body     string // the schema of what is sent
	answers  string // the status and the schema of a success
	refusals string
}

// What is refused, by kind of operation: an operation that reads also tells
// that nothing has changed, one that takes a body that it is too large.
const (
	readRefusals   = "304 400 401 403 404 405 429 500 503"
	writeRefusals  = "400 401 403 404 405 413 429 500 503"
	tokenRefusals  = "400 401 405 413 429 500 503"
	meRefusals     = "304 400 401 403 405 429 500 503" // of a learner's list
	orderRefusals  = "400 401 403 404 405 409 429 500 503"
	changeRefusals = "400 401 403 404 405 409 413 429 500 503"
	onceRefusals   = "400 401 403 404 405 409 413 422 429 500 503" // of what happens once for a key
)

var v1Operations = map[string]operation{
	"GET /v1/courses": {"ListCourses", "apiKey", `
		name query string
		is_published query boolean
		author_bio_id query int32
		created_at query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 CourseList", readRefusals},
	"GET /v1/courses/{course_id}": {"ShowCourse", "apiKey", `
		course_id path int32 required from 1`, "", "200 OneCourse", readRefusals},
	"GET /v1/courses/{course_id}/enrollments": {"ShowCourseEnrollments", "apiKey", `
		course_id path int32 required from 1
		enrolled_in_after query date-time
		enrolled_in_before query date-time
		sort_direction query string asc desc default desc
		page query int32 from 1 default 1
		per query int32 from 1 default 10000`, "", "200 EnrollmentList", readRefusals},
	"GET /v1/courses/{course_id}/progress": {"CourseProgress", "apiKey", `
		course_id path int32 required from 1
		user_id query int32 required from 1
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 OneCourseProgress", readRefusals},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}": {"ShowLecture", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneLecture", readRefusals},
	"POST /v1/courses/{course_id}/lectures/{lecture_id}/mark_complete": {"MarkLectureComplete", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "LectureCompletion", "204", "400 401 403 404 405 409 413 429 500 503"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/videos/{video_id}": {"ShowVideo", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		video_id path int32 required from 1
		user_id query int32`, "", "200 OneVideo", readRefusals},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes": {"ListQuizzes", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 QuizIDList", readRefusals},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes/{quiz_id}": {"ShowQuiz", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		quiz_id path int32 required from 1`, "", "200 OneQuiz", readRefusals},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes/{quiz_id}/responses": {"ShowQuizResponses", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		quiz_id path int32 required from 1`, "", "200 QuizResponseList", readRefusals},
	"POST /v1/enroll":   {"EnrollUser", "apiKey", "", "EnrollmentRequest", "204", writeRefusals},
	"POST /v1/unenroll": {"UnenrollUser", "apiKey", "", "EnrollmentRequest", "204", writeRefusals},
	"GET /v1/users": {"ListUsers", "apiKey", `
		email query string
		page query int32 from 1 default 1
		per query int32 from 1 default 20
		search_after query int32 from 0`, "", "200 UserList", readRefusals},
	"POST /v1/users": {"CreateUser", "apiKey", "", "NewUser", "201 UserDetail", writeRefusals},
	"GET /v1/users/{user_id}": {"ShowUser", "apiKey", `
		user_id path int32 required from 1`, "", "200 UserDetail", readRefusals},
	"PATCH /v1/users/{user_id}": {"UpdateUser", "apiKey", `
		user_id path int32 required from 1`, "UserChange", "200 UserDetail", writeRefusals},
	"GET /v1/pricing_plans": {"ListPricingPlans", "apiKey", `
		page query int32 from 1 default 1
		per query int32 from 1 default 5`, "", "200 PricingPlanList", readRefusals},
	"GET /v1/pricing_plans/{pricing_plan_id}": {"ShowPricingPlans", "apiKey", `
		pricing_plan_id path int32 required from 1`, "", "200 OnePricingPlan", readRefusals},
	"GET /v1/transactions": {"ListTransactions", "apiKey", `
		user_id query int32
		affiliate_id query int32
		course_id query int32
		pricing_plan_id query int32
		is_fully_refunded query boolean
		is_chargeback query boolean
		start query date-time
		end query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20
		sort_direction query string asc desc default desc`, "", "200 TransactionList", readRefusals},
	"GET /v1/webhooks": {"ListWebhooks", "apiKey", "", "", "200 WebhookList", readRefusals},
	"GET /v1/webhooks/{webhook_id}/events": {"ShowWebhookEvents", "apiKey", `
		webhook_id path int32 required from 1
		response_http_status_gte query int32
		response_http_status_lte query int32
		created_before query date-time
		created_after query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 WebhookEventList", readRefusals},

	"GET /v1/current_user/me": {"getCurrentUser", "oauth2 name:read or oauth2 email:read", "", "", "200 CurrentUser", meRefusals},
	"GET /v1/current_user/courses": {"listCurrentUserCourses", "oauth2 courses:read", `
		name query string
		is_published query boolean
		created_at query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 CourseList", meRefusals},
	"GET /v1/current_user/courses/{course_id}": {"showCurrentUserCourse", "oauth2 courses:read", `
		course_id path int32 required from 1`, "", "200 OneCourse", readRefusals},
	"GET /v1/current_user/courses/{course_id}/progress": {"showCurrentUserCourseProgress", "oauth2 courses:read", `
		course_id path int32 required from 1
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 OneCourseProgress", readRefusals},
	"GET /v1/current_user/courses/{course_id}/lectures/{lecture_id}": {"showCurrentUserLecture", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneLecture", readRefusals},
	"POST /v1/current_user/courses/{course_id}/lectures/{lecture_id}/mark_complete": {
		"markCurrentUserLectureComplete", "oauth2 courses:read courses:update", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "204", orderRefusals,
	},
	"GET /v1/current_user/courses/{course_id}/lectures/{lecture_id}/videos/{video_id}": {
		"showCurrentUserVideo", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		video_id path int32 required from 1`, "", "200 OneVideo", readRefusals,
	},

	"POST /v1/current_user/oauth2/token":      {"createToken", "client or nothing", "", "TokenRequest", "200 TokenResponse", tokenRefusals},
	"POST /v1/current_user/oauth2/revoke":     {"revokeToken", "client or nothing", "", "OneToken", "200 Nothing", tokenRefusals},
	"POST /v1/current_user/oauth2/introspect": {"introspectToken", "client or nothing", "", "OneToken", "200 Introspection", tokenRefusals},
}

var v2Operations = map[string]operation{
	"GET /v2/products/courses": {"listProductCourses", "apiKey", `
		is_published query boolean
		is_listed query boolean
		author_bio_id query int32
		created_after query date-time
		created_before query date-time
		name query string
		search query string
		sort_by query string name created_at updated_at default created_at
		sort_direction query string asc desc default desc
		page query int32 from 1 default 1
		per_page query int32 from 1 to 100 default 25`, "", "200 CourseList", readRefusals},

	"GET /v2/current_user/me": {"getCurrentUser", "oauth2 profile:read", "", "", "200 CurrentUser", meRefusals},
	"GET /v2/current_user/courses": {"listCurrentUserCourses", "oauth2 courses:read", `
		name query string
		created_after query date-time
		created_before query date-time
		page query int32 from 1 default 1
		per_page query int32 from 1 to 100 default 25`, "", "200 CourseList", meRefusals},
	"GET /v2/current_user/courses/{course_id}": {"showCurrentUserCourse", "oauth2 courses:read", `
		course_id path int32 required from 1`, "", "200 OneCourse", readRefusals},
	"GET /v2/current_user/courses/{course_id}/progress": {"showCurrentUserCourseProgress", "oauth2 courses:read", `
		course_id path int32 required from 1`, "", "200 OneCourseProgress", readRefusals},
	"GET /v2/current_user/courses/{course_id}/lectures/{lecture_id}": {"showCurrentUserLecture", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneLecture", readRefusals},
	"GET /v2/current_user/courses/{course_id}/lectures/{lecture_id}/completion": {
		"showCurrentUserCompletion", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneCompletion", readRefusals,
	},
	"PUT /v2/current_user/courses/{course_id}/lectures/{lecture_id}/completion": {
		"putCurrentUserCompletion", "oauth2 courses:write", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneCompletion", orderRefusals,
	},

	"POST /v2/current_user/oauth2/token":      {"createToken", "client or nothing", "", "TokenRequest", "200 TokenResponse", tokenRefusals},
	"POST /v2/current_user/oauth2/revoke":     {"revokeToken", "client or nothing", "", "OneToken", "200 Nothing", tokenRefusals},
	"POST /v2/current_user/oauth2/introspect": {"introspectToken", "client or nothing", "", "OneToken", "200 Introspection", tokenRefusals},
}

func TestOperationsAreTheContracts(t *testing.T) {
	tables := map[string]map[string]operation{"v1": v1Operations, "v2": v2Operations, "lyceum": lyceumOperations}
	for _, d := range contract.All() {
		t.Run(d.Name, func(t *testing.T) {
			want := map[string][]string{}
			for place, op := range tables[d.Name] {
				want[place] = []string{op.id, op.asks, strings.Join(rows(op.params), "\n"), op.body, op.answers, op.refusals}
			}
			got := map[string][]string{}
			document := load(t, d.YAML)
			eachOperation(document, func(place string, op *openapi3.Operation) {
				answers, refusals := statuses(op)
				got[place] = []string{op.OperationID, asks(document, op), parameters(op), sends(op), answers, refusals}
			})
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("operations differ (-contract +document):\n%s", diff)
			}
		})
	}
}

// TestEverythingHasAnExample: parameters, bodies, answers and refusals.
func TestEverythingHasAnExample(t *testing.T) {
	for _, d := range contract.All() {
		eachOperation(load(t, d.YAML), func(place string, op *openapi3.Operation) {
			for _, ref := range op.Parameters {
				if ref.Value.Example == nil || ref.Value.Description == "" {
					t.Errorf("%s: the parameter %s has no example or no description", place, ref.Value.Name)
				}
			}
			if op.RequestBody != nil && !hasExample(op.RequestBody.Value.Content) {
				t.Errorf("%s: the body has no example", place)
			}
			for status, ref := range op.Responses.Map() {
				if len(ref.Value.Content) > 0 && !hasExample(ref.Value.Content) {
					t.Errorf("%s: %s has no example", place, status)
				}
			}
		})
	}
}

func hasExample(content openapi3.Content) bool {
	body := content.Get("application/json")
	return body != nil && (body.Example != nil || len(body.Examples) > 0)
}

// TestAnswersHaveTheirHeaders: every answer tells the request's id and the
// rate limit; some have more to say.
func TestAnswersHaveTheirHeaders(t *testing.T) {
	always := []string{
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
		"X-RateLimit-Limit-Minute", "X-RateLimit-Remaining-Minute", "X-Request-Id",
	}
	for _, d := range contract.All() {
		eachOperation(load(t, d.YAML), func(place string, op *openapi3.Operation) {
			for status, ref := range op.Responses.Map() {
				want := slices.Clone(always)
				learner := op.Security != nil && (*op.Security)[0]["oauth2"] != nil
				switch {
				case status == "304", status == "200" && strings.HasPrefix(place, "GET "):
					want = append(want, "ETag")
				case status == "405":
					want = append(want, "Allow")
				case status == "429", status == "503":
					want = append(want, "Retry-After")
				case status == "401" && (learner || strings.Contains(place, "/oauth2/")), status == "403" && learner:
					want = append(want, "WWW-Authenticate")
				}
				slices.Sort(want)
				if got := slices.Sorted(maps.Keys(ref.Value.Headers)); !slices.Equal(got, want) {
					t.Errorf("%s: %s has the headers %v, want %v", place, status, got, want)
				}
			}
		})
	}
}

func eachOperation(document *openapi3.T, visit func(place string, op *openapi3.Operation)) {
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			visit(method+" "+path, op)
		}
	}
}

// asks says what a request must show, in the words of the tables.
func asks(document *openapi3.T, op *openapi3.Operation) string {
	security := document.Security
	if op.Security != nil {
		security = *op.Security
	}
	var alternatives []string
	for _, alternative := range security {
		words := []string{}
		for scheme, scopes := range alternative {
			words = append(append(words, scheme), scopes...)
		}
		if len(words) == 0 {
			words = []string{"nothing"}
		}
		alternatives = append(alternatives, strings.Join(words, " "))
	}
	return strings.Join(alternatives, " or ")
}

func parameters(op *openapi3.Operation) string {
	var lines []string
	for _, ref := range op.Parameters {
		p := ref.Value
		words := []string{p.Name, p.In, kind(p.Schema)}
		if p.Required {
			words = append(words, "required")
		}
		words = append(words, values(p.Schema.Value)...)
		if p.Schema.Value.Min != nil {
			words = append(words, "from", fmt.Sprint(*p.Schema.Value.Min))
		}
		if p.Schema.Value.Max != nil {
			words = append(words, "to", fmt.Sprint(*p.Schema.Value.Max))
		}
		if p.Schema.Value.Default != nil {
			words = append(words, "default", fmt.Sprint(p.Schema.Value.Default))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

func sends(op *openapi3.Operation) string {
	if op.RequestBody == nil {
		return ""
	}
	name := kind(op.RequestBody.Value.Content.Get("application/json").Schema)
	if !op.RequestBody.Value.Required {
		return name + " or nothing"
	}
	return name
}

// statuses gives what succeeds, with the schema of its body, and what does not.
func statuses(op *openapi3.Operation) (answers, refusals string) {
	var good, bad []string
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if !strings.HasPrefix(status, "2") {
			bad = append(bad, status)
			continue
		}
		good = append(good, status)
		if body := op.Responses.Value(status).Value.Content.Get("application/json"); body != nil {
			good = append(good, kind(body.Schema))
		}
	}
	return strings.Join(good, " "), strings.Join(bad, " ")
}
