package files_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
)

// TestFilesInAnS3Store checks that with an S3-compatible store files are received in parts, sent
// in ranges, checked and removed as with a folder, and that clients are told to retry while the
// store is down.
func TestFilesInAnS3Store(t *testing.T) {
	s := newShelf(t)
	inside := s3mem.New()
	if err := inside.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	var down atomic.Bool
	whole := gofakes3.New(inside).Server()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		whole.ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	begin := func() {
		store, err := kept.NewS3(strings.Replace(served.URL, "http://", "http://key:secret@", 1) + "/files")
		if err != nil {
			t.Fatal(err)
		}
		s.learning.KeepFiles(store)
	}
	begin()
	to, permanent := s.slot(t, picture)
	s.wantRange(t, "the first", s.sendRange(to, "bytes 0-8/51", strings.NewReader(png[:9])), http.StatusPermanentRedirect, "9", "")
	begin() // as after a restart of the server
	down.Store(true)
	refused := s.sendRange(to, "bytes 9-50/51", strings.NewReader(png[9:]))
	if refused.Code != http.StatusServiceUnavailable || refused.Header().Get("Retry-After") == "" {
		t.Errorf("the store is down: %d %v", refused.Code, refused.Header())
	}
	down.Store(false)
	s.wantRange(t, "asked", s.do(request(http.MethodHead, to)), http.StatusOK, "9", "")
	s.wantRange(t, "the rest", s.sendRange(to, "bytes 9-50/51", strings.NewReader(png[9:])), http.StatusOK, "51", "")
	w := s.do(request(http.MethodGet, permanent, "Range: bytes=1-3"))
	if w.Code != http.StatusPartialContent || w.Body.String() != "PNG" {
		t.Errorf("a range: %d %q", w.Code, w.Body)
	}
	found, err := s.learning.CheckFiles(t.Context(), true, func(int64) {})
	if err != nil || found.Files != 1 || len(found.Wrong) > 0 || found.Orphans > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	down.Store(true)
	if w := s.follow(http.MethodGet, permanent); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || w.Header().Get("Cache-Control") != "" {
		t.Errorf("the store is down: %d %v", w.Code, w.Header())
	}
	down.Store(false)
	s.clock.Pass(24 * time.Hour)
	s.sweep(t)
	s.want(t, "used by nothing", permanent, http.StatusNotFound, "there is no such file")
	if left := s.uploads(t); left > 0 {
		t.Errorf("%d uploads are left", left)
	}
}
