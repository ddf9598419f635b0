package wire_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// list is a body of n items.
func list(n int) wire.JSON {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("item number %d", i+1)
	}
	return wire.JSON{Value: items}
}

var (
	small = list(3)
	large = list(1000)
)

func textOf(t testing.TB, body wire.Body) []byte {
	t.Helper()
	text, err := body.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// send returns the response to a request with the given headers, as "Name: value".
func send(t testing.TB, method string, status int, body wire.Body, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "/v1/things", nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	if err := wire.Send(w, r, status, body); err != nil {
		t.Fatal(err)
	}
	return w
}

func wantHeaders(t testing.TB, got http.Header, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if text := strings.Join(got.Values(name), "; "); text != value {
			t.Errorf("%s is %q, want %q", name, text, value)
		}
	}
}

func TestSend(t *testing.T) {
	w := send(t, http.MethodGet, http.StatusOK, small)
	const want = `["item number 1","item number 2","item number 3"]`
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("got %d %s, want %s", w.Code, w.Body, want)
	}
	wantHeaders(t, w.Header(), map[string]string{
		"Content-Type":     "application/json; charset=utf-8",
		"Content-Length":   strconv.Itoa(len(want)),
		"Content-Encoding": "",
		"Cache-Control":    "max-age=0, private, must-revalidate",
		"Vary":             "Accept, Accept-Encoding",
	})
	if tag := w.Header().Get("ETag"); !regexp.MustCompile(`^W/"[0-9a-f]+"$`).MatchString(tag) {
		t.Errorf("ETag is %s", tag)
	}
}

func TestETagIsOfTheBodyAlone(t *testing.T) {
	tag := func(body wire.Body, headers ...string) string {
		return send(t, http.MethodGet, http.StatusOK, body, headers...).Header().Get("ETag")
	}
	first := tag(large)
	for name, again := range map[string]string{
		"again":   tag(large),
		"equal":   tag(list(1000)),
		"zipped":  tag(large, "Accept-Encoding: gzip"),
		"by HEAD": send(t, http.MethodHead, http.StatusOK, large).Header().Get("ETag"),
	} {
		if again != first {
			t.Errorf("%s: %s, want %s", name, again, first)
		}
	}
	if other := tag(list(1001)); other == first {
		t.Errorf("another body has the same tag %s", other)
	}
}

func TestIfNoneMatch(t *testing.T) {
	tag := send(t, http.MethodGet, http.StatusOK, large).Header().Get("ETag")
	strong := strings.TrimPrefix(tag, "W/")
	for _, tc := range []struct {
		name    string
		method  string
		headers []string
		status  int
	}{
		{"none", http.MethodGet, nil, 200},
		{"the tag", http.MethodGet, []string{"If-None-Match: " + tag}, 304},
		{"the tag by HEAD", http.MethodHead, []string{"If-None-Match: " + tag}, 304},
		{"as a strong tag", http.MethodGet, []string{"If-None-Match: " + strong}, 304},
		{"any", http.MethodGet, []string{"If-None-Match: *"}, 304},
		{"first of a list", http.MethodGet, []string{"If-None-Match: " + tag + `, "other"`}, 304},
		{"last of a list", http.MethodGet, []string{`If-None-Match: "other", W/"another" ,` + tag}, 304},
		{"in a second line", http.MethodGet, []string{`If-None-Match: "other"`, "If-None-Match: " + tag}, 304},
		{"with gzip", http.MethodGet, []string{"If-None-Match: " + tag, "Accept-Encoding: gzip"}, 304},
		{"another tag", http.MethodGet, []string{`If-None-Match: W/"0123456789abcdef"`}, 200},
		{"empty", http.MethodGet, []string{"If-None-Match: "}, 200},
		{"without quotes", http.MethodGet, []string{"If-None-Match: " + strings.Trim(strong, `"`)}, 200},
		{"the beginning of the tag", http.MethodGet, []string{"If-None-Match: " + tag[:10] + `"`}, 200},
		{"a method that is no reading", http.MethodPost, []string{"If-None-Match: " + tag}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := send(t, tc.method, http.StatusOK, large, tc.headers...)
			if w.Code != tc.status {
				t.Fatalf("status %d, want %d", w.Code, tc.status)
			}
			want := map[string]string{
				"ETag": tag, "Cache-Control": "max-age=0, private, must-revalidate", "Vary": "Accept, Accept-Encoding",
			}
			if tc.status == http.StatusNotModified {
				want["Content-Type"], want["Content-Length"], want["Content-Encoding"] = "", "", ""
				if w.Body.Len() > 0 {
					t.Errorf("a body of %d bytes", w.Body.Len())
				}
			}
			wantHeaders(t, w.Header(), want)
		})
	}
}

