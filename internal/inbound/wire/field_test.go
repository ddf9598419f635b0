package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// The messages name the parameter and say what it accepts.
const (
	anyInteger = "v must be an integer from -2147483648 to 2147483647"
	fromOne    = "v must be an integer from 1 to 2147483647"
	trueFalse  = "v must be true or false (or 1 or 0)"
	aTime      = "v must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"
	once       = "v must be sent once"
	direction  = "v must be asc or desc"
)

// The binders of each type, with their value as text; nil for an absent parameter.
var bindings = map[string]func(wire.Field) any{
	"integer":  func(f wire.Field) any { return value(wire.AnyInt[int32](f)) },
	"from one": func(f wire.Field) any { return value(wire.Amount[int32](f, 1)) },
	"boolean":  func(f wire.Field) any { return value(f.Bool()) },
	"time":     func(f wire.Field) any { return value(f.Time()) },
	"one of":   func(f wire.Field) any { return value(wire.OneOf(f, "asc", "desc")) },
}

func value[T comparable](o lyceum.Opt[T]) any {
	if !o.Present {
		return nil
	}
	return o.Value
}

// queried returns the Input of a request with a raw query string.
func queried(t *testing.T, raw string) *wire.Input {
	t.Helper()
	in, err := wire.NewInput(&http.Request{URL: &url.URL{RawQuery: raw}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestR14Binder(t *testing.T) {
	day := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
	afternoon := time.Date(2024, 1, 31, 15, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		binding, raw string
		want         any    // nil: absent or rejected
		sentence     string // empty: not rejected
	}{
		{"integer", "", nil, ""},
		{"integer", "w=7", nil, ""},
		{"integer", "V=7", nil, ""},
		{"integer", "v=0", int32(0), ""},
		{"integer", "v=7", int32(7), ""},
		{"integer", "%76=%37", int32(7), ""},
		{"integer", "v=-1", int32(-1), ""},
		{"integer", "v=2147483647", int32(2147483647), ""},
		{"integer", "v=-2147483648", int32(-2147483648), ""},
		{"integer", "v=2147483648", nil, anyInteger},
		{"integer", "v=-2147483649", nil, anyInteger},
		{"integer", "v=9223372036854775807", nil, anyInteger},
		{"integer", "v=9223372036854775808", nil, anyInteger},
		{"integer", "v=18446744073709551617", nil, anyInteger}, // 2^64+1
		{"integer", "v=4294967297", nil, anyInteger},           // 2^32+1
		{"integer", "v=1e9", nil, anyInteger},
		{"integer", "v=1.0", nil, anyInteger},
		{"integer", "v=0x10", nil, anyInteger},
		{"integer", "v=1_000", nil, anyInteger},
		{"integer", "v=1,000", nil, anyInteger},
		{"integer", "v=%201", nil, anyInteger},
		{"integer", "v=1%20", nil, anyInteger},
		{"integer", "v=+5", nil, anyInteger},   // a space
		{"integer", "v=%2B5", nil, anyInteger}, // a plus
		{"integer", "v=%EF%BC%91", nil, anyInteger},
		{"integer", "v=１", nil, anyInteger},
		{"integer", "v=%D9%A1", nil, anyInteger},     // Arabic one
		{"integer", "v=%E2%88%921", nil, anyInteger}, // minus sign
		{"integer", "v=--1", nil, anyInteger},
		{"integer", "v=-", nil, anyInteger},
		{"integer", "v=%2B", nil, anyInteger},
		{"integer", "v", nil, anyInteger},
		{"integer", "v=", nil, anyInteger},
		{"integer", "v=%00", nil, anyInteger},
		{"integer", "v=1%00", nil, anyInteger},
		{"integer", "v=%001", nil, anyInteger},
		{"integer", "v=abc", nil, anyInteger},
		{"integer", "v=null", nil, anyInteger},
		{"integer", "v=NaN", nil, anyInteger},
		{"integer", "v=%ff", nil, anyInteger},
		{"integer", "v=1&v=1", nil, once},
		{"integer", "v=1&v=", nil, once},
		{"integer", "v=1&v=2&v=3", nil, once},
		{"integer", "v=1&%76=1", nil, once},
		{"integer", "v[]=1", nil, ""}, // another parameter

		{"from one", "v=1", int32(1), ""},
		{"from one", "v=400000000", int32(400_000_000), ""},
		{"from one", "v=2147483647", int32(2147483647), ""},
		{"from one", "v=0", nil, fromOne},
		{"from one", "v=-1", nil, fromOne},
		{"from one", "v=2147483648", nil, fromOne},
		{"from one", "v=9223372036854775808", nil, fromOne},
		{"from one", "v=1e9", nil, fromOne},
		{"from one", "v=+1", nil, fromOne},
		{"from one", "v=", nil, fromOne},
		{"from one", "v=1&v=1", nil, once},

		{"boolean", "", nil, ""},
		{"boolean", "v=true", true, ""},
		{"boolean", "v=false", false, ""},
		{"boolean", "v=1", true, ""},
		{"boolean", "v=0", false, ""},
		{"boolean", "v=TRUE", nil, trueFalse},
		{"boolean", "v=True", nil, trueFalse},
		{"boolean", "v=t", nil, trueFalse},
		{"boolean", "v=yes", nil, trueFalse},
		{"boolean", "v=on", nil, trueFalse},
		{"boolean", "v=2", nil, trueFalse},
		{"boolean", "v=-1", nil, trueFalse},
		{"boolean", "v=00", nil, trueFalse},
		{"boolean", "v=+true", nil, trueFalse},
		{"boolean", "v=", nil, trueFalse},
		{"boolean", "v", nil, trueFalse},
		{"boolean", "v=%00", nil, trueFalse},
		{"boolean", "v=null", nil, trueFalse},
		{"boolean", "v=true&v=true", nil, once},
		{"boolean", "v=true&v=false", nil, once},

		{"time", "", nil, ""},
		{"time", "v=2024-01-31", day, ""},
		{"time", "v=2024-01-31T15:04:05Z", afternoon, ""},
		{"time", "v=2024-01-31T17:04:05%2B02:00", afternoon, ""},
		{"time", "v=2024-01-31T17:04:05+02:00", afternoon, ""}, // arrives as a space
		{"time", "v=2024-01-31T15%3A04%3A05.9Z", afternoon, ""},
		{"time", "v=2024-02-30", nil, aTime},
		{"time", "v=2024-01-31T24:00:00Z", nil, aTime},
		{"time", "v=2024-01-31T15:04:05", nil, aTime},
		{"time", "v=0000-01-01T00:00:00Z", nil, aTime},
		{"time", "v=1706713445", nil, aTime},
		{"time", "v=", nil, aTime},
		{"time", "v=%00", nil, aTime},
		{"time", "v=now", nil, aTime},
		{"time", "v=2024-01-31&v=2024-01-31", nil, once},

		{"one of", "", nil, ""},
		{"one of", "v=asc", "asc", ""},
		{"one of", "v=desc", "desc", ""},
		{"one of", "v=ASC", nil, direction},
		{"one of", "v=ascending", nil, direction},
		{"one of", "v=", nil, direction},
		{"one of", "v=%00", nil, direction},
		{"one of", "v=asc&v=asc", nil, once},
	} {
		t.Run(tc.binding+" "+tc.raw, func(t *testing.T) {
			in := queried(t, tc.raw)
			got := bindings[tc.binding](in.Query("v"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
			wantSentences(t, in.Err(), tc.sentence)
		})
	}
}

// wantSentences compares an error with the sentences it must have; none, or a single empty one,
// means that there must be no error.
func wantSentences(t *testing.T, err error, want ...string) {
	t.Helper()
	if strings.Join(want, "") == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("not refused, want %q", want)
	}
	if kind := lyceum.KindOf(err); kind != lyceum.Invalid {
		t.Errorf("refused as %v", kind)
	}
	if diff := cmp.Diff(want, lyceum.Public(err).Sentences()); diff != "" {
		t.Errorf("sentences differ (-want +got):\n%s", diff)
	}
}

func TestBinderNamesEveryMistake(t *testing.T) {
	in := queried(t, "page=x&ok=1&start=never&per=0&is_chargeback=maybe&page=y")
	if ok := wire.AnyInt[int32](in.Query("ok")); ok != lyceum.Some[int32](1) {
		t.Errorf("the good one gives %v", ok)
	}
	wire.Amount[int32](in.Query("page"), 1)
	wire.Amount[int32](in.Query("per"), 1)
	in.Query("start").Time()
	in.Query("is_chargeback").Bool()
	wantSentences(t, in.Err(),
		"page must be sent once",
		"per must be an integer from 1 to 2147483647",
		"start must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31",
		"is_chargeback must be true or false (or 1 or 0)")
}

// TestRequiredFields checks that every function that binds a member refuses a required one that
// is absent or null.
func TestRequiredFields(t *testing.T) {
	for name, bind := range map[string]func(wire.Field){
		"integer":  func(f wire.Field) { wire.AnyInt[int32](f) },
		"number":   func(f wire.Field) { f.Number(0, 100) },
		"fraction": func(f wire.Field) { f.Fraction(0.5) },
		"boolean":  func(f wire.Field) { f.Bool() },
		"text":     func(f wire.Field) { f.Text(1, 5) },
		"time":     func(f wire.Field) { f.Time() },
		"zone":     func(f wire.Field) { f.TimeZone() },
		"one of":   func(f wire.Field) { wire.OneOf(f, "asc", "desc") },
		"list":     func(f wire.Field) { wire.Sequence[string](f, "strings") },
		"object":   func(f wire.Field) { f.Object() },
	} {
		for _, body := range []string{`{}`, `{"v":null}`} {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			in, err := wire.NewInput(r)
			if err != nil {
				t.Fatal(err)
			}
			if bind(in.Body("v").Required()); in.Err() == nil {
				t.Errorf("%s: %s is accepted", name, body)
			}
		}
	}
}

func FuzzBinder(f *testing.F) {
	for _, raw := range []string{
		"i=7&b=true&t=2024-01-31&o=asc", "i=2147483648", "i=%00", "i=１", "b=1&b=1", "t=2024-01-31T15:04:05+02:00", "i=+5", "i=-0", "o=", "i=007", "%69=1", "i=%",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		in, err := wire.NewInput(&http.Request{URL: &url.URL{RawQuery: raw}})
		if err != nil {
			return
		}
		i, b, at := wire.AnyInt[int32](in.Query("i")), in.Query("b").Bool(), in.Query("t").Time()
		o := wire.OneOf(in.Query("o"), "asc", "desc")
		given, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		wrong := 0
		for name, got := range map[string]any{"i": value(i), "b": value(b), "t": value(at), "o": value(o)} {
			text := given.Get(name)
			if got == nil {
				if given.Has(name) {
					wrong++
				}
				continue
			}
			if len(given[name]) != 1 {
				t.Fatalf("%q: %s is %v", raw, name, got)
			}
			var same bool
			switch got := got.(type) {
			case int32:
				exact, err := strconv.Atoi(text)
				same = err == nil && exact == int(got)
			case bool:
				same = slices.Contains(map[bool][]string{true: {"true", "1"}, false: {"false", "0"}}[got], text)
			case time.Time:
				want, err := lyceum.ParseTime(text)
				same = err == nil && want.Equal(got)
			case string:
				same = text == got && (got == "asc" || got == "desc")
			}
			if !same {
				t.Fatalf("%q: %s is %v", raw, name, got)
			}
		}
		if (in.Err() != nil) != (wrong > 0) || wrong > 0 && len(lyceum.Public(in.Err()).Sentences()) != wrong {
			t.Fatalf("%q: %v, with %d mistakes", raw, in.Err(), wrong)
		}
	})
}

func TestServePassesWhatWasBound(t *testing.T) {
	var bound []int32
	endpoint := wire.Serve(
		func(in *wire.Input) int32 { return wire.AnyInt[int32](in.Query("n")).Value },
		func(_ context.Context, by lyceum.By, n int32) (wire.JSON, error) {
			bound = append(bound, n)
			if n == 13 {
				return wire.JSON{}, errors.New("unlucky")
			}
			return wire.JSON{Value: fmt.Sprintf("school %d has %d", by.School, n)}, nil
		})
	get := func(query string) (string, error) {
		body, err := endpoint(t.Context(), wire.Principal{By: lyceum.By{School: 3}}, httptest.NewRequest(http.MethodGet, "/?"+query, nil))
		if err != nil {
			return "", err
		}
		text, err := body.AppendJSON([]byte("> "))
		return string(text), err
	}
	if got, err := get("n=7"); got != `> "school 3 has 7"` || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := get("n=13"); err == nil || err.Error() != "unlucky" {
		t.Errorf("an answer that fails: %v", err)
	}
	for _, query := range []string{"n=x", "n=%", "n=1&n=1"} {
		if _, err := get(query); lyceum.KindOf(err) != lyceum.Invalid {
			t.Errorf("%s: %v", query, err)
		}
	}
	if want := []int32{7, 13}; !slices.Equal(bound, want) {
		t.Errorf("the answer was asked for %v, want %v", bound, want)
	}
}
