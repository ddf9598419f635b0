package lyceum

import (
	"strings"
	"time"
)

// Period is the contract's start and end: After is exclusive, Until is inclusive, and a zero
// end is open.
type Period struct{ After, Until time.Time }

// Has reports whether the period contains the given time.
func (p Period) Has(at time.Time) bool {
	return (p.After.IsZero() || at.After(p.After)) && (p.Until.IsZero() || !at.After(p.Until))
}

// Second truncates t to the whole second in UTC. The contract's times are stored to the second,
// so that what is shown is what is compared.
func Second(t time.Time) time.Time {
	return time.Unix(t.Unix(), 0).UTC()
}

// Microsecond truncates t to the microsecond in UTC, as a store does.
func Microsecond(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// Latest is the last time that can be written: the contract's years have four digits.
var Latest = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// NotAfterLatest returns t, or Latest if that is earlier. Times computed from other times, such
// as a thousand years later, may be after Latest.
func NotAfterLatest(t time.Time) time.Time {
	if t.After(Latest) {
		return Latest
	}
	return t
}

// timeTaken is the sentence about valid times, worded to follow a parameter's name.
const timeTaken = "must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"

// ParseTime parses a time as date-time parameters of the contract and import files contain it:
// RFC 3339 with any offset, or a day (midnight UTC). A space instead of + is accepted, because
// it means that the + was not escaped in a URL. The result is in UTC, truncated to the whole
// second. Times outside the years 1 to 9999 in UTC are rejected, because they could not be
// written back.
func ParseTime(s string) (time.Time, error) {
	if len(s) == len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, s)
		if err != nil || t.Year() < 1 {
			return time.Time{}, Invalidf(timeTaken)
		}
		return t, nil
	}
	if i := strings.LastIndexByte(s, ' '); i > len(time.DateOnly) {
		s = s[:i] + "+" + s[i+1:]
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || lax(s) {
		return time.Time{}, Invalidf(timeTaken)
	}
	t = Second(t)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, Invalidf(timeTaken)
	}
	return t, nil
}

// lax reports whether s, which time.Parse accepted, is not valid RFC 3339: it has an hour of
// one digit, a comma before the fraction, or an offset of 24 hours or 60 minutes
// (golang.org/issue/54580).
func lax(s string) bool {
	offset := s[len(s)-len("00:00"):]
	return s[len("2006-01-02T1")] == ':' || strings.Contains(s, ",") ||
		!strings.HasSuffix(s, "Z") && (offset[:2] >= "24" || offset[3:] >= "60")
}

// AppendTime appends t as it is written in the contract's responses: UTC, whole seconds, Z. The
// year of t in UTC must be from 0 to 9999.
func AppendTime(b []byte, t time.Time) []byte {
	const daySeconds = 24 * 60 * 60
	since := t.Unix() - yearZero
	days, second := since/daySeconds, since%daySeconds
	year, month, day := civil(uint32(days))
	clock := uint32(second)
	y, m, d := twoDigits[year/100], twoDigits[month], twoDigits[day]
	yy, hh, mm, ss := twoDigits[year%100], twoDigits[clock/3600], twoDigits[clock/60%60], twoDigits[clock%60]
	return append(b, y[0], y[1], yy[0], yy[1], '-', m[0], m[1], '-', d[0], d[1], 'T', hh[0], hh[1], ':', mm[0], mm[1], ':',
		ss[0], ss[1], 'Z')
}

// twoDigits are the numbers from 0 to 99 as they are written in a time.
var twoDigits = func() (text [100][2]byte) {
	for i := range text {
		text[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return text
}()

// yearZero is 1 March of the year -400 in Unix time: years that begin in March have their leap
// day at the end, and 400 of them are a cycle.
const yearZero = -74784816000

// civil returns the date of a day, counted from yearZero.
func civil(days uint32) (year, month, day uint32) {
	const cycle = 146097 // days of 400 years
	era, of := days/cycle, days%cycle
	y := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*y + y/4 - y/100
	m := (5*of + 2) / 153 // months since March
	year, month, day = era*400+y-400, m+3, of-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
