package lyceum_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

func wantKind(t testing.TB, err error, want lyceum.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", want)
	}
	if got := lyceum.KindOf(err); got != want {
		t.Fatalf("%v error %q, want %v", got, err, want)
	}
}

func TestParseCurrency(t *testing.T) {
	for _, tc := range []struct {
		given string
		want  lyceum.Currency // empty: rejected
	}{
		{"USD", "USD"},
		{"usd", "USD"},
		{"jPy", "JPY"},
		{"XXX", "XXX"},
		{"ZZZ", "ZZZ"},
		{"", ""},
		{"US", ""},
		{"USDT", ""},
		{"US ", ""},
		{" USD", ""},
		{"U5D", ""},
		{"US$", ""},
		{"@AZ", ""},
		{"[az", ""},
		{"`az", ""},
		{"{az", ""},
		{"é1", ""},
		{"\x00\x00\x00", ""},
		{"ＵＳＤ", ""},
		{`"}{`, ""},
	} {
		got, err := lyceum.ParseCurrency(tc.given)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%q gives %q, %v; want %q", tc.given, got, err, tc.want)
		}
		if err != nil {
			wantKind(t, err, lyceum.Invalid)
		}
	}
}

func FuzzParseCurrency(f *testing.F) {
	for _, text := range []string{"USD", "eur", "", "U$D", "ＵＳＤ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := lyceum.ParseCurrency(text)
		if (err == nil) != (got != "") {
			t.Fatalf("%q gives %q, %v", text, got, err)
		}
		// The faces write currencies into JSON without escaping.
		if err == nil && (len(got) != 3 || strings.Trim(string(got), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || !strings.EqualFold(string(got), text)) {
			t.Fatalf("%q gives %q", text, got)
		}
	})
}

func TestParsePermissions(t *testing.T) {
	for _, tc := range []struct {
		given string
		want  lyceum.Permissions // 0: rejected
	}{
		{"read", lyceum.Read},
		{"write", lyceum.Write},
		{"read,write", lyceum.Read | lyceum.Write},
		{"write, read", lyceum.Read | lyceum.Write},
		{" read ", lyceum.Read},
		{"read,read", lyceum.Read},
		{"", 0},
		{",", 0},
		{"read,", 0},
		{"Read", 0},
		{"readwrite", 0},
		{"read write", 0},
		{"admin", 0},
		{"read,admin", 0},
		{"1", 0},
	} {
		got, err := lyceum.ParsePermissions(tc.given)
		if got != tc.want || (err == nil) != (tc.want != 0) {
			t.Errorf("%q gives %q, %v; want %q", tc.given, got, err, tc.want)
		}
		if err != nil {
			wantKind(t, err, lyceum.Invalid)
			continue
		}
		if again, err := lyceum.ParsePermissions(got.String()); again != got || err != nil {
			t.Errorf("%q is written %q, which is %q, %v", tc.given, got.String(), again, err)
		}
	}
}

func TestPermissionsAllow(t *testing.T) {
	both := lyceum.Read | lyceum.Write
	for _, tc := range []struct {
		has, need lyceum.Permissions
		want      bool
	}{
		{lyceum.Read, lyceum.Read, true},
		{lyceum.Write, lyceum.Read, false},
		{lyceum.Read, lyceum.Write, false},
		{both, lyceum.Read, true},
		{both, lyceum.Write, true},
		{both, both, true},
		{lyceum.Read, both, false},
		{0, lyceum.Read, false},
	} {
		if got := tc.has.Allows(tc.need); got != tc.want {
			t.Errorf("%q allows %q: %t", tc.has, tc.need, got)
		}
	}
}

func TestEveryKindHasItsOwnName(t *testing.T) {
	kinds := lyceum.Kinds()
	if len(kinds) == 0 || kinds[0] != lyceum.Internal {
		t.Fatalf("kinds are %v; the zero Kind must be Internal", kinds)
	}
	names := map[string]lyceum.Kind{}
	for _, kind := range kinds {
		name := kind.String()
		if other, taken := names[name]; taken || name == "" || name == "unknown kind" {
			t.Errorf("kind %d is named %q like kind %d", kind, name, other)
		}
		names[name] = kind
	}
	if got := (kinds[len(kinds)-1] + 1).String(); got != "unknown kind" {
		t.Errorf("what is no kind is named %q", got)
	}
}

