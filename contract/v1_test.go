package contract_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/contract"
)

// Version 1 is defined elsewhere, so its definition is repeated here, in the form of the
// contract's tables. The rest is checked by its properties; see properties_test.go.

// operation is the contract's definition of an operation. A parameter is a line: its name,
// whether it is in the path or the query, its type, then required, its allowed values, its
// range and its default. Alternative credentials are separated by "or"; scopes that are
// all required are next to each other.
type operation struct {
	id      string
	asks    string
	params  string
	body    string // schema of the request
	answers string // status and schema of a success
}

var v1Operations = map[string]operation{
	"GET /v1/courses": {"ListCourses", "apiKey", `
		name query string
		is_published query boolean
		author_bio_id query int32
		created_at query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 CourseList"},
	"GET /v1/courses/{course_id}": {"ShowCourse", "apiKey", `
		course_id path int32 required from 1`, "", "200 OneCourse"},
	"GET /v1/courses/{course_id}/enrollments": {"ShowCourseEnrollments", "apiKey", `
		course_id path int32 required from 1
		enrolled_in_after query date-time
		enrolled_in_before query date-time
		sort_direction query string asc desc default desc
		page query int32 from 1 default 1
		per query int32 from 1 default 10000`, "", "200 EnrollmentList"},
	"GET /v1/courses/{course_id}/progress": {"CourseProgress", "apiKey", `
		course_id path int32 required from 1
		user_id query int32 required from 1
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 OneCourseProgress"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}": {"ShowLecture", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneLecture"},
	"POST /v1/courses/{course_id}/lectures/{lecture_id}/mark_complete": {"MarkLectureComplete", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "LectureCompletion", "204"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/videos/{video_id}": {"ShowVideo", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		video_id path int32 required from 1
		user_id query int32`, "", "200 OneVideo"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes": {"ListQuizzes", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 QuizIDList"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes/{quiz_id}": {"ShowQuiz", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		quiz_id path int32 required from 1`, "", "200 OneQuiz"},
	"GET /v1/courses/{course_id}/lectures/{lecture_id}/quizzes/{quiz_id}/responses": {"ShowQuizResponses", "apiKey", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		quiz_id path int32 required from 1`, "", "200 QuizResponseList"},
	"POST /v1/enroll":   {"EnrollUser", "apiKey", "", "EnrollmentRequest", "204"},
	"POST /v1/unenroll": {"UnenrollUser", "apiKey", "", "EnrollmentRequest", "204"},
	"GET /v1/users": {"ListUsers", "apiKey", `
		email query string
		page query int32 from 1 default 1
		per query int32 from 1 default 20
		search_after query int32 from 0`, "", "200 UserList"},
	"POST /v1/users": {"CreateUser", "apiKey", "", "NewUser", "201 UserDetail"},
	"GET /v1/users/{user_id}": {"ShowUser", "apiKey", `
		user_id path int32 required from 1`, "", "200 UserDetail"},
	"PATCH /v1/users/{user_id}": {"UpdateUser", "apiKey", `
		user_id path int32 required from 1`, "UserChange", "200 UserDetail"},
	"GET /v1/pricing_plans": {"ListPricingPlans", "apiKey", `
		page query int32 from 1 default 1
		per query int32 from 1 default 5`, "", "200 PricingPlanList"},
	"GET /v1/pricing_plans/{pricing_plan_id}": {"ShowPricingPlans", "apiKey", `
		pricing_plan_id path int32 required from 1`, "", "200 OnePricingPlan"},
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
		sort_direction query string asc desc default desc`, "", "200 TransactionList"},
	"GET /v1/webhooks": {"ListWebhooks", "apiKey", "", "", "200 WebhookList"},
	"GET /v1/webhooks/{webhook_id}/events": {"ShowWebhookEvents", "apiKey", `
		webhook_id path int32 required from 1
		response_http_status_gte query int32
		response_http_status_lte query int32
		created_before query date-time
		created_after query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 WebhookEventList"},

	"GET /v1/current_user/me": {"getCurrentUser", "oauth2 name:read or oauth2 email:read", "", "", "200 CurrentUser"},
	"GET /v1/current_user/courses": {"listCurrentUserCourses", "oauth2 courses:read", `
		name query string
		is_published query boolean
		created_at query date-time
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 CourseList"},
	"GET /v1/current_user/courses/{course_id}": {"showCurrentUserCourse", "oauth2 courses:read", `
		course_id path int32 required from 1`, "", "200 OneCourse"},
	"GET /v1/current_user/courses/{course_id}/progress": {"showCurrentUserCourseProgress", "oauth2 courses:read", `
		course_id path int32 required from 1
		page query int32 from 1 default 1
		per query int32 from 1 default 20`, "", "200 OneCourseProgress"},
	"GET /v1/current_user/courses/{course_id}/lectures/{lecture_id}": {"showCurrentUserLecture", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "200 OneLecture"},
	"POST /v1/current_user/courses/{course_id}/lectures/{lecture_id}/mark_complete": {
		"markCurrentUserLectureComplete", "oauth2 courses:read courses:update", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1`, "", "204",
	},
	"GET /v1/current_user/courses/{course_id}/lectures/{lecture_id}/videos/{video_id}": {
		"showCurrentUserVideo", "oauth2 courses:read", `
		course_id path int32 required from 1
		lecture_id path int32 required from 1
		video_id path int32 required from 1`, "", "200 OneVideo",
	},

	"POST /v1/current_user/oauth2/token":      {"createToken", "client or nothing", "", "TokenRequest", "200 TokenResponse"},
	"POST /v1/current_user/oauth2/revoke":     {"revokeToken", "client or nothing", "", "OneToken", "200 Nothing"},
	"POST /v1/current_user/oauth2/introspect": {"introspectToken", "client or nothing", "", "OneToken", "200 Introspection"},
}

// A schema is one property per line, in the order of a response, with its type; then null
// if it is nullable, optional if it may be missing, and its allowed values.

// v1Schemas are the responses and bodies of v1, in the form that programs see live where
// the published form differs.
var v1Schemas = map[string]string{
	"TransactionList": `
		transactions []TransactionSummary
		meta PaginationMeta`,
	"TransactionSummary": `
		id int32
		user_id int32
		pricing_plan_id int32
		sale_id int32
		created_at date-time
		purchased_at date-time
		charge int32
		final_price int32
		currency string
		tax_charge int32
		revenue int32
		status string null paid
		has_chargeback boolean null
		chargeback_fee int32 null
		affiliate_id int32 null
		affiliate_fees int32
		author_id int32 null
		author_fees int32
		coupon_id int32 null
		refunded_at date-time null
		amount_refunded int32`,
	"PaginationMeta": `
		total int32
		page int32
		from int32
		to int32
		per_page int32
		number_of_pages int32`,

	"CredentialError": `
		message string
		request_id string`,

	"CourseList": `
		courses []CourseSummary
		meta PaginationMeta`,
	"CourseSummary": `
		id int32
		description string null
		name string
		heading string null
		is_published boolean
		image_url string null`,
	"OneCourse": `
		course CourseDetail`,
	"CourseDetail": `
		id int32
		description string null
		name string
		heading string null
		is_published boolean
		image_url string null
		lecture_sections []LectureSection
		author_bio AuthorBio`,
	"LectureSection": `
		id int32
		name string
		is_published boolean
		position int32
		lectures []LectureSummary`,
	"LectureSummary": `
		id int32
		position int32
		is_published boolean`,
	"AuthorBio": `
		name string
		bio string null
		profile_image_url string null
		user_id int32 null`,

	"EnrollmentList": `
		enrollments []Enrollment
		meta PaginationMeta`,
	"Enrollment": `
		user_id int32
		enrolled_at date-time
		completed_at date-time null
		percent_complete int32
		expires_at date-time null`,
	"EnrollmentRequest": `
		user_id int32
		course_id int32`,
	"OneCourseProgress": `
		course_progress CourseProgress
		meta PaginationMeta`,
	"CourseProgress": `
		id int32
		certificate Certificate
		completed_at date-time null
		enrolled_at date-time null
		percent_complete int32
		lecture_sections []ProgressSection`,
	"Certificate": `
		issued_at date-time null
		page_id int32 null
		serial_number string null`,
	"ProgressSection": `
		id int32
		name string
		lectures []ProgressLecture`,
	"ProgressLecture": `
		id int32
		name string
		is_completed boolean
		completed_at date-time null`,

	"OneLecture": `
		lecture Lecture`,
	"Lecture": `
		id int32
		name string
		is_published boolean
		position int32
		lecture_section_id int32
		attachments []Attachment`,
	"LectureCompletion": `
		user_id int32`,
	"Attachment": `
		id int32
		name string null
		kind string
		url string null
		text string null
		position int32 null
		file_size int32 null
		file_extension string null
		quiz AttachmentQuiz null`,
	"AttachmentQuiz": `
		id int32
		type string Quiz
		questions []QuizQuestion`,
	"OneVideo": `
		video Video`,
	"Video": `
		id int32
		video_asset VideoAsset
		status string READY PROCESSING PARTIALLY_READY QUEUED THUMBNAIL_READY FAILED
		url_thumbnail string null
		media_type string VIDEO
		media_duration int32 null`,
	"VideoAsset": `
		url string
		content_type string`,

	"QuizIDList": `
		quiz_ids []int32`,
	"OneQuiz": `
		quiz QuizAttachment`,
	"QuizAttachment": `
		id int32
		name string null
		kind string quiz
		url string null
		text string null
		position int32
		quiz Quiz`,
	"Quiz": `
		id int32
		type string Quiz
		questions []QuizQuestion`,
	"QuizQuestion": `
		question string
		question_type string
		answers []string
		correct_answers []string
		graded boolean`,
	"QuizResponseList": `
		quiz_responses QuizResponses`,
	"QuizResponses": `
		course_id int32
		course_name string
		lecture_id int32
		lecture_name string
		graded boolean
		responses []QuizResponse`,
	"QuizResponse": `
		student_id int32
		student_name string optional
		student_email string optional
		submitted_at date-time optional
		percent_correct double null`,

	"UserList": `
		users []UserSummary
		meta UserListMeta`,
	"UserSummary": `
		email string
		name string null
		id int32`,
	// Both forms of the meta; the properties of only one form are optional.
	"UserListMeta": `
		page int32
		total int32
		number_of_pages int32
		from int32 optional
		to int32 optional
		per_page int32
		has_more_results boolean optional
		search_after []int32 optional`,
	"UserDetail": `
		email string
		name string null
		src string null
		role string
		last_sign_in_ip string null
		id int32
		courses []UserCourse
		tags []UserTag`,
	"UserCourse": `
		course_id int32
		course_name string
		enrolled_at date-time
		is_active_enrollment boolean
		completed_at date-time null
		percent_complete double`,
	"UserTag": `
		name string`,
	"NewUser": `
		email string
		name string null optional
		password string null optional
		src string null optional`,
	"UserChange": `
		name string null optional
		src string null optional`,

	"PricingPlanList": `
		pricing_plans []PricingPlanSummary
		meta PaginationMeta`,
	"PricingPlanSummary": `
		id int32
		created_at date-time
		updated_at date-time
		name string
		price int32
		currency string
		course_id int32`,
	"OnePricingPlan": `
		pricing_plan PricingPlanDetail`,
	"PricingPlanDetail": `
		id int32
		created_at date-time
		updated_at date-time
		name string
		price int32
		currency string
		course_id int32
		description string null
		free_trial_length int32 null
		enrollment_cap int32 null
		frequency PricingPlanFrequency`,
	"PricingPlanFrequency": `
		type string free one_time_payment subscription payment_plan
		billing_interval string null day week month year
		billing_interval_count int32 null
		access_limit_date date-time null
		access_limit_interval string null day week month year
		access_limit_duration int32 null`,

	"WebhookList": `
		webhooks []Webhook`,
	"Webhook": `
		id int32
		workflow_state string verified pending failed
		url string
		event_trigger string
		webhook_events_count int32`,
	"WebhookEventList": `
		events []WebhookEvent
		meta PaginationMeta`,
	"WebhookEvent": `
		id int32
		workflow_state string pending delivered failed
		webhook_id int32
		attempt_count int32
		last_attempted_at date-time null
		created_at date-time
		object_type string
		object_id int32
		response_http_status int32 null`,

	"CurrentUser": `
		id int32
		name string null
		email string null
		role string`,
	"OAuthError": `
		error string
		error_description string`,
	"LimitError": `
		error string
		error_description string
		message string`,
}

// v2Schemas are the forms of version 2 that the contract defines.
var v2Schemas = map[string]string{
	"PaginationMeta": `
		page int32
		per_page int32
		total_pages int32
		total_count int32`,
	"CurrentUser": `
		id int32
		name string null
		email string
		role string`,
}

// unlisted are the schemas of v1 that RFC 6749, 7009 and 7662 define. Error has two forms;
// see TestV1ErrorsAreASentenceOrSeveral.
var unlisted = []string{"TokenRequest", "TokenResponse", "OneToken", "Introspection", "Nothing", "Error"}

func TestV1OperationsAreTheContracts(t *testing.T) {
	want := map[string][]string{}
	for place, op := range v1Operations {
		want[place] = []string{op.id, op.asks, strings.Join(rows(op.params), "\n"), op.body, op.answers}
	}
	got := map[string][]string{}
	document := load(t, contract.V1().YAML)
	eachOperation(document, func(place string, op *openapi3.Operation) {
		got[place] = []string{op.OperationID, asks(document, op), parameters(op), sends(op), answers(op)}
	})
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("operations differ (-contract +document):\n%s", diff)
	}
}

func TestSchemasAreTheContracts(t *testing.T) {
	for _, tc := range []struct {
		document contract.Document
		table    map[string]string
		whole    bool // whether the document has no further schemas
	}{{contract.V1(), v1Schemas, true}, {contract.V2(), v2Schemas, false}} {
		want, got := map[string][]string{}, map[string][]string{}
		for name, table := range tc.table {
			want[name] = rows(table)
		}
		for name, ref := range load(t, tc.document.YAML).Components.Schemas {
			if !tc.whole && tc.table[name] == "" || tc.whole && slices.Contains(unlisted, name) {
				continue
			}
			describe(got, name, ref.Value)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("schemas of %s differ (-contract +document):\n%s", tc.document.Name, diff)
		}
	}
}

func TestV1ErrorsAreASentenceOrSeveral(t *testing.T) {
	schema := load(t, contract.V1().YAML).Components.Schemas["Error"].Value
	var got []string
	for _, form := range schema.Properties["message"].Value.OneOf {
		got = append(got, kind(form))
	}
	if want := []string{"string", "[]string"}; len(schema.Properties) != 1 || !slices.Equal(got, want) {
		t.Errorf("%d properties, message is %v; want message alone, %v", len(schema.Properties), got, want)
	}
}

// asks describes the credentials of a request in the form of the tables.
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

// answers describes the success responses, with the schemas of their bodies.
func answers(op *openapi3.Operation) string {
	var words []string
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		words = append(words, status)
		if body := op.Responses.Value(status).Value.Content.Get("application/json"); body != nil {
			words = append(words, kind(body.Schema))
		}
	}
	return strings.Join(words, " ")
}

// rows returns the lines of a table.
func rows(table string) []string {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// describe describes a schema of a document in the form of this file, together with the
// named schemas in it.
func describe(all map[string][]string, name string, schema *openapi3.Schema) {
	names := slices.SortedFunc(maps.Keys(schema.Properties), func(a, b string) int {
		return cmp.Compare(order(schema.Properties[a]), order(schema.Properties[b]))
	})
	lines := []string{}
	for i, field := range names {
		property := schema.Properties[field]
		words := []string{field, kind(property)}
		if property.Value.Nullable {
			words = append(words, "null")
		}
		if !slices.Contains(schema.Required, field) {
			words = append(words, "optional")
		}
		words = append(words, values(property.Value)...)
		if order(property) != i+1 {
			words = append(words, fmt.Sprintf("(x-order %d)", order(property)))
		}
		lines = append(lines, strings.Join(words, " "))
		if inner, ok := property.Value.Extensions["x-go-type-name"].(string); ok {
			describe(all, inner, property.Value)
		}
	}
	all[name] = lines
}

// order returns the position of a property in a response; 0 if it has none.
func order(property *openapi3.SchemaRef) int {
	n, _ := property.Value.Extensions["x-order"].(float64)
	return int(n)
}

// kind returns the type of a value: its format, the name of an object, or the type itself.
func kind(ref *openapi3.SchemaRef) string {
	schema := ref.Value
	switch name, _ := schema.Extensions["x-go-type-name"].(string); {
	case ref.Ref != "":
		return ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
	case len(schema.AllOf) == 1:
		return kind(schema.AllOf[0])
	case name != "":
		return name
	case schema.Type.Is(openapi3.TypeArray):
		return "[]" + kind(schema.Items)
	case schema.Format != "":
		return schema.Format
	}
	return strings.Join(schema.Type.Slice(), " ")
}

// values returns the values of an enum, including the null of a nullable one.
func values(schema *openapi3.Schema) []string {
	var all []string
	for _, value := range schema.Enum {
		if value != nil {
			all = append(all, fmt.Sprint(value))
		}
	}
	return all
}
