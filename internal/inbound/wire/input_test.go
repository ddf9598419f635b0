package wire

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func inputOf(body string) *Input {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return &Input{request: r}
}

// TestKnownMembers checks that every member that was not asked for is rejected.
func TestKnownMembers(t *testing.T) {
	for body, want := range map[string]string{
		`{"user_id":1}`:                   "",
		`{}`:                              "",
		`{"user_id":1,"price":2}`:         "price is not accepted here; accepted: user_id, course_id",
		`{"user_id":1,"a strange one":2}`: "a member of the body is not accepted here; accepted: user_id, course_id",
	} {
		in := inputOf(body)
		in.Body("user_id")
		in.Body("course_id")
		in.refuseOthers()
		got := ""
		if err := in.Err(); err != nil {
			got = strings.TrimPrefix(err.Error(), "the request is invalid: ")
		}
		if in.body.failure != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", body, got, in.body.failure, want)
		}
	}
}

// TestUnknownMembersInOneOrder checks that the same body is always rejected with the same
// message.
func TestUnknownMembersInOneOrder(t *testing.T) {
	t.Parallel()
	const body = `{"zebra":1,"user_id":1,"cost":2,"mango":3,"apple":4}`
	for range 50 {
		in := inputOf(body)
		in.Body("user_id")
		in.refuseOthers()
		var names []string
		for _, f := range lyceum.Public(in.Err()).Fields {
			names = append(names, f.Field)
		}
		if got := strings.Join(names, " "); got != "apple cost mango zebra" {
			t.Fatalf("refused in the order %q, want that of the names", got)
		}
	}
}

// TestHalvesOfCharacters checks that half of a surrogate pair is rejected wherever it is in a
// member, and that everything else that looks like one is accepted.
func TestHalvesOfCharacters(t *testing.T) {
	t.Parallel()
	for value, half := range map[string]string{
		`"\ud83d\ude00"`:         "",
		`"\\ud83d"`:              "",
		`"\u00e9\n\ud83d\ude00"`: "",
		`"\ud83d"`:               `\ud83d`,
		`"\uDE00"`:               `\uDE00`,
		`"\\\ud800"`:             `\ud800`,
		`"\ud83d\u0041"`:         `\ud83d`,
		`"\ud83d\nude00"`:        `\ud83d`,
		`"\ud83d\ud83d\ude00"`:   `\ud83d`,
		`{"a":["b","\udbff"]}`:   `\udbff`,
	} {
		want := ""
		if half != "" {
			want = "text must be UTF-8 text: " + half + " is half of a character"
		}
		_, err := object([]byte(`{"first":"\ud83d\ude00","text":` + value + `}`))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "the request is invalid: ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// FuzzBody checks that whatever is accepted as an object is one, and means what encoding/json
// reads.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"user_id":1}`, `{"user_id":"2","email":"a"}`, `{}`, `[]`, `{"a":1}{}`, `{"user_id":1,"user_id":2}`, "{\"email\":\"\\ud800\"}", `{"user_id":1e3}`, `{"user_id":-0}`, `{"user_id":" 1"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		in := inputOf(body)
		id, text := ID[lyceum.UserID](in.Body("user_id").Required()).Value, in.Body("email").Text(0, Unbounded)
		if in.Err() != nil {
			return
		}
		var same struct {
			UserID json.RawMessage `json:"user_id"`
			Email  *string         `json:"email"`
		}
		if err := json.Unmarshal([]byte(body), &same); err != nil {
			t.Fatalf("%q is taken, and is no JSON: %v", body, err)
		}
		if digits := strings.Trim(string(same.UserID), `"`); id < 1 || strings.Trim(digits, "0123456789") != "" {
			t.Errorf("%q gives the id %d", body, id)
		}
		if (same.Email != nil) != text.Present || text.Present && *same.Email != text.Value {
			t.Errorf("%q gives the text %+v", body, text)
		}
	})
}
