package files_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestRangesOfFiles checks that requested ranges of a file are sent, that ranges that cannot be
// satisfied are rejected, and that a header other than of byte ranges is ignored.
func TestRangesOfFiles(t *testing.T) {
	s := newShelf(t)
	permanent := s.sent(t, picture, png)
	size := len(png)
	tag := s.follow(http.MethodGet, permanent).Header().Get("ETag")
	many := func(n int) string {
		ranges := make([]string, n)
		for i := range ranges {
			ranges[i] = fmt.Sprintf("%d-%[1]d", 2*i)
		}
		return "bytes=" + strings.Join(ranges, ",")
	}
	for _, tc := range []struct {
		ranges, ifRange string
		status          int
		gives           string // the Content-Range; of several ranges that of the last
	}{
		{"bytes=0-3", "", http.StatusPartialContent, "bytes 0-3/SIZE"},
		{"Bytes=0-3", "", http.StatusPartialContent, "bytes 0-3/SIZE"},
		{"bytes= 4-4 ,", "", http.StatusPartialContent, "bytes 4-4/SIZE"},
		{"bytes=2-99999999999999999999", "", http.StatusPartialContent, "bytes 2-LAST/SIZE"},
		{"bytes=2-", "", http.StatusPartialContent, "bytes 2-LAST/SIZE"},
		{"bytes=-99999999999999999999", "", http.StatusPartialContent, "bytes 0-LAST/SIZE"},
		{"bytes=0-0,100000-", "", http.StatusPartialContent, "bytes 0-0/SIZE"},
		{"bytes=4-5,0-1", "", http.StatusPartialContent, "bytes 0-1/SIZE"},
		{many(16), "", http.StatusPartialContent, "bytes 30-30/SIZE"},
		{"bytes=0-3", tag, http.StatusPartialContent, "bytes 0-3/SIZE"},
		{"bytes=0-3", `"another"`, http.StatusOK, ""},
		{"bytes=100000-", `"another"`, http.StatusOK, ""},
		{"items=0-3", "", http.StatusOK, ""},
		{"0-3", "", http.StatusOK, ""},
		{many(17), "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=" + strings.Repeat("0-0,", 1000), "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=0-5,3-8", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=-5,10-", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=5-2", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=100000-", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=-0", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=-", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=--1", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=+0-3", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
		{"bytes=0-3x", "", http.StatusRequestedRangeNotSatisfiable, "bytes */SIZE"},
	} {
		r := request(http.MethodGet, permanent, "Range: "+tc.ranges)
		if tc.ifRange != "" {
			r.Header.Set("If-Range", tc.ifRange)
		}
		w := s.do(r)
		got, want := w.Header().Get("Content-Range"), ""
		if tc.gives != "" {
			want = strings.NewReplacer("SIZE", strconv.Itoa(size), "LAST", strconv.Itoa(size-1)).Replace(tc.gives)
		}
		several := strings.HasPrefix(w.Header().Get("Content-Type"), "multipart/byteranges")
		if several {
			body := w.Body.String()
			at := strings.LastIndex(body, "Content-Range: ")
			got, _, _ = strings.Cut(body[at+len("Content-Range: "):], "\r\n")
		}
		if w.Code != tc.status || got != want {
			t.Errorf("%.40s: %d with %q, want %d with %q", tc.ranges, w.Code, got, tc.status, want)
		}
		refused := w.Code == http.StatusRequestedRangeNotSatisfiable
		if refused && (!strings.Contains(w.Body.String(), "Range must be like bytes=0-99") || w.Header().Get("Cache-Control") != "no-store") {
			t.Errorf("%.40s: %s %v", tc.ranges, w.Body, w.Header())
		}
	}
}
