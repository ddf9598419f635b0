package lyceum

import (
	"strings"
	"time"
)

// Period is the contract's start and end: After is excluded, Until included;
// a zero end is open.
type Period struct{ After, Until time.Time }

// Has reports whether a moment is in the period.
func (p Period) Has(at time.Time) bool {
	return (p.After.IsZero() || at.After(p.After)) && (p.Until.IsZero() || !at.After(p.Until))
}

// Second cuts t to the whole second in UTC. The contract's times are kept to
// the second, so that what is shown is what is compared.
func Second(t time.Time) time.Time {
	return time.Unix(t.Unix(), 0).UTC()
}

// Microsecond gives a time as a store keeps it.
func Microsecond(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// Latest is the last moment that can be written: the contract's years have four digits.
var Latest = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// NotAfterLatest returns t, or Latest if that is earlier. What is reckoned from other
// times, such as the end of a thousand years, may be later.
func NotAfterLatest(t time.Time) time.Time {
	if t.After(Latest) {
		return Latest
	}
	return t
}

// timeTaken is the sentence about times, worded to follow a parameter's name.
const timeTaken = "must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"

// ParseTime reads a time as the contract's date-time parameters and import
// files give it: RFC 3339 with any offset, a plain day (midnight UTC), and a
// space where a + was not escaped in an address. The result is in UTC, cut to
// the whole second. Times outside the years 1 to 9999 of UTC are refused,
// because they could not be written back.
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

// lax tells of a text that time.Parse took whether RFC 3339 does not: an hour
// of one digit, a comma before the fraction, an offset of 24 hours or 60
// minutes (golang.org/issue/54580).
func lax(s string) bool {
	offset := s[len(s)-len("00:00"):]
	return s[len("2006-01-02T1")] == ':' || strings.Contains(s, ",") ||
		!strings.HasSuffix(s, "Z") && (offset[:2] >= "24" || offset[3:] >= "60")
}

// AppendTime appends t as the contract's answers write it: UTC, whole
// seconds, Z. The year of t in UTC must be from 0 to 9999.
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

// twoDigits are the numbers below a hundred as they are written in a time.
var twoDigits = func() (text [100][2]byte) {
	for i := range text {
		text[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return text
}()

// yearZero is the 1st of March of the year -400 in Unix time: years that begin
// in March have their leap day at the end, and 400 of them are a cycle.
const yearZero = -74784816000

// civil gives the date of a day since yearZero, which is not before it.
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
