package files_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	kept "github.com/lyceum-school/lyceum/internal/storage/files"
)

// sendRange sends a part of a file.
func (s *shelf) sendRange(address, contentRange string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := request(http.MethodPut, address, append(headers, "Content-Range: "+contentRange)...)
	r.Body, r.ContentLength = io.NopCloser(body), -1
	if text, is := body.(*strings.Reader); is {
		r.ContentLength = int64(text.Len())
	}
	return s.do(r)
}

func (s *shelf) wantRange(t *testing.T, what string, w *httptest.ResponseRecorder, status int, offset, says string) {
	t.Helper()
	if complete := w.Header().Get("Upload-Complete"); offset != "" && (complete == "?1") != (w.Header().Get("ETag") != "" || status == http.StatusConflict) {
		t.Errorf("%s: Upload-Complete is %q", what, complete)
	}
	if got := w.Header().Get("Upload-Offset"); w.Code != status || got != offset || !strings.Contains(w.Body.String(), says) {
		t.Errorf("%s: %d at %q: %s, want %d at %q with %q", what, w.Code, got, w.Body, status, offset, says)
	}
}

const long = "%PDF-1.7 a pattern in three parts"

// TestUploadsInParts checks that an upload resumes after what was received, even in another
// process and after its address expired.
func TestUploadsInParts(t *testing.T) {
	s := newShelf(t)
	to, permanent := s.slot(t, pattern)
	s.wantRange(t, "asked before", s.do(request(http.MethodHead, to)), http.StatusOK, "0", "")
	s.wantRange(t, "the first", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9])), http.StatusPermanentRedirect, "9", "")
	s.learning.KeepFiles(kept.NewFolder(s.dir)) // as after a restart of the server
	s.clock.Pass(2 * time.Hour)
	progress := s.do(request(http.MethodHead, to))
	s.wantRange(t, "asked", progress, http.StatusOK, "9", "")
	if got := progress.Header().Get("Range"); got != "bytes=0-8" {
		t.Errorf("Range is %q", got)
	}
	s.wantRange(t, "asked by PUT", s.sendRange(to, "bytes */33", strings.NewReader("")), http.StatusPermanentRedirect, "9", "")
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a gap":          s.sendRange(to, "bytes 10-11/33", strings.NewReader("xx")),
		"an overlap":     s.sendRange(to, "bytes 8-9/33", strings.NewReader("xx")),
		"the same again": s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9])),
	} {
		s.wantRange(t, name, w, http.StatusRequestedRangeNotSatisfiable, "9", "9 bytes of this file have arrived; continue with byte 9")
	}
	s.want(t, "in part", permanent, http.StatusNotFound, "there is no such file")
	s.wantRange(t, "too few", s.sendRange(to, "bytes 9-11/33", io.MultiReader(strings.NewReader(long[9:11]))), http.StatusBadRequest, "11", "the request has 2 bytes and should have 3")
	s.wantRange(t, "the rest", s.sendRange(to, "bytes 11-32/33", strings.NewReader(long[11:])), http.StatusOK, "33", "")
	done := s.do(request(http.MethodHead, to))
	s.wantRange(t, "asked after", done, http.StatusOK, "33", "")
	if want := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(long)))); done.Header().Get("ETag") != want {
		t.Errorf("ETag is %s, want %s", done.Header().Get("ETag"), want)
	}
	s.wantRange(t, "again", s.sendRange(to, "bytes 11-32/33", strings.NewReader(long[11:])), http.StatusConflict, "33", "has been received")
	if n := len(s.kept(t)); n != 1 {
		t.Errorf("%d files are kept", n)
	}
}

