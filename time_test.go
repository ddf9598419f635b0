package lyceum_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
)

// timeRows are input times and what they mean. If want is empty, the input is rejected.
var timeRows = []struct{ name, given, want string }{
	{"UTC", "2024-01-31T15:04:05Z", "2024-01-31T15:04:05Z"},
	{"offset zero", "2024-01-31T15:04:05+00:00", "2024-01-31T15:04:05Z"},
	{"unknown local offset", "2024-01-31T15:04:05-00:00", "2024-01-31T15:04:05Z"},
	{"offset ahead", "2024-01-31T15:04:05+02:00", "2024-01-31T13:04:05Z"},
	{"offset behind", "2024-01-31T15:04:05-02:00", "2024-01-31T17:04:05Z"},
	{"offset of half an hour", "2024-01-31T00:00:00+05:30", "2024-01-30T18:30:00Z"},
	{"offset of nearly a day", "2024-01-31T00:00:00+23:59", "2024-01-30T00:01:00Z"},
	{"space where a plus was", "2024-01-31T15:04:05 02:00", "2024-01-31T13:04:05Z"},
	{"space where a plus was, behind a fraction", "2024-01-31T15:04:05.25 05:30", "2024-01-31T09:34:05Z"},
	{"plain day", "2024-01-31", "2024-01-31T00:00:00Z"},
	{"leap day", "2024-02-29", "2024-02-29T00:00:00Z"},
	{"leap day of a century", "2000-02-29T12:00:00Z", "2000-02-29T12:00:00Z"},
	{"tenths are cut", "2024-01-31T15:04:05.9Z", "2024-01-31T15:04:05Z"},
	{"nanoseconds are cut", "2024-01-31T15:04:05.999999999Z", "2024-01-31T15:04:05Z"},
	{"more digits than nanoseconds are cut", "2024-01-31T15:04:05.9999999999999Z", "2024-01-31T15:04:05Z"},
	{"fractions before 1970 are cut backwards", "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"},
	{"year 9999", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
	{"year 1", "0001-01-01", "0001-01-01T00:00:00Z"},
	{"year 10000 that is 9999 in UTC", "9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59Z"},
	{"year 0 that is 1 in UTC", "0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00Z"},

	{"year 10000 in UTC", "9999-12-31T23:59:59-00:01", ""},
	{"year 0", "0000-06-01T00:00:00Z", ""},
	{"year 0, plain day", "0000-06-01", ""},
	{"year 0 in UTC", "0001-01-01T00:00:00+00:01", ""},
	{"five-digit year", "12024-01-31T15:04:05Z", ""},
	{"negative year", "-2024-01-31T15:04:05Z", ""},
	{"no offset", "2024-01-31T15:04:05", ""},
	{"no seconds", "2024-01-31T15:04Z", ""},
	{"day that does not exist", "2024-02-30", ""},
	{"time on a day that does not exist", "2024-02-30T00:00:00Z", ""},
	{"no leap year", "2023-02-29", ""},
	{"century without leap day", "1900-02-29", ""},
	{"month 13", "2024-13-01", ""},
	{"month 0", "2024-00-01T00:00:00Z", ""},
	{"hour 24", "2024-01-31T24:00:00Z", ""},
	{"minute 60", "2024-01-31T15:60:00Z", ""},
	{"leap second", "2016-12-31T23:59:60Z", ""},
	{"comma before the fraction", "2024-01-31T15:04:05,5Z", ""},
	{"point without fraction", "2024-01-31T15:04:05.Z", ""},
	{"hour of one digit", "2024-01-31T5:04:05Z", ""},
	{"day of one digit", "2024-01-3", ""},
	{"offset of one digit", "2024-01-31T15:04:05+2:00", ""},
	{"offset without colon", "2024-01-31T15:04:05+0200", ""},
	{"offset of hours alone", "2024-01-31T15:04:05+02", ""},
	{"offset of 24 hours", "2024-01-31T15:04:05+24:00", ""},
	{"offset of 60 minutes", "2024-01-31T15:04:05+01:60", ""},
	{"two spaces where a plus was", "2024-01-31T15:04:05  02:00", ""},
	// RFC 3339, section 5.6, leaves open whether lower-case letters are accepted.
	{"small t", "2024-01-31t15:04:05Z", ""},
	{"small z", "2024-01-31T15:04:05z", ""},
	{"space for the T", "2024-01-31 15:04:05Z", ""},
	{"space before", " 2024-01-31T15:04:05Z", ""},
	{"space behind", "2024-01-31T15:04:05Z ", ""},
	{"space behind a plain day", "2024-01-31 ", ""},
	{"NUL behind", "2024-01-31T15:04:05Z\x00", ""},
	{"NUL alone", "\x00", ""},
	{"ten NULs", strings.Repeat("\x00", 10), ""},
	{"empty", "", ""},
	{"full-width digits", "２０２４-01-31", ""},
	{"Unix time", "1706713445", ""},
	{"American day", "01/31/2024", ""},
	{"word", "yesterday", ""},
}

func TestParseTime(t *testing.T) {
	for _, tc := range timeRows {
		t.Run(tc.name, func(t *testing.T) {
			got, err := lyceum.ParseTime(tc.given)
			if tc.want == "" {
				wantKind(t, err, lyceum.Invalid)
				const sentence = "must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"
				if detail := lyceum.Public(err).Detail; detail != sentence {
					t.Errorf("refused with %q, want %q", detail, sentence)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := got.Format(time.RFC3339Nano); text != tc.want {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

// rfc3339 matches date-time as in RFC 3339, section 5.6, with upper-case letters. Package time
// checks whether the numbers form a valid time.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`)

func FuzzParseTime(f *testing.F) {
	for _, row := range timeRows {
		f.Add(row.given)
	}
	f.Fuzz(func(t *testing.T, given string) {
		got, err := lyceum.ParseTime(given)
		if err != nil {
			wantKind(t, err, lyceum.Invalid)
			return
		}
		if got.Location() != time.UTC || got.Nanosecond() != 0 || got.Year() < 1 || got.Year() > 9999 {
			t.Fatalf("%q gives %v", given, got)
		}
		again, err := lyceum.ParseTime(string(lyceum.AppendTime(nil, got)))
		if err != nil || !again.Equal(got) {
			t.Fatalf("%q gives %v, and written out again %v, %v", given, got, again, err)
		}
		want, err := time.Parse(time.DateOnly, given)
		if err != nil {
			full := given
			if space := strings.LastIndexByte(given, ' '); space > 0 {
				full = given[:space] + "+" + given[space+1:]
			}
			if !rfc3339.MatchString(full) {
				t.Fatalf("%q is taken as %v", given, got)
			}
			if want, err = time.Parse(time.RFC3339Nano, full); err != nil {
				t.Fatalf("%q is taken as %v: %v", given, got, err)
			}
		}
		if !got.Equal(want.Truncate(time.Second)) {
			t.Fatalf("%q gives %v, want %v", given, got, want)
		}
	})
}

// The first and the last second that can be written.
var (
	firstSecond = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

func TestAppendTimeIsFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(firstSecond, lastSecond).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond"))
		zone := time.FixedZone("", rapid.IntRange(-86399, 86399).Draw(t, "offset"))
		got := string(lyceum.AppendTime([]byte("at "), at.In(zone)))
		if want := "at " + at.UTC().Format("2006-01-02T15:04:05Z"); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestAppendTimeOfEveryDay(t *testing.T) {
	var got, want []byte
	for at := firstSecond; at <= lastSecond; at += 24 * 60 * 60 {
		day := time.Unix(at, 0).UTC()
		got, want = lyceum.AppendTime(got[:0], day), day.AppendFormat(want[:0], "2006-01-02T15:04:05Z")
		if !bytes.Equal(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestSecondCutsAndIsUTC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(firstSecond, lastSecond).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond"))
		got := lyceum.Second(at.In(time.FixedZone("", 3600)))
		if got.Location() != time.UTC || got.Nanosecond() != 0 || got.After(at) || at.Sub(got) >= time.Second {
			t.Fatalf("%v is cut to %v", at, got)
		}
	})
}
