package contract_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum/contract"
)

// TestEverythingHasAnExample checks parameters, bodies and responses.
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

// TestAnswersHaveTheirHeaders checks that every response has the request's id and the rate
// limit, and some responses further headers.
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
				if strings.HasPrefix(status, "2") && !strings.HasPrefix(place, "GET ") {
					want = append(want, "Journal-Entry")
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

// TestErrorAnswers checks that an operation has the error responses that follow from its
// method, credential, body and headers, and only a 404 or a 409 in addition.
func TestErrorAnswers(t *testing.T) {
	for _, d := range contract.All() {
		document := load(t, d.YAML)
		eachOperation(document, func(place string, op *openapi3.Operation) {
			want := []string{"400", "401", "405", "429", "500", "503"}
			if !strings.Contains(asks(document, op), "client") {
				want = append(want, "403")
			}
			if strings.Contains(place, "{") || asks(document, op) == "apiKey" {
				want = append(want, "404")
			}
			if strings.HasPrefix(place, "GET ") {
				want = append(want, "304")
			}
			once := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
			if op.RequestBody != nil || once {
				want = append(want, "413")
			}
			if d.Name == "v2" && (op.RequestBody != nil && asks(document, op) == "apiKey" || op.OperationID == "deleteUser" ||
				op.OperationID == "putCurrentUserQuizResponse") {
				want = append(want, "422")
			}
			if once {
				want = append(want, "409", "422")
			}
			var got []string
			for status := range op.Responses.Map() {
				own := status == "409" && !once
				if !strings.HasPrefix(status, "2") && !own {
					got = append(got, status)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s can fail with %v, want %v", place, d.Name, got, want)
			}
		})
	}
}

// ours visits the documents that Lyceum defines itself, without the operations that an RFC
// defines.
func ours(t *testing.T, visit func(document *openapi3.T, place string, op *openapi3.Operation)) {
	t.Helper()
	for _, d := range []contract.Document{contract.V2(), contract.Lyceum()} {
		document := load(t, d.YAML)
		eachOperation(document, func(place string, op *openapi3.Operation) {
			if !strings.Contains(place, "/oauth2/") {
				visit(document, place, op)
			}
		})
	}
}

// usualPages are the defaults of per_page other than 25.
var usualPages = map[string]int{
	"GET /v2/products/digital-downloads":                                       20,
	"GET /v2/products/digital-downloads/{digital_download_id}/attachments":     20,
	"GET /v2/current_user/digital-downloads/{digital_download_id}/attachments": 20,
	"GET /v2/users/{user_id}/quiz-responses":                                   20,
}

// TestPagesAreAskedForAlike checks that page and per_page have one range and, with listed
// exceptions, one default. A preview has the maximum page size.
func TestPagesAreAskedForAlike(t *testing.T) {
	ours(t, func(_ *openapi3.T, place string, op *openapi3.Operation) {
		page, size := op.Parameters.GetByInAndName("query", "page"), op.Parameters.GetByInAndName("query", "per_page")
		if strings.HasSuffix(place, "/v2/products/product-collections/{product_collection_id}/products") { // as published
			size = op.Parameters.GetByInAndName("query", "limit")
		}
		if page == nil && size == nil {
			return
		}
		usual := cmp.Or(usualPages[place], 25)
		if op.Parameters.GetByInAndName("query", "preview") != nil {
			usual = 100
		}
		for _, tc := range []struct {
			p    *openapi3.Parameter
			want string
		}{{page, "int32 1 <nil> 1"}, {size, fmt.Sprint("int32 1 100 ", usual)}} {
			if tc.p == nil {
				t.Fatalf("%s has one of page and per_page", place)
			}
			s := tc.p.Schema.Value
			got := fmt.Sprint(s.Format, " ", bound(s.Min), " ", bound(s.Max), " ", s.Default)
			if got != tc.want {
				t.Errorf("%s: %s is %s, want %s", place, tc.p.Name, got, tc.want)
			}
		}
	})
}

func bound(n *float64) any {
	if n == nil {
		return nil
	}
	return *n
}

// unbounded are the lists in bodies without a maximum length, apart from the 64 kilobytes
// of a body.
var unbounded = map[string]string{
	"UserTags.tags":               "at most 100 different ones; the same one may stand twice",
	"NewWebhook.events":           "names of a closed list; the same one may stand twice",
	"WebhookChange.events":        "as above",
	"NewBulkJob.emails[]":         "one that nobody has is a row that fails",
	"NewQuizResponse.answers":     "as many as the quiz has questions",
	"NewQuizResponse.answers[]":   "as many as the question has choices",
	"NewQuizResponse.answers[][]": "one of the choices, or what the learner wrote",
}

// TestWhatIsSentIsBounded checks that every body is closed, and that everything in it and
// in the URL has bounds.
func TestWhatIsSentIsBounded(t *testing.T) {
	used := map[string]bool{}
	ours(t, func(_ *openapi3.T, place string, op *openapi3.Operation) {
		for _, ref := range op.Parameters {
			s := ref.Value.Schema.Value
			if s.Type.Is(openapi3.TypeString) && len(s.Enum) == 0 && s.Format == "" && s.MinLength == 0 {
				t.Errorf("%s: %s can be empty", place, ref.Value.Name)
			}
			if s.Type.Is(openapi3.TypeInteger) && s.Format == "" {
				t.Errorf("%s: %s has no range", place, ref.Value.Name)
			}
			word := len(s.Enum) > 0 || s.Format == "uuid" || ref.Value.Name == "snapshot" && s.MaxLength != nil // a name
			if ref.Value.In == openapi3.ParameterInPath && !word && (!ref.Value.Required || s.Format != "int32" || bound(s.Min) != 1.0) {
				t.Errorf("%s: %s is not an id", place, ref.Value.Name)
			}
		}
		if op.RequestBody == nil {
			return
		}
		body := op.RequestBody.Value.Content.Get("application/json").Schema
		if closed := body.Value.AdditionalProperties.Has; closed == nil || *closed {
			t.Errorf("%s takes a body that is open", place)
		}
		for name, ref := range body.Value.Properties {
			sent(t, kind(body)+"."+name, ref.Value, used)
		}
	})
	for name := range unbounded {
		if !used[name] {
			t.Errorf("%s has bounds", name)
		}
	}
}

func sent(t *testing.T, place string, s *openapi3.Schema, used map[string]bool) {
	t.Helper()
	bounded := true
	switch {
	case s.Type.Is(openapi3.TypeString):
		bounded = len(s.Enum) > 0 || s.Format != "" || s.Pattern != "" || s.MaxLength != nil
	case s.Type.Is(openapi3.TypeInteger), s.Type.Is(openapi3.TypeNumber):
		bounded = s.Format != "" && s.Min != nil
	case s.Type.Is(openapi3.TypeArray):
		bounded = s.MaxItems != nil
		sent(t, place+"[]", s.Items.Value, used)
	}
	if _, known := unbounded[place]; !bounded && known {
		used[place] = true
	} else if !bounded {
		t.Errorf("%s has no bounds", place)
	}
}

// sometimes are the properties that a response may omit.
var sometimes = []string{
	"v2 Course.href", "v2 CourseDetail.href",
	// for what the learner is not shown
	"v2 LearnerProduct.href", "v2 BoughtProduct.href",
	"v2 Quiz.href", "v2 Question.feedback",
	// for questions that are not matching questions
	"v2 QuestionChoice.match", "v2 Question.matching_prompts", "v2 Question.matching_prompt_heading",
	"v2 Question.matching_match_heading",
	// unless requested and known
	"v2 UserQuizResponse.answers",
	// for what an app may not see
	"v2 ChangedCurrentUser.id", "v2 ChangedCurrentUser.name", "v2 ChangedCurrentUser.email", "v2 ChangedCurrentUser.role",
	"v2 ChangedCurrentUser.phone_number", "v2 ChangedCurrentUser.allow_marketing_emails",
	"v2 ChangedCurrentUser.pending_email",
	// for a video that is not ready
	"v2 Video.video_asset", "v2 Video.url_thumbnail", "v2 Video.media_duration",
}

// TestAnswersAreWhole checks that a response has every property, null if there is no
// value, in the order in which it is rendered.
func TestAnswersAreWhole(t *testing.T) {
	ours(t, func(document *openapi3.T, place string, op *openapi3.Operation) {
		eachAnswer(op, func(status string, body *openapi3.SchemaRef) {
			whole(t, document, place[strings.Index(place, "/"):], body)
		})
	})
}

func whole(t *testing.T, document *openapi3.T, place string, ref *openapi3.SchemaRef) {
	t.Helper()
	s := ref.Value
	for _, inner := range s.AllOf {
		whole(t, document, place, inner)
	}
	if s.Items != nil {
		whole(t, document, place, s.Items)
	}
	places := make([]int, 0, len(s.Properties))
	for name, property := range s.Properties {
		places = append(places, order(property))
		version := strings.Split(place, "/")[1]
		if !slices.Contains(s.Required, name) && !slices.Contains(sometimes, version+" "+kind(ref)+"."+name) {
			t.Errorf("%s: an answer can leave out %s of %s", place, name, kind(ref))
		}
		whole(t, document, place, property)
	}
	slices.Sort(places)
	for i, n := range places {
		if n != i+1 {
			t.Errorf("%s: the properties of %s have the places %v", place, kind(ref), places)
			break
		}
	}
}

// TestNullIsAmongTheWords checks that a nullable property allows null everywhere: OpenAPI
// 3.0 adds no null to an enum, or to what another schema allows.
func TestNullIsAmongTheWords(t *testing.T) {
	for _, d := range []contract.Document{contract.V2(), contract.Lyceum()} {
		for noun, schema := range load(t, d.YAML).Components.Schemas {
			for property, ref := range schema.Value.Properties {
				s := ref.Value
				if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
					t.Errorf("%s: %s.%s can be null, which is not among its words", d.Name, noun, property)
				}
				for _, inner := range s.AllOf {
					if s.Nullable && !inner.Value.Nullable {
						t.Errorf("%s: %s.%s can be null, but not as %s", d.Name, noun, property, inner.Ref)
					}
				}
			}
		}
	}
}

// TestEnvelopes checks that a response of version 2 is data, with meta beside a list that
// is read. One of the Lyceum API has the name of its noun, and beside a list how it
// continues. Operations of learners have no envelope, as the contract says.
func TestEnvelopes(t *testing.T) {
	besides := []string{"meta", "next", "more", "last"}
	ours(t, func(_ *openapi3.T, place string, op *openapi3.Operation) {
		eachAnswer(op, func(status string, body *openapi3.SchemaRef) {
			names := slices.Sorted(maps.Keys(body.Value.Properties))
			if status[0] != '2' || strings.HasSuffix(op.OperationID, "CurrentUser") || status == "202" {
				return
			}
			isList := false
			for _, property := range body.Value.Properties {
				isList = isList || property.Value.Type.Is(openapi3.TypeArray)
			}
			switch {
			case !strings.Contains(place, " /v2/"):
				nouns := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(besides, name) || name == "secret" })
				if len(nouns) != 1 {
					t.Errorf("%s: an answer has %v", place, names)
				}
			case isList && strings.HasPrefix(place, "GET ") && !slices.Equal(names, []string{"data", "meta"}), !isList && !slices.Equal(names, []string{"data"}):
				t.Errorf("%s: an answer has %v", place, names)
			}
		})
	})
}