func TestGzip(t *testing.T) {
	plain := textOf(t, large)
	for _, tc := range []struct {
		accepts []string
		zipped  bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZIP"}, true},
		{[]string{"gzip, deflate, br"}, true},
		{[]string{"br;q=1.0, gzip;q=0.8"}, true},
		{[]string{"br", "gzip"}, true},
		{[]string{"gzip;q=1"}, true},
		{[]string{"gzip;q=1.000"}, true},
		{[]string{"gzip; q=0.001"}, true},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip; q=0"}, false},
		{[]string{"gzip ;q=0.000"}, false},
		{[]string{"gzip;Q=0"}, false},
		{[]string{"*"}, true},
		{[]string{"*;q=0.5"}, true},
		{[]string{"*;q=0"}, false},
		{[]string{"*;q=0, gzip"}, true},
		{[]string{"gzip;q=0, *"}, false},
		{[]string{"*, gzip;q=0"}, false},
		{[]string{"x-gzip"}, false},
		{[]string{"gzipped"}, false},
		{[]string{"identity"}, false},
		{[]string{"identity;q=1, deflate, br, zstd"}, false},
	} {
		t.Run(strings.Join(tc.accepts, "|"), func(t *testing.T) {
			var headers []string
			for _, line := range tc.accepts {
				headers = append(headers, "Accept-Encoding: "+line)
			}
			w := send(t, http.MethodGet, http.StatusOK, large, headers...)
			encoding := ""
			if tc.zipped {
				encoding = "gzip"
			}
			wantHeaders(t, w.Header(), map[string]string{
				"Content-Encoding": encoding,
				"Content-Length":   strconv.Itoa(w.Body.Len()),
				"Content-Type":     "application/json; charset=utf-8",
				"Vary":             "Accept, Accept-Encoding",
			})
			got := w.Body.Bytes()
			if tc.zipped {
				if len(got) >= len(plain) {
					t.Errorf("%d bytes zipped are %d", len(plain), len(got))
				}
				got = unzip(t, w.Body)
			}
			if !bytes.Equal(got, plain) {
				t.Error("the body is not what was sent")
			}
		})
	}
}

func unzip(t testing.TB, r io.Reader) []byte {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGzipOfWhatIsNotWorthIt(t *testing.T) {
	w := send(t, http.MethodGet, http.StatusOK, small, "Accept-Encoding: gzip")
	wantHeaders(t, w.Header(), map[string]string{"Content-Encoding": "", "Content-Length": strconv.Itoa(len(textOf(t, small)))})
	if !bytes.Equal(w.Body.Bytes(), textOf(t, small)) {
		t.Errorf("got %q", w.Body)
	}
}

// TestSendThroughAServer sends requests as a client does, and checks that HEAD and GET have the
// same headers.
func TestSendThroughAServer(t *testing.T) {
	for name, body := range map[string]wire.Body{"small": small, "large": large} {
		for _, accepts := range []string{"identity", "gzip"} {
			t.Run(name+" "+accepts, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if err := wire.Send(w, r, http.StatusOK, body); err != nil {
						t.Error(err)
					}
				}))
				defer server.Close()
				send := func(method string) (*http.Response, []byte) {
					r, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Accept-Encoding", accepts)
					response, err := server.Client().Do(r)
					if err != nil {
						t.Fatal(err)
					}
					defer response.Body.Close()
					text, err := io.ReadAll(response.Body)
					if err != nil {
						t.Fatal(err)
					}
					return response, text
				}
				got, text := send(http.MethodGet)
				head, nothing := send(http.MethodHead)
				if len(nothing) > 0 || got.ContentLength != int64(len(text)) || len(text) == 0 {
					t.Errorf("HEAD brings %d bytes, GET %d of %d", len(nothing), len(text), got.ContentLength)
				}
				for _, name := range []string{"Content-Length", "Content-Type", "Content-Encoding", "ETag", "Cache-Control", "Vary"} {
					if head.Header.Get(name) != got.Header.Get(name) {
						t.Errorf("HEAD says %s %q, GET %q", name, head.Header.Get(name), got.Header.Get(name))
					}
				}
				if got.Header.Get("Content-Encoding") == "gzip" {
					text = unzip(t, bytes.NewReader(text))
				}
				if !bytes.Equal(text, textOf(t, body)) {
					t.Error("the body is not what was sent")
				}
			})
		}
	}
}

func TestOtherThanOKIsNotKept(t *testing.T) {
	tag := send(t, http.MethodGet, http.StatusOK, large).Header().Get("ETag")
	for _, status := range []int{201, 400, 401, 403, 404, 405, 413, 429, 500, 503} {
		w := send(t, http.MethodGet, status, large, "If-None-Match: *", "If-None-Match: "+tag)
		if w.Code != status || !bytes.Equal(w.Body.Bytes(), textOf(t, large)) {
			t.Errorf("%d is sent as %d with %d bytes", status, w.Code, w.Body.Len())
		}
		wantHeaders(t, w.Header(), map[string]string{
			"Cache-Control": "no-store", "ETag": "", "Content-Type": "application/json; charset=utf-8",
		})
	}
}

