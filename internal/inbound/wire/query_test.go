package wire

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

func TestParseQuery(t *testing.T) {
	for _, tc := range []struct {
		raw  string
		want []pair
	}{
		{"", nil},
		{"&&", nil},
		{"page=2", []pair{{"page", "2"}}},
		{"page=2&", []pair{{"page", "2"}}},
		{"page", []pair{{"page", ""}}},
		{"page=", []pair{{"page", ""}}},
		{"=2", []pair{{"", "2"}}},
		{"a=1=2", []pair{{"a", "1=2"}}},
		{"b=1&a=2&b=3", []pair{{"b", "1"}, {"a", "2"}, {"b", "3"}}},
		{"a+b=c+d", []pair{{"a b", "c d"}}},
		{"%61=%C3%A9%2b%26", []pair{{"a", "é+&"}}},
		{"a=%00", []pair{{"a", "\x00"}}},
		{"a=%fF", []pair{{"a", "\xff"}}},
		{"a=%25zz", []pair{{"a", "%zz"}}},
		// WHATWG URL has only one separator; net/url rejects a semicolon.
		{"a=1;b=2", []pair{{"a", "1;b=2"}}},
	} {
		got, err := ParseQuery(tc.raw)
		if err != nil || !slices.Equal(got.pairs, tc.want) {
			t.Errorf("%q gives %q, %v; want %q", tc.raw, got.pairs, err, tc.want)
		}
	}
}

func TestR14BadPercentEncoding(t *testing.T) {
	const tail = " a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25"
	for _, tc := range []struct{ raw, want string }{
		{"page=%", "page has" + tail},
		{"page=%4", "page has" + tail},
		{"page=%z", "page has" + tail},
		{"page=%zz", "page has" + tail},
		{"page=%4z", "page has" + tail},
		{"page=%z4", "page has" + tail},
		{"page=1%", "page has" + tail},
		{"page=%%31", "page has" + tail},
		{"page=%u0031", "page has" + tail},
		{"page=%+1", "page has" + tail},
		{"per=5&page=%&page=1", "page has" + tail},
		// Also for a parameter that is not asked for: it may be a misspelled one.
		{"foo=%", "foo has" + tail},
		{"%=1", "the query string has a parameter name with" + tail},
		{"pa%zzge=1", "the query string has a parameter name with" + tail},
		{"%zz", "the query string has a parameter name with" + tail},
		// A name that a stranger chose is not repeated in a message.
		{"%3Cscript%3E=%", "a parameter of the query string has" + tail},
		{"lyceum_key_1_0aBc=%", "a parameter of the query string has" + tail},
		{strings.Repeat("a", 41) + "=%", "a parameter of the query string has" + tail},
		{"=%", "a parameter of the query string has" + tail},
	} {
		got, err := ParseQuery(tc.raw)
		if err == nil || lyceum.KindOf(err) != lyceum.Invalid || len(got.pairs) > 0 {
			t.Errorf("%q gives %q, %v; want a refusal", tc.raw, got.pairs, err)
			continue
		}
		if diff := cmp.Diff([]string{tc.want}, lyceum.Public(err).Sentences()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.raw, diff)
		}
	}
}

// FuzzParseQuery compares the parser with net/url's, which additionally rejects semicolons and
// more than 10,000 parameters.
func FuzzParseQuery(f *testing.F) {
	for _, raw := range []string{
		"", "page=2&per=5", "a=1&a=2&&b", "a+b=%20%2B", "a=%", "%zz=1", "=1&=", "a;b=1", "a=%00%ff", "é=ü", "a==&=a", "%4",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		want, refused := url.ParseQuery(raw)
		got, err := ParseQuery(raw)
		if strings.Contains(raw, ";") || strings.Count(raw, "&") >= 9999 {
			return
		}
		if (err != nil) != (refused != nil) {
			t.Fatalf("%q: %v; net/url says %v", raw, err, refused)
		}
		if err != nil {
			if lyceum.KindOf(err) != lyceum.Invalid {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		values := url.Values{}
		for _, p := range got.pairs {
			values.Add(p.name, p.value)
		}
		if diff := cmp.Diff(want, values); diff != "" {
			t.Fatalf("%q (-net/url +got):\n%s", raw, diff)
		}
	})
}
