package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// refusedUser returns a row for a user that is rejected with the given message.
func refusedUser(name, says, terms string) requestCase {
	return requestCase{name: name, body: `{"name":"Nobody","email":"nobody.yet@example.com",` + terms + `}`, status: 422, says: says}
}

// sessionRows are derived from contract/v2/users.yaml, before peopleRows.
var sessionRows = slicesOf(
	versionTwo("listUserSessions",
		requestCase{name: "who never signed in", values: "user_id=1", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "one", values: "user_id=2", query: "per_page=1", says: `"user":{"id":2,"href":"/v2/users/2"},"ip_address":`},
		requestCase{name: "seen then or later", values: "user_id=2", query: "last_seen_after=2024-01-10T12:00:00Z&last_seen_before=2024-01-10T12:00:00Z&per_page=1", says: `"last_seen_at":"2024-01-10T12:00:00Z"`},
		requestCase{name: "seen later", values: "user_id=2", query: "last_seen_after=2024-01-10T12:00:01Z", says: `"total_count":0}`},
		requestCase{name: "seen before", values: "user_id=2", query: "last_seen_before=2024-01-10T11:59:59Z", says: `"total_count":0}`},
		requestCase{name: "mistakes", values: "user_id=2", query: "last_seen_after=x&last_seen_before=y&page=0&per_page=0", status: 400, says: "last_seen_before must be"},
		requestCase{name: "of an unknown user", values: "user_id=999", status: 404, says: "there is no user 999"},
	),
	versionTwo("deleteUserSession",
		requestCase{name: "one that is not there", values: "user_id=2 session_id=0e37df36-f698-4d10-8b6d-4a2b5f0d3c11"},
		requestCase{name: "no UUID", values: "user_id=2 session_id=7", status: 400, says: "session_id must be a UUID such as"},
		requestCase{name: "of an unknown user", values: "user_id=999 session_id=0e37df36-f698-4d10-8b6d-4a2b5f0d3c11", status: 404, says: "there is no user 999"},
	),
	versionTwo("deleteUserSessions", requestCase{name: "all", values: "user_id=2"}, requestCase{name: "again", values: "user_id=2"}, requestCase{name: "of an unknown user", values: "user_id=999", status: 404, says: "there is no user 999"}),
	versionTwo("listUserSessions", requestCase{name: "afterwards", values: "user_id=2", says: `"total_count":0}`}),
)