// TestRangesThatCannotBe checks that invalid ranges are rejected and that nothing of them is
// stored.
func TestRangesThatCannotBe(t *testing.T) {
	s := newShelf(t)
	to, _ := s.slot(t, pattern)
	for _, odd := range []string{
		"bytes", "bytes 0-8", "bytes 0-8/*", "bytes */*", "bytes 8-0/33", "bytes 0-33/33", "bytes -8/33", "bytes 0-/33", "bytes 0-8/0", "bytes 0-8/-1",
		"bytes 0-8/33, 9-10/33", "items 0-8/33", "bytes 0-8/99999999999999999999", "bytes +0-8/33", "bytes 0x0-8/33",
	} {
		s.wantRange(t, odd, s.sendRange(to, odd, strings.NewReader(long[:9])), http.StatusBadRequest, "", "Content-Range must be like bytes 0-99/200")
	}
	s.wantRange(t, "another length", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long)), http.StatusBadRequest, "", "Content-Range says 9 bytes, and Content-Length 33")
	s.wantRange(t, "too large", s.sendRange(to, "bytes 0-8/21474836481", strings.NewReader(long[:9])), http.StatusRequestEntityTooLarge, "", "the file has more than 21474836480 bytes")
	s.wantRange(t, "too many", s.sendRange(to, "bytes 0-8/33", io.MultiReader(strings.NewReader(long))), http.StatusBadRequest, "0", "the request has more than the 9 bytes that it should have")
	s.wantRange(t, "forged", s.sendRange(to+"x", "bytes 0-8/33", strings.NewReader(long[:9])), http.StatusForbidden, "", "this address is not valid")
	s.clock.Pass(time.Hour)
	s.wantRange(t, "begun too late", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9])), http.StatusForbidden, "0", "this address has expired")
	s.wantRange(t, "a forged question", s.do(request(http.MethodHead, to+"x")), http.StatusForbidden, "", "")
}

// TestFilesThatAreNotWhatTheyShouldBe checks that a file that does not match its type or SHA-256
// is dropped, whether it was sent in parts or in one go.
func TestFilesThatAreNotWhatTheyShouldBe(t *testing.T) {
	s := newShelf(t)
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "Repr-Digest: md5=:x:, sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	}
	to, permanent := s.slot(t, pattern)
	s.wantRange(t, "an odd digest", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9]), "Repr-Digest: sha-256=:x:"), http.StatusBadRequest, "", "Repr-Digest must have the SHA-256")
	s.wantRange(t, "begun", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9]), digest(long)), http.StatusPermanentRedirect, "9", "")
	s.wantRange(t, "another file", s.sendRange(to, "bytes 9-32/33", strings.NewReader(strings.ToUpper(long[9:])), digest(long)), http.StatusBadRequest, "0", "the SHA-256 of the received file is ")
	s.wantRange(t, "begun again", s.sendRange(to, "bytes 0-2/33", strings.NewReader("<sc")), http.StatusPermanentRedirect, "3", "")
	s.wantRange(t, "a script", s.sendRange(to, "bytes 3-32/33", strings.NewReader("ript>alert(1)</script><!------")), http.StatusBadRequest, "0", "this is not a file of the type pdf")
	w := s.do(withBody(request(http.MethodPut, to, digest("%PDF-other")), long))
	s.wantRange(t, "another file in one go", w, http.StatusBadRequest, "0", "the SHA-256 of the received file is ")
	s.wantRange(t, "begun once more", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9])), http.StatusPermanentRedirect, "9", "")
	w = s.do(withBody(request(http.MethodPut, to, digest(long)), long))
	s.wantRange(t, "in one go", w, http.StatusOK, "33", "")
	s.want(t, "an attachment", permanent, http.StatusForbidden, "this file needs a link")
	for extension, content := range map[string]string{
		"mp4": "%PDF", "webm": "<html>", "zip": "Rar!", "wav": "RIFF\x00\x00\x00\x00WEBP", "docx": "{\\rtf1",
		"mp3": "<html><script>", "mov": "MZ\x90\x00\x03\x00\x00\x00", "avi": "RIFF\x00\x00\x00\x00WAVE", "mkv": "<html>", "heic": "%PDF-1.7",
		"7z": "PK\x03\x04", "rar": "PK\x03\x04", "rtf": "<html>", "tiff": "\x89PNG", "txt": "MZ\x90\x00", "svg": "GIF89a", "html": "\x00<html>",
	} {
		q := pattern
		q.Extension = extension
		to, _ := s.slot(t, q)
		s.wantSent(t, extension, to, content, http.StatusBadRequest, "this is not a file of the type "+extension)
	}
	for extension, content := range map[string]string{
		"csv": "a,b", "txt": "\xff\xfea\x00", "svg": "\xef\xbb\xbf<?xml?><svg/>", "mp3": "ID3\x04", "mov": "\x00\x00\x00\x14ftypqt  ",
		"avi": "RIFF\x00\x00\x00\x00AVI LIST", "tif": "MM\x00*", "dwg": "whatever it is",
	} {
		q := pattern
		q.Extension = extension
		s.sent(t, q, content)
	}
	q := pattern
	q.Extension = "mp3"
	s.sent(t, q, "\x00\x00\xff\xfb\x90")
	to, _ = s.slot(t, pattern)
	w = s.do(withBody(request(http.MethodPut, to, "Content-Encoding: gzip"), long))
	s.wantRange(t, "packed", w, http.StatusUnsupportedMediaType, "", "send the file as it is, without Content-Encoding")
	w = s.do(withBody(request(http.MethodPut, to, "Content-Encoding: Identity"), long))
	s.wantRange(t, "not packed", w, http.StatusOK, "33", "")
}

