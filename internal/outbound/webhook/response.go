package webhook

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what is stored of a response.
const (
	maxLines    = 50
	keptHeader  = 8 << 10 // bytes of names and values
	keptBody    = 4 << 10 // bytes
	longestWait = 24 * time.Hour
)

// read stores a response in out. Once there is a status, no error in the body changes the
// outcome.
func (out *Outcome) read(response *http.Response, at time.Time) {
	// net/http accepts any three digits. After a 101 the connection is no longer HTTP, and
	// reading from it ignores deadlines.
	if response.StatusCode < http.StatusOK {
		out.Problem = broken
		return
	}
	out.Problem = ""
	out.Status = response.StatusCode
	out.Delivered = out.Status <= 299
	out.ResponseHeader = boundedHeader(response.Header)
	if out.Status == http.StatusTooManyRequests || out.Status == http.StatusServiceUnavailable {
		out.RetryAfter = retryAfter(response.Header.Get("Retry-After"), at)
	}
	// Reading one byte more than is stored detects the end of the body, after which the
	// connection can be reused.
	body, _ := io.ReadAll(io.LimitReader(response.Body, keptBody+1)) // the beginning of the body, even if reading fails
	out.ResponseBody = readable(body[:min(len(body), keptBody)])
}

// boundedHeader returns the first header lines in the order of names, up to the limits.
func boundedHeader(all http.Header) http.Header {
	some := http.Header{}
	lines, size := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, value := range all[name] {
			value = string(readable([]byte(value)))
			lines++
			size += len(name) + len(value)
			if lines > maxLines || size > keptHeader {
				return some
			}
			some[name] = append(some[name], value)
		}
	}
	return some
}

// readable replaces bytes that a database might reject as text. The result is at most keptBody
// long.
func readable(text []byte) []byte {
	text = bytes.ReplaceAll(bytes.ToValidUTF8(text, []byte("\uFFFD")), []byte{0}, []byte("\uFFFD"))
	if len(text) <= keptBody {
		return text
	}
	end := keptBody
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// retryAfter parses a Retry-After header (RFC 9110, 10.2.3): seconds, or a date, which is
// relative to at. An invalid or past value is 0.
func retryAfter(text string, at time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(longestWait/time.Second) {
			return longestWait
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(at), 0), longestWait)
}
