package apiv2_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv2"
)

func TestEveryKindHasAStatusAndACode(t *testing.T) {
	want := map[lyceum.Kind]int{
		lyceum.Internal: 500, lyceum.Invalid: 400, lyceum.Unauthenticated: 401, lyceum.Forbidden: 403, lyceum.NotFound: 404,
		lyceum.Conflict: 409, lyceum.TooLarge: 413, lyceum.RateLimited: 429, lyceum.Unavailable: 503,
	}
	codes := map[string]bool{}
	for _, kind := range lyceum.Kinds() {
		status, body := apiv2.New(apiv2.Rules{}, nil).Failure(lyceum.Errorf(kind, "this & that"), "")
		if status != want[kind] || status == 0 {
			t.Errorf("%v is %d, want %d", kind, status, want[kind])
		}
		text, err := body.AppendJSON(nil)
		if err != nil || len(text) == 0 || codes[string(text)] {
			t.Errorf("%v is said as %s, %v", kind, text, err)
		}
		codes[string(text)] = true
	}
}

func TestFieldsAreNamed(t *testing.T) {
	_, body := apiv2.New(apiv2.Rules{}, nil).Failure(lyceum.InvalidFields(lyceum.FieldError{Field: "page", Message: "is odd"}, lyceum.FieldError{Field: "per_page", Message: "is even"}), "")
	const want = `{"code":"invalid_request","message":"page is odd; per_page is even","errors":[{"field":"page","message":"is odd"},{"field":"per_page","message":"is even"}]}`
	if text, err := body.AppendJSON(nil); err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}

func TestWhatARuleRefusesIs422(t *testing.T) {
	status, body := apiv2.New(apiv2.Rules{}, nil).Failure(&lyceum.Error{Kind: lyceum.Invalid, Code: "validation_failed", Detail: "too late"}, "")
	const want = `{"code":"validation_failed","message":"too late","errors":[]}`
	if text, err := body.AppendJSON(nil); err != nil || string(text) != want || status != 422 {
		t.Errorf("got %d %s, %v; want %s", status, text, err, want)
	}
}