// peopleRows are derived from contract/v2/users.yaml, last in the school of requestCases.
var peopleRows = slicesOf(
	sessionRows,
	versionTwo("listUsers",
		requestCase{name: "the first", query: "per_page=1", says: `{"data":[{"id":1,"email":"head@example.com","name":"Head ours","phone_number":null,"role":"owner","author_bio_id":null,"first_enrolled_at":"2024-01-10T12:00:00Z",`},
		requestCase{name: "the last in the alphabet", query: "sort_by=email&sort_direction=desc&per_page=1", says: `"email":"pia@example.com"`},
		requestCase{name: "by name, one without first", query: "sort_by=name&per_page=1", says: `"data":[{"id":3,"email":"Noname@Example.com","name":"",`},
		requestCase{name: "who signed in last", query: "sort_by=last_sign_in_at&sort_direction=desc&per_page=2&role=student", says: `"last_sign_in_at":"2024-01-10T12:00:00Z"`},
		requestCase{name: "the oldest", query: "sort_by=created_at&per_page=1", says: `"data":[{"id":1,`},
		requestCase{name: "the last changed", query: "sort_by=updated_at&sort_direction=desc&per_page=1", says: `"updated_at":"2024-01-10T12:00:00Z"`},
		requestCase{name: "a part of a name", query: "name=MIRA", says: `"data":[{"id":2,"email":"mira@example.com","name":"Mira \u0026 Co ours","phone_number":null,"role":"student","author_bio_id":null,"first_enrolled_at":"2024-01-05T12:00:00Z",`},
		requestCase{name: "an address in any case", query: "email=noname@example.com", says: `"total_count":1}`},
		requestCase{name: "a part of an address", query: "email=noname", says: `"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}`},
		requestCase{name: "owners", query: "role=owner", says: `"total_count":1}`},
		requestCase{name: "affiliates", query: "role=affiliate", says: `"data":[{"id":5,`},
		requestCase{name: "roles of the school", query: "role=custom", says: `"data":[{"id":4,"email":"olu@example.com","name":"Olu ours","phone_number":null,"role":"student","author_bio_id":1,`},
		requestCase{name: "no role", query: "role=", status: 400, says: `"field":"role","message":"must not be empty"`},
		requestCase{name: "another role", query: "role=tutor", says: `"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}`},
		requestCase{name: "created after", query: "created_after=2024-01-10T12:00:00Z", says: `"total_count":0}`},
		requestCase{name: "created until", query: "created_before=2024-01-01T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "one", query: "user_id=2", says: `"data":[{"id":2,`},
		requestCase{name: "nobody", query: "user_id=-1", says: `"total_count":0}`},
		requestCase{name: "mistakes", query: "page=0&per_page=101&sort_by=role&sort_direction=up&name=&email=&created_before=x&created_after=y&user_id=me", status: 400, golden: "v2/users_mistakes.json"},
	),
	versionTwo("showUser",
		requestCase{name: "with what they bought and learned", values: "user_id=2", golden: "v2/user.json"},
		requestCase{name: "who bought nothing", values: "user_id=1", says: `"metrics":{"transactions":{"count":0,"total_spent":0},"enrollments":{"count":1},"quizzes":{"total":0,"passed":0}}`},
		requestCase{name: "unknown", values: "user_id=999", status: 404, says: `{"code":"not_found","message":"there is no user 999","errors":[]}`},
	), badPaths("v2", "showUser", "user_id", ""),
	versionTwo("createUser",
		requestCase{
			name: "a student", says: `"email":"zoe@example.com","name":"Zoe","phone_number":null,"role":"student","author_bio_id":null,"first_enrolled_at":null,"last_sign_in_at":null,"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z"}}`,
			body: `{"name":"Zoe","email":"zoe@example.com","password":"four unrelated words","role":"student","allow_marketing_emails":true,"notes":"Came by the fair"}`,
		},
		requestCase{name: "again", body: `{"name":"Another","email":"ZOE@example.com","role":"student","allow_marketing_emails":false}`, says: `"email":"zoe@example.com","name":"Zoe",`},
		requestCase{name: "an author", body: `{"name":"Ann","email":"ann@example.com","role":"author","author_revenue_share":0.3}`, says: `"role":"author","author_bio_id":`},
		requestCase{name: "an affiliate", body: `{"name":"Alf","email":"alf@example.com","role":"affiliate","affiliate_revenue_share":1,"author_revenue_share":null}`, says: `"role":"affiliate","author_bio_id":null,`},
		refusedUser("a student without consent", "allow_marketing_emails is required for a student; it must be true or false", `"role":"student"`),
		refusedUser("an author without a share", "author_revenue_share is required when role is author; it must be a number from 0 to 1", `"role":"author"`),
		refusedUser("an affiliate without a share", "affiliate_revenue_share is required when role is affiliate; it must be a number from 0 to 1", `"role":"affiliate"`),
		refusedUser("a student with a share", "author_revenue_share must be left out unless role is author", `"role":"student","allow_marketing_emails":false,"author_revenue_share":0.1`),
		refusedUser("an author with the share of an affiliate", "affiliate_revenue_share must be left out unless role is affiliate", `"role":"author","author_revenue_share":0.1,"affiliate_revenue_share":0.1`),
		refusedUser("an owner", "role must be student, author or affiliate: an API key cannot decide who administers the school", `"role":"owner"`),
		refusedUser("a short password", "password must have 6 to 256 characters", `"role":"student","allow_marketing_emails":false,"password":"12345"`),
		requestCase{name: "no address", body: `{"name":"x","email":"x","role":"student","allow_marketing_emails":false}`, status: 422, says: "email must be an email address such as learner@example.com"},
		requestCase{name: "an address of nobody", body: `{"name":"x","email":"erased-2@invalid","role":"student","allow_marketing_emails":false}`, status: 422, says: "email must be an email address such as learner@example.com"},
		requestCase{name: "a long name", body: `{"name":"` + strings.Repeat("n", 256) + `","email":"n@example.com","role":"student","allow_marketing_emails":false}`, status: 400, says: "name must be 1 to 255 characters long"},
		requestCase{name: "every mistake is named", body: `{"name":"","email":7,"password":1,"role":"teacher","allow_marketing_emails":"yes","notes":1,"author_revenue_share":1.5,"affiliate_revenue_share":-1,"src":"x"}`, status: 400, golden: "v2/user_mistakes.json"},
		requestCase{name: "no body", status: 400, says: `"message":"name is required; it must be a string; email is required; it must be a string; role is required; it must be student, owner, author or affiliate"`},
	),
	versionTwo("updateUser",
		requestCase{name: "no body", values: "user_id=2", says: `"id":2,`},
		requestCase{name: "a name and consent", values: "user_id=2", body: `{"name":"Mira Kolb","allow_marketing_emails":true}`, says: `"name":"Mira Kolb"`},
		requestCase{name: "what is the same", values: "user_id=1", body: `{"email":"head@example.com","role":"owner"}`, says: `"role":"owner"`},
		requestCase{name: "an address", values: "user_id=2", body: `{"email":"Mira.Kolb@example.com","role":"author","author_revenue_share":0.5}`, says: `"email":"Mira.Kolb@example.com","name":"Mira Kolb","phone_number":null,"role":"author","author_bio_id":`},
		requestCase{name: "nothing by null", values: "user_id=2", body: `{"email":null,"password":null,"role":null,"author_revenue_share":null}`, says: `"email":"Mira.Kolb@example.com"`},
		requestCase{name: "an address that is taken", values: "user_id=2", body: `{"email":"OLU@example.com"}`, status: 409, says: `{"code":"email_taken","message":"user 4 already has this email address"`},
		requestCase{name: "the share of another role", values: "user_id=2", body: `{"role":"student","author_revenue_share":0.5}`, status: 422, says: "author_revenue_share must be left out unless role is author"},
		requestCase{name: "an owner", values: "user_id=1", body: `{"email":"other@example.com","password":"four unrelated words","role":"student"}`, status: 422, golden: "v2/user_owner.json"},
		requestCase{name: "somebody with a role of the school", values: "user_id=4", body: `{"role":"student"}`, status: 422, says: "role of a user with the role tutor cannot be changed with an API key"},
		requestCase{name: "an owner's name", values: "user_id=1", body: `{"name":null}`, says: `"name":""`},
		requestCase{name: "to owner", values: "user_id=2", body: `{"role":"owner"}`, status: 422, says: "role must be student, author or affiliate"},
		requestCase{name: "no address", values: "user_id=2", body: `{"email":""}`, status: 422, says: "email must be an email address such as learner@example.com"},
		requestCase{name: "mistakes", values: "user_id=2", body: `{"name":7,"role":"teacher","notes":"x"}`, status: 400, says: `"errors":[{"field":`},
		requestCase{name: "unknown", values: "user_id=999", body: `{}`, status: 404, says: "there is no user 999"},
	),
	own("updateAuthor", requestCase{name: "of nobody", values: "author_id=5", body: `{"user_id":null}`, says: `"user_id":null`}),
	versionTwo("updateUser",
		requestCase{name: "an author without a profile", values: "user_id=2", body: `{"name":"Mira Kolb","role":"author"}`, says: `"role":"author","author_bio_id":null`},
		requestCase{name: "with a share", values: "user_id=2", body: `{"author_revenue_share":0.5}`, says: `"role":"author","author_bio_id":6`},
	),
	[]requestCase{{face: "v1", op: "ShowUser", name: "as version 2 left it", values: "user_id=2", says: `"email":"Mira.Kolb@example.com"`}},
	versionTwo("deleteUser",
		requestCase{name: "an owner", values: "user_id=1", status: 422, says: `{"code":"validation_failed","message":"user_id 1 is an owner of the school; give them another role first"`},
		requestCase{name: "with a subscription", values: "user_id=4", status: 422, says: `cancel it first`},
		requestCase{name: "somebody", values: "user_id=5", says: `{"message":"User 5 is being erased`},
		requestCase{name: "again", values: "user_id=5", status: 404, says: "there is no user 5"},
		requestCase{name: "unknown", values: "user_id=999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "deleteUser", "user_id", ""),
	versionTwo("showUser", requestCase{name: "erased", values: "user_id=5", status: 404, says: "there is no user 5"}),
	versionTwo("listUserQuizResponses", requestCase{name: "of somebody who was erased", values: "user_id=5", status: 404, says: "there is no user 5"}),
	versionTwo("listLectureQuizResponses", requestCase{name: "of somebody who was erased", values: "course_id=1 lecture_id=11 quiz_id=107", says: `{"user":null,"submitted_at":"2024-01-10T12:00:00Z","percent_correct":0}`}),
	[]requestCase{{face: "v1", op: "ShowQuizResponses", name: "of somebody who was erased", values: "course_id=1 lecture_id=11 quiz_id=107", says: `{"student_id":5,"submitted_at":"2024-01-10T12:00:00Z",`}},
	own("listChanges", requestCase{name: "without what somebody answered who was erased", query: "types=quiz_response.updated&limit=100", says: `"user_id":5,"submitted_at":"2024-01-10T12:00:00Z","percent_correct":0,"correct":0,"answered":1,"total":1,"answers":null,`}),
	versionTwo("listUsers",
		requestCase{name: "without who was erased", query: "user_id=5", says: `"total_count":0}`},
		requestCase{name: "affiliates who are left", query: "role=affiliate", says: `"total_count":1}`},
	),
	versionTwo("updateUser", requestCase{name: "erased", values: "user_id=5", body: `{"name":"x"}`, status: 404, says: "there is no user 5"}),
	versionTwo("createUser", requestCase{name: "with the address of somebody who was erased", body: `{"name":"Pia","email":"pia@example.com","role":"student","allow_marketing_emails":false}`, says: `"email":"pia@example.com","name":"Pia"`}),
	[]requestCase{
		{face: "v1", op: "ShowUser", name: "erased", values: "user_id=5", status: 404, says: "there is no user 5"},
		{face: "v1", op: "EnrollUser", name: "erased", body: `{"user_id":5,"course_id":1}`, status: 404, says: "there is no user 5"},
		{face: "v1", op: "ListUsers", name: "without who was erased", query: "search_after=4&per=1", says: `{"users":[{`},
	},
)

// TestAccountsWantAPermission checks that a key without the permission can change what is not
// an account, but nobody's email address, password or role, and that what such a change ends is
// gone.
func TestAccountsWantAPermission(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		_, plain, err := k.options.Keys.Create(t.Context(), lyceum.By{School: k.ours.id, Actor: "test"}, "plain", lyceum.Read|lyceum.Write, access.NewEntropy())
		if err != nil {
			t.Fatal(err)
		}
		change := func(key, body string) (int, string) {
			w := k.do(request(http.MethodPatch, "/v2/users/2", strings.NewReader(body), "apiKey: "+key, "Content-Type: application/json"))
			return w.Code, w.Body.String()
		}
		for _, body := range []string{`{"email":"else@example.com"}`, `{"password":"four unrelated words"}`, `{"role":"affiliate"}`} {
			if status, text := change(plain, body); status != http.StatusForbidden || !strings.Contains(text, "this API key does not have accounts permission (it has: read,write)") {
				t.Errorf("%s: %d %s", body, status, text)
			}
		}
		if status, text := change(plain, `{"name":"Mira","email":"mira@example.com","role":"student"}`); status != http.StatusOK {
			t.Errorf("what is no change of an account: %d %s", status, text)
		}
		me := func() int {
			return k.do(request(http.MethodGet, "/v2/current_user/me", nil, "Authorization: bearer "+k.tokens[bearer{k.ours, mira, lyceum.V2}])).Code
		}
		if got := me(); got != http.StatusOK {
			t.Fatalf("before: %d", got)
		}
		if status, text := change(k.ours.key, `{"password":"four unrelated words"}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		if got := me(); got != http.StatusUnauthorized {
			t.Errorf("an app afterwards: %d", got)
		}
		in, err := k.accounts.SignIn(t.Context(), access.Attempt{School: k.ours.id, Email: "mira@example.com", Password: "four unrelated words"})
		if err != nil || in.Session == "" {
			t.Errorf("the new password: %v", err)
		}
	})
}
