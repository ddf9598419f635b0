package files_test

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/lyceum-school/lyceum/internal/inbound/files"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// faulty is an S3-compatible store that can be made to fail.
type faulty struct {
	kept  gofakes3.Backend
	whole http.Handler
	fault atomic.Pointer[http.HandlerFunc]
}

// onFaulty makes a shelf use a store that can be made to fail.
func onFaulty(t *testing.T, s *shelf) *faulty {
	t.Helper()
	inside := s3mem.New()
	if err := inside.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	f := &faulty{kept: inside, whole: gofakes3.New(inside).Server()}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := f.fault.Load(); fault != nil {
			(*fault)(w, r)
			return
		}
		f.whole.ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	store, err := kept.NewS3(strings.Replace(served.URL, "http://", "http://key:secret@", 1) + "/files")
	if err != nil {
		t.Fatal(err)
	}
	s.learning.KeepFiles(store)
	return f
}

// reads makes requests for the contents of files fail after some bytes; without any, with a status.
func (f *faulty) reads(after int, status int) {
	fault := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		listing, state := r.URL.Query().Has("list-type"), strings.Contains(r.URL.Path, "/incoming/")
		if r.Method != http.MethodGet || listing || state {
			f.whole.ServeHTTP(w, r)
			return
		}
		if after == 0 {
			w.WriteHeader(status)
			return
		}
		seen := httptest.NewRecorder()
		f.whole.ServeHTTP(seen, r)
		for name, values := range seen.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(seen.Code)
		_, _ = w.Write(seen.Body.Bytes()[:min(after, seen.Body.Len()-1)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	f.fault.Store(&fault)
}

func unavailable(w *httptest.ResponseRecorder) bool {
	h := w.Header()
	for _, name := range []string{"Cache-Control", "ETag", "Content-Disposition", "Content-Range", "Last-Modified"} {
		if value := h.Get(name); value != "" && value != "no-store" {
			return false
		}
	}
	return w.Code == http.StatusServiceUnavailable && h.Get("Retry-After") != "" && h.Get("Content-Length") == "" &&
		strings.Contains(w.Body.String(), "try again later")
}

// TestFilesThatCannotBeRead checks that a file whose store knows it but does not send it is a 503,
// not the beginning of a file, and that nothing of it is cached.
func TestFilesThatCannotBeRead(t *testing.T) {
	s := newShelf(t)
	f := onFaulty(t, s)
	permanent := s.sent(t, picture, asPNG(t, halves(700, 500, green)))
	f.fault.Store(nil)
	small := permanent + "?width=320"
	if w := s.follow(http.MethodGet, small); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusForbidden, http.StatusTooManyRequests} {
		f.reads(0, status)
		for what, r := range map[string]*http.Request{
			"a file": request(http.MethodGet, permanent), "a range": request(http.MethodGet, permanent, "Range: bytes=3-8"),
			"a thumbnail": request(http.MethodGet, small),
		} {
			if w := s.do(r); !unavailable(w) {
				t.Errorf("%d: %s: %d %v %s", status, what, w.Code, w.Header(), w.Body)
			}
		}
	}
	f.fault.Store(nil)
	if w := s.follow(http.MethodGet, permanent); w.Code != http.StatusOK || w.Body.String() != asPNG(t, halves(700, 500, green)) {
		t.Errorf("afterwards: %d %v", w.Code, w.Header())
	}
}

// TestFilesAreNotSentInPart checks that a client notices when the store breaks off in the middle,
// and that it is logged.
func TestFilesAreNotSentInPart(t *testing.T) {
	s := newShelf(t)
	f := onFaulty(t, s)
	content := asPNG(t, halves(700, 500, green))
	permanent := s.sent(t, picture, content)
	f.reads(600, 0)
	log := &storetest.Log{}
	mux := http.NewServeMux()
	for pattern, pages := range files.Handlers(files.Options{Learning: s.learning, Log: slog.New(slog.NewTextHandler(log, nil))}) {
		mux.Handle(pattern, pages)
	}
	served := httptest.NewServer(mux)
	t.Cleanup(served.Close)
	for _, header := range []string{"", "bytes=1-" + fmt.Sprint(len(content)-2), "bytes=1-2, 5-900"} {
		r := request(http.MethodGet, served.URL+permanent, "Range: "+header)
		r.RequestURI = ""
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if w.StatusCode < 300 && err == nil {
			t.Errorf("%q: %d bytes count as all", header, len(got))
		}
	}
	if log.Count("a file could not be sent completely") != 3 || log.Count("secret") > 0 {
		t.Errorf("logged: %s", log)
	}
}

// TestPicturesThatCannotBeRead checks that a failure of the store neither rejects or loses a
// picture that was sent, nor has a picture count as broken.
func TestPicturesThatCannotBeRead(t *testing.T) {
	s := newShelf(t)
	f := onFaulty(t, s)
	green := halves(700, 500, green)
	for extension, content := range map[string]string{
		"png": asPNG(t, green), "jpg": turnedJPEG(t, green, 6),
		"gif": encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, green, nil) }),
	} {
		for _, after := range []int{0, 10} {
			q := picture
			q.Extension = extension
			to, permanent := s.slot(t, q)
			f.reads(after, http.StatusServiceUnavailable)
			all := fmt.Sprint(len(content))
			w := s.sendRange(to, fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)), strings.NewReader(content))
			if w.Code != http.StatusOK && !unavailable(w) {
				t.Errorf("%s, sent: %d %s", extension, w.Code, w.Body)
			}
			f.fault.Store(nil)
			s.wantRange(t, "asked", s.do(request(http.MethodHead, to)), http.StatusOK, all, "")
			s.wantRange(t, "the rest", s.sendRange(to, "bytes */"+all, http.NoBody), http.StatusOK, all, "")
			f.reads(after, http.StatusServiceUnavailable)
			if w := s.follow(http.MethodGet, permanent+"?width=320"); !unavailable(w) {
				t.Errorf("%s, small: %d %s", extension, w.Code, w.Body)
			}
			f.fault.Store(nil)
			w = s.follow(http.MethodGet, permanent+"?width=320")
			if small, _, err := image.Decode(w.Body); err != nil || small.Bounds().Dx() != 320 || (extension == "jpg") != (small.Bounds().Dy() > 320) {
				t.Errorf("%s, small: %v %d %s", extension, err, w.Code, w.Body)
			}
		}
	}
}

// TestFilesSentAgain checks that of a file that was sent as a whole again, because the store failed
// after its last byte, one copy remains.
func TestFilesSentAgain(t *testing.T) {
	s := newShelf(t)
	f := onFaulty(t, s)
	q := pattern
	q.Extension = "mp3"
	content := "ID3" + strings.Repeat("\x00", 17<<20) // larger than one part
	to, _ := s.slot(t, q)
	f.reads(0, http.StatusForbidden)
	if w := s.send(to, content); !unavailable(w) {
		t.Errorf("sent: %d %s", w.Code, w.Body)
	}
	f.fault.Store(nil)
	if w := s.send(to, content); w.Code != http.StatusOK {
		t.Errorf("sent again: %d %s", w.Code, w.Body)
	}
	if left, err := f.kept.ListBucket("files", nil, gofakes3.ListBucketPage{}); err != nil || len(left.Contents) != 1 {
		t.Errorf("%d objects are left, %v", len(left.Contents), err)
	}
	found, err := s.learning.CheckFiles(t.Context(), true, func(int64) {})
	if err != nil || found.Files != 1 || len(found.Wrong) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