func TestPublicHidesWhatIsNotMeantForTheCaller(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7:5432: password authentication failed for user lyceum")
	public := lyceum.Public(fmt.Errorf("find transactions: %w", cause))
	if public.Kind != lyceum.Internal || strings.Join(public.Sentences(), "") != "internal error" {
		t.Errorf("the caller learns %v: %q", public.Kind, public.Sentences())
	}
	if !errors.Is(public, cause) {
		t.Error("the log does not learn the cause")
	}
	if got := lyceum.KindOf(cause); got != lyceum.Internal {
		t.Errorf("an error of no kind is %v", got)
	}

	meant := &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the database is busy; try again", Err: cause}
	if got := lyceum.Public(fmt.Errorf("save: %w", meant)); got != meant {
		t.Errorf("a wrapped error for the caller comes out as %v", got)
	}
	if got := meant.Sentences(); !slices.Equal(got, []string{"the database is busy; try again"}) {
		t.Errorf("the caller learns %q", got)
	}
	if !strings.Contains(meant.Error(), cause.Error()) {
		t.Errorf("the log reads %q, without the cause", meant.Error())
	}
}

func TestErrorTexts(t *testing.T) {
	page := lyceum.FieldError{Field: "page", Message: "must be an integer from 1 to 100"}
	per := lyceum.FieldError{Field: "per", Message: "must be sent once"}
	for _, tc := range []struct {
		name      string
		err       *lyceum.Error
		text      string
		sentences []string
	}{
		{
			"detail", lyceum.Errorf(lyceum.NotFound, "there is no school %d", 7),
			"there is no school 7",
			[]string{"there is no school 7"},
		},
		{"invalid", lyceum.Invalidf("no %s", "way"), "no way", []string{"no way"}},
		{
			"one field", lyceum.InvalidFields(page),
			"the request is invalid: page must be an integer from 1 to 100",
			[]string{"page must be an integer from 1 to 100"},
		},
		{
			"two fields", lyceum.InvalidFields(page, per),
			"the request is invalid: page must be an integer from 1 to 100; per must be sent once",
			[]string{"page must be an integer from 1 to 100", "per must be sent once"},
		},
		{"kind alone", &lyceum.Error{Kind: lyceum.NotFound}, "not found", []string{"not found"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.text {
				t.Errorf("text %q, want %q", got, tc.text)
			}
			if diff := cmp.Diff(tc.sentences, tc.err.Sentences()); diff != "" {
				t.Errorf("sentences differ (-want +got):\n%s", diff)
			}
		})
	}
	if kind := lyceum.InvalidFields(page).Kind; kind != lyceum.Invalid {
		t.Errorf("wrong fields are %v", kind)
	}
}

func TestOptIsComparedByPresenceAndValue(t *testing.T) {
	if lyceum.Some(0) == lyceum.None[int]() || lyceum.Some(1) == lyceum.Some(2) || lyceum.Some("a") != lyceum.Some("a") {
		t.Error("presence or value does not count")
	}
	if lyceum.None[int]() != (lyceum.Opt[int]{}) || lyceum.None[int]().Present || !lyceum.Some(0).Present {
		t.Error("the zero Opt is not the absent one")
	}
}

func TestWithoutProblems(t *testing.T) {
	batch := []string{"a", "b", "c", "d"}
	problem := func(index int) lyceum.RowProblem { return lyceum.RowProblem{Index: index} }
	for _, tc := range []struct {
		problems []lyceum.RowProblem
		want     []string
	}{
		{nil, batch},
		{[]lyceum.RowProblem{problem(1)}, []string{"a", "c", "d"}},
		{[]lyceum.RowProblem{problem(3), problem(0), problem(3)}, []string{"b", "c"}},
		{[]lyceum.RowProblem{problem(0), problem(1), problem(2), problem(3)}, []string{}},
	} {
		if diff := cmp.Diff(tc.want, lyceum.WithoutProblems(batch, tc.problems)); diff != "" {
			t.Errorf("problems %v (-want +got):\n%s", tc.problems, diff)
		}
	}
	if !slices.Equal(batch, []string{"a", "b", "c", "d"}) {
		t.Errorf("the batch itself became %v", batch)
	}
}

func TestSavedAddsUp(t *testing.T) {
	sum := lyceum.Saved{Created: 1, Updated: 2, Unchanged: 3}
	sum.Add(lyceum.Saved{Created: 10, Updated: 20, Unchanged: 30})
	if want := (lyceum.Saved{Created: 11, Updated: 22, Unchanged: 33}); sum != want || sum.Total() != 66 {
		t.Errorf("got %+v, together %d", sum, sum.Total())
	}
}
