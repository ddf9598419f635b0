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

// Bounds of what is kept of an answer.
const (
	maxLines    = 50
	keptHeader  = 8 << 10 // bytes, of names and values together
	keptBody    = 4 << 10 // bytes
	longestWait = 24 * time.Hour
)

// read takes over what is kept of an answer. Once the status is there, nothing
// that happens to the body undoes it.
func (out *Outcome) read(response *http.Response, at time.Time) {
	// net/http takes any three digits. After a 101 the connection is no longer
	// HTTP, and reading from it heeds no deadline.
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
	// One byte more than is kept finds the end of the body, after which the
	// connection can be used again.
	body, _ := io.ReadAll(io.LimitReader(response.Body, keptBody+1)) // its beginning, however it ended
	out.ResponseBody = readable(body[:min(len(body), keptBody)])
}

// boundedHeader keeps the lines that come first by name, while there is room.
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

// readable replaces what a database might refuse as text. The result is no
// longer than keptBody.
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

// retryAfter reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date,
// which is seen from at. What is neither, or past, is 0.
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
