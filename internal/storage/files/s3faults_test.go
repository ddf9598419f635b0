package files_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A store that answers a request for a part of a file with all of it, or with another file, is not
// taken at its word.
func TestS3SendsOnlyWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	content := noise(1000)
	for what, tc := range map[string]struct {
		from  int64
		fault func(b *bucket) http.HandlerFunc
	}{
		"ranges are ignored": {10, func(b *bucket) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Range")
				b.whole.ServeHTTP(w, r)
			}
		}},
		"a page": {0, func(b *bucket) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					b.whole.ServeHTTP(w, r)
					return
				}
				_, _ = io.WriteString(w, strings.Repeat("<p>Sign in to this network!</p>", 100))
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBucket(t)
			store := b.open(t)
			sum := keptAs(t, store, name, content)
			b.breaks(tc.fault(b))
			file, err := store.Open(t.Context(), sum.Name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.Seek(tc.from, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(file); lyceum.KindOf(err) != lyceum.Unavailable || len(got) > 0 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// A file is missing only if the store says so of the file, not of its bucket.
func TestS3TellsAMissingFileFromAMissingBucket(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	store := b.open(t)
	sum := keptAs(t, store, name, noise(10))
	b.breaks(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		b.whole.ServeHTTP(w, r)
	})
	if got := contentOf(t, store, sum.Name); !bytes.Equal(got, noise(10)) {
		t.Errorf("%x", got)
	}
	b.fault.Store(nil)
	if err := errors.Join(store.Remove(t.Context(), sum.Name), store.Remove(t.Context(), name)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), sum.Name); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("removed: %v", err)
	}
	if err := b.kept.DeleteBucket("files"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), sum.Name); lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("without a bucket: %v", err)
	}
}