// TestErrorsAreAlike checks that the errors of an operation have one body. For a learner
// it is that of RFC 6749, and too many requests have a message besides.
func TestErrorsAreAlike(t *testing.T) {
	ours(t, func(document *openapi3.T, place string, op *openapi3.Operation) {
		learners := strings.Contains(asks(document, op), "oauth2")
		eachAnswer(op, func(status string, body *openapi3.SchemaRef) {
			want := []string{"code", "errors", "message"}
			switch {
			case learners && status == "429":
				want = []string{"error", "error_description", "message"}
			case learners:
				want = []string{"error", "error_description"}
			}
			if names := slices.Sorted(maps.Keys(body.Value.Properties)); status[0] != '2' && !slices.Equal(names, want) {
				t.Errorf("%s: %s has %v, want %v", place, status, names, want)
			}
		})
	})
}

// eachAnswer visits the bodies of an operation's responses, including each alternative of
// a response.
func eachAnswer(op *openapi3.Operation, visit func(status string, body *openapi3.SchemaRef)) {
	for status, ref := range op.Responses.Map() {
		media := ref.Value.Content.Get("application/json")
		if media == nil {
			continue
		}
		for _, body := range media.Schema.Value.OneOf {
			visit(status, body)
		}
		if len(media.Schema.Value.OneOf) == 0 {
			visit(status, media.Schema)
		}
	}
}