func withBody(r *http.Request, body string) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return r
}

// TestOneAtATime checks that while one request sends a file, others are rejected and told to
// retry.
func TestOneAtATime(t *testing.T) {
	s := newShelf(t)
	to, _ := s.slot(t, pattern)
	out, in := io.Pipe()
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- s.sendRange(to, "bytes 0-32/33", out) }()
	if _, err := io.WriteString(in, long[:9]); err != nil { // the request has claimed the address
		t.Fatal(err)
	}
	s.wantRange(t, "another", s.sendRange(to, "bytes 0-32/33", strings.NewReader(long)), http.StatusConflict, "", "another request is sending the file of this address")
	s.wantRange(t, "in one go", s.send(to, long), http.StatusConflict, "", "another request is sending")
	if w := s.do(request(http.MethodHead, to)); w.Code != http.StatusConflict || w.Header().Get("Retry-After") == "" {
		t.Errorf("asked: %d %v", w.Code, w.Header())
	}
	s.clock.Pass(48 * time.Hour)
	s.sweep(t) // leaves alone what is being received
	if _, err := io.WriteString(in, long[9:]); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	s.wantRange(t, "the first", <-done, http.StatusOK, "33", "")
}

// TestAbandonedPartsAreRemoved checks that a partial upload is removed a day after its address
// expired.
func TestAbandonedPartsAreRemoved(t *testing.T) {
	s := newShelf(t)
	to, _ := s.slot(t, pattern)
	s.wantRange(t, "begun", s.sendRange(to, "bytes 0-8/33", strings.NewReader(long[:9])), http.StatusPermanentRedirect, "9", "")
	s.clock.Pass(25*time.Hour - time.Second)
	s.sweep(t)
	if n := len(s.kept(t)); n != 2 { // the parts and their state
		t.Errorf("%d files are kept", n)
	}
	s.wantRange(t, "just in time", s.sendRange(to, "bytes 9-9/33", strings.NewReader(long[9:10])), http.StatusPermanentRedirect, "10", "")
	s.clock.Pass(time.Second)
	s.wantRange(t, "too late", s.sendRange(to, "bytes 10-32/33", strings.NewReader(long[10:])), http.StatusForbidden, "", "this address has expired")
	s.sweep(t)
	if files, rows := len(s.kept(t)), s.uploads(t); files+rows > 0 {
		t.Errorf("%d files and %d uploads are left", files, rows)
	}
}