// broken is a body that fails after writing a part.
type broken struct{}

func (broken) AppendJSON(b []byte) ([]byte, error) {
	return append(b, `{"transactions":[`...), errors.New("amount does not fit")
}

func TestBodyThatFailsSendsNothing(t *testing.T) {
	for name, body := range map[string]wire.Body{"by hand": broken{}, "by encoding/json": wire.JSON{Value: func() {}}} {
		w := httptest.NewRecorder()
		err := wire.Send(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusOK, body)
		if err == nil || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("%s: error %v after %d bytes and headers %v", name, err, w.Body.Len(), w.Header())
		}
		// The status can still be set, and the next response contains nothing of this one.
		if err := wire.Send(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusInternalServerError, small); err != nil {
			t.Fatal(err)
		}
		if w.Code != http.StatusInternalServerError || !bytes.Equal(w.Body.Bytes(), textOf(t, small)) {
			t.Errorf("%s: then %d %s", name, w.Code, w.Body)
		}
	}
}

// deaf is a client that has disconnected.
type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestClientThatWentAwayIsNoError(t *testing.T) {
	for _, accepts := range []string{"identity", "gzip"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepts)
		if err := wire.Send(deaf{httptest.NewRecorder()}, r, http.StatusOK, large); err != nil {
			t.Errorf("%s: %v", accepts, err)
		}
	}
}

func TestConcurrentResponsesDoNotMix(t *testing.T) {
	for worker := range 8 {
		t.Run(strconv.Itoa(worker), func(t *testing.T) {
			t.Parallel()
			for i := range 50 {
				body := list(1 + worker*40 + i)
				accepts := "Accept-Encoding: " + []string{"gzip", "identity"}[i%2]
				w := send(t, http.MethodGet, http.StatusOK, body, accepts)
				got := w.Body.Bytes()
				if w.Header().Get("Content-Encoding") == "gzip" {
					got = unzip(t, w.Body)
				}
				if !bytes.Equal(got, textOf(t, body)) {
					t.Fatalf("answer %d is not its own", i)
				}
			}
		})
	}
}

func TestJSONIsEscapedAsTheInterfaceDoes(t *testing.T) {
	got := textOf(t, wire.JSON{Value: map[string]string{"message": "a & b < c\u2028"}})
	if string(got) != `{"message":"a \u0026 b \u003c c\u2028"}` || !json.Valid(got) {
		t.Errorf("got %s", got)
	}
}

// dated is a body with a version; it fails if it must not be written.
type dated struct {
	wire.JSON

	state  lyceum.Version
	silent bool
}

func (d dated) State() lyceum.Version { return d.state }

func (d dated) AppendJSON(b []byte) ([]byte, error) {
	if d.silent {
		return b, errors.New("a body is written that the caller has")
	}
	return d.JSON.AppendJSON(b)
}

func TestSendVersion(t *testing.T) {
	at := time.Unix(1e9, 0)
	tag := func(body wire.Body) string { return send(t, http.MethodGet, http.StatusOK, body).Header().Get("ETag") }
	first := tag(dated{JSON: small, state: lyceum.Version{Number: 7, At: at}})
	if !regexp.MustCompile(`^W/"7-[0-9a-z]+-[0-9a-f]{8}"$`).MatchString(first) {
		t.Errorf("the tag is %s", first)
	}
	for name, other := range map[string]lyceum.Version{
		"number": {Number: 8, At: at},
		"time":   {Number: 7, At: at.Add(time.Microsecond)}, // a restored backup with a different history
	} {
		if got := tag(dated{JSON: small, state: other}); got == first {
			t.Errorf("another %s has the same tag %s", name, got)
		}
	}
	if got := tag(dated{JSON: small}); got != tag(small) {
		t.Errorf("without a version the tag is %s, not that of the bytes", got)
	}
	same := dated{JSON: small, state: lyceum.Version{Number: 7, At: at}, silent: true}
	if w := send(t, http.MethodGet, http.StatusOK, same, "If-None-Match: "+first); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("asked with its tag: %d with %d bytes", w.Code, w.Body.Len())
	}
	same.silent = false
	if w := send(t, http.MethodPost, http.StatusOK, same, "If-None-Match: "+first); w.Code != http.StatusOK {
		t.Errorf("a write asked with its tag: %d", w.Code)
	}
	if w := send(t, http.MethodGet, http.StatusCreated, same); w.Header().Get("ETag") != "" {
		t.Error("an answer that is no 200 bears a tag")
	}
}
