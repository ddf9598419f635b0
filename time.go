package lyceum

import (
	"strings"
	"time"
)

// Period is the contract's start and end: After is excluded, Until included;
// a zero end is open.
type Period struct{ After, Until time.Time }

// Second cuts t to the whole second in UTC. The contract's times are kept to
// the second, so that what is shown is what is compared.
func Second(t time.Time) time.Time {
	return time.Unix(t.Unix(), 0).UTC()
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
	year, month, day := t.UTC().Date()
	hour, minute, second := t.UTC().Clock()
	b = append(b, byte('0'+year/1000%10), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10), '-')
	b = append(appendTwo(b, int(month)), '-')
	b = append(appendTwo(b, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	return append(appendTwo(b, second), 'Z')
}

func appendTwo(b []byte, n int) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10))
}
