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

// A schema is written here as the tables of the contract have it: a field a
// line, in the order of an answer, with its type; then null where it may be
// null, optional where it may be missing, and the values it may have.

// v1Schemas are what answers and bodies of v1 hold, as programs meet it in
// live answers where the published form differs.
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
	// Both forms of the meta; the fields of one alone are optional.
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
}

// v2Schemas are those of v2. What a learner is shown has the fields of v1, in
// v2's envelope and with v2's names where v2 has one.
var v2Schemas = map[string]string{
	"PaginationMeta": `
		page int32
		per_page int32
		total_pages int32
		total_count int32`,
	"Error": `
		code string
		message string
		errors []FieldError`,
	"FieldError": `
		field string
		message string`,
	"OAuthError": v1Schemas["OAuthError"],

	"CourseList": `
		data []Course
		meta PaginationMeta`,
	"Course": `
		id int32
		name string
		is_published boolean
		is_listed boolean
		description string null
		author_bio_id int32 null
		href string optional
		image_url string null
		created_at date-time
		updated_at date-time`,
	"OneCourse": `
		data CourseDetail`,
	"CourseDetail": `
		id int32
		name string
		is_published boolean
		is_listed boolean
		description string null
		author_bio_id int32 null
		href string optional
		image_url string null
		created_at date-time
		updated_at date-time
		sections []CourseSection
		author_bio AuthorBio`,
	"CourseSection": `
		id int32
		name string
		position int32
		lectures []LectureSummary`,
	"LectureSummary": `
		id int32
		name string
		position int32`,
	"AuthorBio": v1Schemas["AuthorBio"],

	"OneCourseProgress": `
		data CourseProgress`,
	"CourseProgress": `
		id int32
		certificate Certificate
		completed_at date-time null
		enrolled_at date-time null
		percent_complete int32
		sections []ProgressSection`,
	"Certificate": v1Schemas["Certificate"],
	"ProgressSection": `
		id int32
		name string
		percent_complete int32
		lectures []ProgressLecture`,
	"ProgressLecture": v1Schemas["ProgressLecture"],

	"OneLecture": `
		data Lecture`,
	"Lecture": `
		id int32
		name string null
		is_published boolean
		position int32
		section_id int32
		attachments []Attachment`,
	"Attachment": v1Schemas["Attachment"],
	"AttachmentQuiz": `
		id int32
		questions []QuizQuestion`,
	"QuizQuestion": v1Schemas["QuizQuestion"],
	"OneCompletion": `
		data Completion`,
	"Completion": `
		completed boolean
		completed_at date-time null`,

	"CurrentUser": `
		id int32
		name string null
		email string
		role string`,
}

// elsewhere are the schemas that other documents settle: those of OAuth
// (RFC 6749, 7009 and 7662). The errors of v1 have two forms, see
// TestV1ErrorsAreASentenceOrSeveral.
var elsewhere = map[string][]string{
	"v1": {"TokenRequest", "TokenResponse", "OneToken", "Introspection", "Nothing", "Error"},
	"v2": {"TokenRequest", "TokenResponse", "OneToken", "Introspection", "Nothing"},
}

func TestSchemasAreTheContracts(t *testing.T) {
	tables := map[string]map[string]string{"v1": v1Schemas, "v2": v2Schemas, "lyceum": lyceumSchemas}
	for _, d := range contract.All() {
		t.Run(d.Name, func(t *testing.T) {
			want := map[string][]string{}
			for name, table := range tables[d.Name] {
				want[name] = rows(table)
			}
			got := map[string][]string{}
			for name, ref := range load(t, d.YAML).Components.Schemas {
				if !slices.Contains(elsewhere[d.Name], name) {
					describe(got, name, ref.Value)
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("schemas differ (-contract +document):\n%s", diff)
			}
		})
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

// rows gives the lines of a table.
func rows(table string) []string {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// describe writes a schema of a document as this file does, and with it those
// that stand in it and have a name.
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

// order gives the place of a property in an answer; 0 when it has none.
func order(property *openapi3.SchemaRef) int {
	n, _ := property.Value.Extensions["x-order"].(float64)
	return int(n)
}

// kind gives the type of a value: the format where it has one, otherwise the
// name of an object or the type itself.
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

// values gives what an enum lists. A nullable one lists null too.
func values(schema *openapi3.Schema) []string {
	var all []string
	for _, value := range schema.Enum {
		if value != nil {
			all = append(all, fmt.Sprint(value))
		}
	}
	return all
}
