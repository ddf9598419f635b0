package files_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asForm returns a request that sends a body as a form with the boundary "b".
func asForm(method, address, body string, headers ...string) *http.Request {
	r := request(method, address, append([]string{"Content-Type: multipart/form-data; boundary=b"}, headers...)...)
	sent := httptest.NewRequest(method, address, strings.NewReader(strings.ReplaceAll(body, "\n", "\r\n")))
	sent.Header = r.Header
	return sent
}

// part returns one part of a form; without a filename it is a field.
func part(filename, content string) string {
	said := `form-data; name="file"`
	if filename != "" {
		said += fmt.Sprintf("; filename=%q", filename)
	}
	return "--b\nContent-Disposition: " + said + "\n\n" + content + "\n"
}

const formEnd = "--b--\n"

// TestUploadsAsForms checks that the file of a form is accepted like a body, whatever small fields
// surround it, and that other forms are rejected.
func TestUploadsAsForms(t *testing.T) {
	s := newShelf(t)
	sum := sha256.Sum256([]byte("%PDF-form"))
	digest := "Repr-Digest: sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	file := part("a.pdf", "%PDF-form")
	for name, tc := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"a file":                 {"POST", file + formEnd, nil, 200, ""},
		"with PUT":               {"PUT", file + formEnd, nil, 200, ""},
		"with its SHA-256":       {"POST", file + formEnd, []string{digest}, 200, ""},
		"fields around it":       {"POST", part("", "1") + file + part("", "2") + formEnd, nil, 200, ""},
		"two files":              {"POST", file + part("b.pdf", "%PDF-2") + formEnd, nil, 400, "the form has more than one file"},
		"no file":                {"POST", part("", "1") + formEnd, nil, 400, "the form has no file; send it as a part with a filename"},
		"nothing chosen":         {"POST", strings.Replace(part("x", ""), `"x"`, `""`, 1) + formEnd, nil, 400, "the form has no file"},
		"an empty form":          {"POST", formEnd, nil, 400, "the form has no file"},
		"an empty file":          {"POST", part("a.pdf", "") + formEnd, nil, 400, "the file is empty"},
		"no form":                {"POST", "%PDF-form", nil, 400, "the form ends too early, or is not one"},
		"nothing":                {"POST", "", nil, 400, "the form ends too early, or is not one"},
		"a file that is cut":     {"POST", file[:len(file)-4], nil, 400, "the form ends too early"},
		"a form that is cut":     {"POST", file, nil, 400, "the form ends too early"},
		"a field that is large":  {"POST", part("", strings.Repeat("x", 1<<17)) + file + formEnd, nil, 400, "the form has more than 65536 bytes besides its file"},
		"a large field behind":   {"POST", file + part("", strings.Repeat("x", 1<<17)) + formEnd, nil, 400, "the form has more than 65536 bytes besides its file"},
		"headers without an end": {"POST", "--b\n" + strings.Repeat("X-A: b\n", 1<<14), nil, 400, "the form"},
		"of another type":        {"POST", part("a.pdf", "GIF89a") + formEnd, nil, 400, "this is not a file of the type pdf"},
		"of another SHA-256":     {"POST", part("a.pdf", "%PDF-other") + formEnd, []string{digest}, 400, "the SHA-256 of the received file is"},
		"a part of a file":       {"POST", file + formEnd, []string{"Content-Range: bytes 0-8/9"}, 400, "a form must have the whole file"},
		"a form without parts":   {"POST", file + formEnd, []string{"Content-Type: multipart/form-data"}, 415, "as multipart/form-data with a boundary"},
		"a letter":               {"PUT", file + formEnd, []string{"Content-Type: multipart/mixed; boundary=b"}, 415, "send the file as the body of the request"},
		"fields of a form":       {"POST", "file=a.pdf", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "as multipart/form-data"},
		"a body, with POST":      {"POST", "%PDF-form", []string{"Content-Type: application/pdf"}, 200, ""},
		"a body of that type":    {"PUT", "%PDF-form", []string{"Content-Type: application/x-www-form-urlencoded"}, 200, ""},
	} {
		to, permanent := s.slot(t, pattern)
		w := s.do(asForm(tc.method, to, tc.body, tc.headers...))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
			t.Errorf("%s: %d %s, want %d with %q", name, w.Code, w.Body, tc.status, tc.says)
		}
		want, says := http.StatusNotFound, "there is no such file"
		if tc.status == http.StatusOK {
			want, says = http.StatusForbidden, "this file needs a link"
		}
		s.want(t, name+", afterwards", permanent, want, says)
		if tc.status != http.StatusOK {
			s.wantSent(t, name+", and then the file", to, "%PDF-form", http.StatusOK, "")
		}
	}
}

// TestPagesOfOtherOrigins checks that a page of another origin can send a file and read the
// response.
func TestPagesOfOtherOrigins(t *testing.T) {
	s := newShelf(t)
	to, permanent := s.slot(t, picture)
	link := s.link(t, learner)
	for name, tc := range map[string]struct{ address, methods string }{
		"where a file is sent": {to, "GET, HEAD, POST, PUT"}, "a link": {link, "GET, HEAD"},
	} {
		w := s.do(request(http.MethodOptions, tc.address, "Origin: https://app.example.com", "Access-Control-Request-Method: PUT"))
		h := w.Header()
		if w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != tc.methods {
			t.Errorf("%s: %d %v", name, w.Code, h)
		}
		if allowed := h.Get("Access-Control-Allow-Headers"); !strings.Contains(allowed, "Content-Range") || !strings.Contains(allowed, "Repr-Digest") || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", name, h)
		}
	}
	for _, r := range []*http.Request{
		request(http.MethodHead, to), request(http.MethodPut, to), request(http.MethodPost, to+"x"),
		request(http.MethodGet, permanent), request(http.MethodGet, link),
	} {
		r.Header.Set("Origin", "https://app.example.com")
		h := s.do(r).Header()
		if h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Upload-Offset") {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, h)
		}
	}
}
