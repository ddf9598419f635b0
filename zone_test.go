package lyceum_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

func TestTimeZone(t *testing.T) {
	for _, good := range []lyceum.TimeZone{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Kolkata", "GMT"} {
		if err := good.Check(); err != nil {
			t.Errorf("%s is refused: %v", good, err)
		}
	}
	for _, bad := range []lyceum.TimeZone{
		"", "Local", "localtime", "Factory", "posix/Europe/Berlin", "right/Europe/Berlin", "posixrules", "Europe/Atlantis",
		"../etc/passwd", "/Europe/Berlin", "Europe/", "europe berlin", "+02:00", "CEST", "Europe/Berlin\x00", "a/b/c/d",
	} {
		err := bad.Check()
		if err == nil {
			t.Errorf("%q is taken", bad)
			continue
		}
		const want = "time_zone must be the IANA name of a time zone, such as Europe/Berlin, America/New_York or UTC"
		if got := lyceum.Public(err).Sentences(); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

// TestDays checks that a period of days contains every second that clocks in the time zone show
// on them, including days of 23 and 25 hours, days that begin at one o'clock, and skipped days.
func TestDays(t *testing.T) {
	none := lyceum.Opt[lyceum.Day]{}
	for _, tc := range []struct{ name, zone, first, last, after, until string }{
		{"UTC", "UTC", "2026-03-01", "2026-03-31", "2026-02-28T23:59:59Z", "2026-03-31T23:59:59Z"},
		{"clocks go forward at two", "Europe/Berlin", "2026-03-29", "2026-03-29", "2026-03-28T22:59:59Z", "2026-03-29T21:59:59Z"},
		{"clocks go back at three", "Europe/Berlin", "2026-10-25", "2026-10-25", "2026-10-24T21:59:59Z", "2026-10-25T22:59:59Z"},
		{"a month across the change", "America/New_York", "2026-03-01", "2026-03-31", "2026-03-01T04:59:59Z", "2026-04-01T03:59:59Z"},
		{"no midnight: the day begins at one", "America/Sao_Paulo", "2018-11-04", "2018-11-04", "2018-11-04T02:59:59Z", "2018-11-05T01:59:59Z"},
		{"the day before has its whole night", "America/Sao_Paulo", "2018-11-03", "2018-11-03", "2018-11-03T02:59:59Z", "2018-11-04T02:59:59Z"},
		{"back at midnight: 25 hours before it", "America/Sao_Paulo", "2018-02-17", "2018-02-17", "2018-02-17T01:59:59Z", "2018-02-18T02:59:59Z"},
		{"midnight twice: the first counts", "America/Havana", "2018-11-04", "2018-11-04", "2018-11-04T03:59:59Z", "2018-11-05T04:59:59Z"},
		{"half an hour", "Asia/Kolkata", "2026-01-01", "2026-01-01", "2025-12-31T18:29:59Z", "2026-01-01T18:29:59Z"},
		{"a day that was left out is empty", "Pacific/Apia", "2011-12-30", "2011-12-30", "2011-12-30T09:59:59Z", "2011-12-30T09:59:59Z"},
		{"the day after it", "Pacific/Apia", "2011-12-31", "2011-12-31", "2011-12-30T09:59:59Z", "2011-12-31T09:59:59Z"},
		{"seconds of offset", "Europe/Amsterdam", "1901-06-01", "1901-06-01", "", ""},
		{"the last day that can be written", "Asia/Tokyo", "9999-12-31", "9999-12-31", "9999-12-30T14:59:59Z", "9999-12-31T14:59:59Z"},
		{"the first", "UTC", "0001-01-01", "0001-01-01", "0000-12-31T23:59:59Z", "0001-01-01T23:59:59Z"},
		{"open at its end", "Europe/Berlin", "2026-07-01", "", "2026-06-30T21:59:59Z", ""},
		{"open at its beginning", "Europe/Berlin", "", "2026-07-01", "", "2026-07-01T21:59:59Z"},
	} {
		at, err := lyceum.TimeZone(tc.zone).Location()
		if err != nil {
			t.Fatal(err)
		}
		first, last := none, none
		if tc.first != "" {
			first = lyceum.Some(day(t, tc.first))
		}
		if tc.last != "" {
			last = lyceum.Some(day(t, tc.last))
		}
		p := lyceum.Days(first, last, at)
		if tc.name == "seconds of offset" {
			if got := p.Until.Sub(p.After); got != 24*time.Hour {
				t.Errorf("%s: %v", tc.name, got)
			}
			continue
		}
		if p.After.IsZero() != (tc.after == "") || tc.after != "" && p.After.Format(time.RFC3339) != tc.after {
			t.Errorf("%s: after %v, want %q", tc.name, p.After, tc.after)
		}
		if p.Until.IsZero() != (tc.until == "") || tc.until != "" && p.Until.Format(time.RFC3339) != tc.until {
			t.Errorf("%s: until %v, want %q", tc.name, p.Until, tc.until)
		}
	}
}

// TestDaysLieSideBySide checks in several time zones that consecutive days neither overlap nor
// leave a gap.
func TestDaysLieSideBySide(t *testing.T) {
	t.Parallel()
	for _, zone := range []lyceum.TimeZone{"America/Goose_Bay", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia", "Australia/Lord_Howe", "America/Asuncion"} {
		at, err := zone.Location()
		if err != nil {
			t.Fatal(err)
		}
		before := time.Time{}
		for d := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 2026; d = d.AddDate(0, 0, 1) {
			on := lyceum.Day{Year: d.Year(), Month: d.Month(), Day: d.Day()}
			p := lyceum.Days(lyceum.Some(on), lyceum.Some(on), at)
			if !before.IsZero() && !p.After.Equal(before) {
				t.Fatalf("%s: %s begins after %v, and the day before ends at %v", zone, on, p.After, before)
			}
			if long := p.Until.Sub(p.After); long < 0 || long > 26*time.Hour {
				t.Fatalf("%s: %s has %v", zone, on, long)
			}
			before = p.Until
		}
	}
}

func TestParseDayAndMonth(t *testing.T) {
	for _, bad := range []string{"", "2026-02-30", "2026-2-3", "26-02-03", "2026-02", "2026-02-03T00:00:00Z", "0000-01-01", "today"} {
		if _, err := lyceum.ParseDay(bad); err == nil || err.Error() != "must be a day such as 2024-01-31" {
			t.Errorf("the day %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "2026", "2026-13", "2026-00", "2026-2", "2026-02-01", "0000-01", "March"} {
		if _, _, err := lyceum.ParseMonth(bad); err == nil || err.Error() != "must be a month such as 2024-01" {
			t.Errorf("the month %q: %v", bad, err)
		}
	}
	for month, last := range map[string]string{"2026-02": "2026-02-28", "2024-02": "2024-02-29", "2026-12": "2026-12-31", "0001-01": "0001-01-31", "9999-12": "9999-12-31"} {
		first, end, err := lyceum.ParseMonth(month)
		if err != nil || first.String() != month+"-01" || end.String() != last {
			t.Errorf("%s: %v to %v, %v", month, first, end, err)
		}
	}
}

func TestZoneAbbreviation(t *testing.T) {
	for zone, want := range map[lyceum.TimeZone]string{"UTC": "UTC", "Europe/Berlin": "CET", "America/Sao_Paulo": "UTC-03", "Asia/Kathmandu": "UTC+0545"} {
		at, err := zone.Location()
		if err != nil {
			t.Fatal(err)
		}
		if got := lyceum.ZoneAbbreviation(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).In(at)); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
}

func day(t *testing.T, text string) lyceum.Day {
	t.Helper()
	d, err := lyceum.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
