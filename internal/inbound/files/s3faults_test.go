package files_test

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
)

// faulty is an S3-compatible store that can be made to fail.
type faulty struct {
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
	f := &faulty{whole: gofakes3.New(inside).Server()}
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
