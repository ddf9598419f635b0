package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
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

// Listings that are wrong end, and concern no other files.
func TestS3Listings(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		fault func(b *bucket, w http.ResponseWriter, r *http.Request)
		fails bool
		hurry time.Duration
	}{
		"the prefix is ignored": {func(b *bucket, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			q.Del("prefix")
			r.URL.RawQuery = q.Encode()
			b.whole.ServeHTTP(w, r)
		}, false, time.Minute},
		"a page repeats": {func(b *bucket, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			q.Del("continuation-token")
			r.URL.RawQuery = q.Encode()
			seen := httptest.NewRecorder()
			b.whole.ServeHTTP(seen, r)
			text := strings.Replace(seen.Body.String(), "<IsTruncated>false</IsTruncated>", "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>", 1)
			_, _ = io.WriteString(w, text)
		}, true, 300 * time.Millisecond}, // a page without files only ends when the time is over
		"it stalls": {func(_ *bucket, w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "<ListBucketResult>")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, true, 300 * time.Millisecond},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBucket(t)
			store := b.open(t)
			sum := keptAs(t, store, name, noise(10))
			other := keptAs(t, store, "1/7d/other", noise(20))
			store.Hurry(tc.hurry)
			b.breaks(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Has("list-type") {
					tc.fault(b, w, r)
					return
				}
				b.whole.ServeHTTP(w, r)
			})
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
			defer stop()
			removed := 0
			err := store.Each(ctx, name, func(lyceum.StoredFile) error {
				removed++
				return nil
			})
			if ctx.Err() != nil || tc.fails != (lyceum.KindOf(err) == lyceum.Unavailable) || removed > 3 {
				t.Errorf("%d files, %v", removed, err)
			}
			err = store.Remove(ctx, sum.Name)
			if ctx.Err() != nil || tc.fails != (err != nil) {
				t.Errorf("remove: %v", err)
			}
			b.fault.Store(nil)
			store.Hurry(time.Minute)
			if got := contentOf(t, store, other.Name); !bytes.Equal(got, noise(20)) {
				t.Errorf("other: %x", got)
			}
		})
	}
}

// The prefix of a store may have any characters.
func TestS3Prefixes(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	for _, prefix := range []string{"a b", "a+b", "a%b", "ü/ß", "a&b=c;d", "a//b", "a'()*!~", "a.b_c", "?", "#x"} {
		address := strings.Replace(b.address, "/school?", "/"+(&url.URL{Path: prefix}).EscapedPath()+"?", 1)
		one := &bucket{address: address}
		store := one.open(t)
		sum := keptAs(t, store, name, noise(5<<18))
		if found := names(t, store, name); len(found) != 1 || found[0] != sum.Name {
			t.Errorf("%q: %v", prefix, found)
		}
		if !bytes.Equal(contentOf(t, store, sum.Name), noise(5<<18)) {
			t.Errorf("%q: other content", prefix)
		}
		if err := errors.Join(store.Remove(t.Context(), sum.Name), store.Remove(t.Context(), name)); err != nil {
			t.Error(err)
		}
		if left, err := b.kept.ListBucket("files", nil, gofakes3.ListBucketPage{}); err != nil || len(left.Contents) > 0 {
			t.Errorf("%q: %d objects are left, %v", prefix, len(left.Contents), err)
		}
	}
}

// Content that was kept can be kept again until it is forgotten, because whoever kept it may fail
// to record it.
func TestS3KeepsUntilForgotten(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	accept := func(lyceum.FileSum) error { return nil }
	for n, size := range []int{1000, 5 << 18} {
		name := lyceum.FileName(fmt.Sprintf("1/7c/again-%d", n))
		content := noise(size)
		store := b.open(t)
		part, err := store.Part(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Append(t.Context(), bytes.NewReader(content), int64(size)); err != nil {
			t.Fatal(err)
		}
		first, err := part.Keep(t.Context(), accept)
		if err = errors.Join(err, part.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := store.Part(t.Context(), name)
		if err != nil || again.Size() != int64(size) {
			t.Fatalf("%d bytes of %d are left: %v", again.Size(), size, err)
		}
		second, err := again.Keep(t.Context(), accept)
		if err = errors.Join(err, again.Forget(t.Context()), again.Close()); err != nil {
			t.Fatal(err)
		}
		if first != second || !bytes.Equal(contentOf(t, store, second.Name), content) {
			t.Errorf("first %v, then %v", first, second)
		}
		if left, err := store.Part(t.Context(), name); err != nil || left.Size() > 0 {
			t.Errorf("%d bytes are left: %v", left.Size(), err)
		}
	}
}

// An upload whose first part cannot be sent leaves nothing in the store, however often it is tried.
func TestS3EndsUploadsThatDidNotBegin(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	content := noise(1 << 20)
	b.breaks(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			b.whole.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the store has the part, and its response is lost
		}
		b.whole.ServeHTTP(w, r)
	})
	for range 2 {
		part, err := b.open(t).Part(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Append(t.Context(), bytes.NewReader(content), 1<<20); lyceum.KindOf(err) != lyceum.Unavailable || part.Size() > 0 {
			t.Errorf("%d bytes, %v", part.Size(), err)
		}
		if err := part.Close(); err != nil {
			t.Error(err)
		}
	}
	left := httptest.NewRecorder()
	b.whole.ServeHTTP(left, httptest.NewRequest(http.MethodGet, "/files?uploads", nil))
	if strings.Contains(left.Body.String(), "<UploadId>") {
		t.Errorf("left: %s", left.Body)
	}
}

// A file whose store breaks off after a while is read to its end; one that sends next to nothing is
// not asked again.
func TestS3ContinuesReading(t *testing.T) {
	t.Parallel()
	content := noise(1 << 20)
	for what, tc := range map[string]struct{ each, asked, got int }{
		"most": {300 << 10, 4, 1 << 20}, "next to nothing": {1000, 1, 1000},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBucket(t)
			store := b.open(t)
			sum := keptAs(t, store, name, content)
			var asked atomic.Int64
			b.breaks(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					b.whole.ServeHTTP(w, r)
					return
				}
				asked.Add(1)
				seen := httptest.NewRecorder()
				b.whole.ServeHTTP(seen, r)
				maps.Copy(w.Header(), seen.Header())
				w.WriteHeader(seen.Code)
				_, _ = w.Write(seen.Body.Bytes()[:min(tc.each, seen.Body.Len())])
				_ = http.NewResponseController(w).Flush()
				if tc.each < seen.Body.Len() {
					panic(http.ErrAbortHandler)
				}
			})
			file, err := store.Open(t.Context(), sum.Name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			got, err := io.ReadAll(file)
			if whole := tc.got == len(content); !bytes.Equal(got, content[:tc.got]) || whole != (err == nil) || int(asked.Load()) != tc.asked {
				t.Errorf("%d bytes after %d requests, %v", len(got), asked.Load(), err)
			}
		})
	}
}
