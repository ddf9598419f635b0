package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

// bucket is an S3-compatible store in the test that can be made to fail.
type bucket struct {
	address string
	kept    gofakes3.Backend
	whole   http.Handler
	fault   atomic.Pointer[http.HandlerFunc]
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	kept := s3mem.New()
	if err := kept.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	b := &bucket{kept: kept, whole: gofakes3.New(kept).Server()}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := b.fault.Load(); fault != nil {
			(*fault)(w, r)
			return
		}
		b.whole.ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	b.address = strings.Replace(served.URL, "http://", "http://key:secret@", 1) + "/files/school?region=eu-central-1"
	return b
}

func (b *bucket) open(t *testing.T) *files.S3 {
	t.Helper()
	store, err := files.NewS3(b.address)
	if err != nil {
		t.Fatal(err)
	}
	store.Cut()
	return store
}

func (b *bucket) breaks(fault http.HandlerFunc) { b.fault.Store(&fault) }

func noise(size int) []byte {
	content := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(content)
	return content
}

func contentOf(t *testing.T, store lyceum.FileStore, name lyceum.FileName) []byte {
	t.Helper()
	file, err := store.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func names(t *testing.T, store lyceum.FileStore, prefix lyceum.FileName) (found []lyceum.FileName) {
	t.Helper()
	if err := store.Each(t.Context(), prefix, func(f lyceum.StoredFile) error { found = append(found, f.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

// Files of any size are stored unchanged, in one go and in parts with restarts in between.
func TestS3KeepsFiles(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	if err := b.open(t).Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	content := noise(5 << 19) // it is sent in parts of 1 MiB
	for what, ends := range map[string][]int{
		"small": {1000}, "in small parts": {10, 700, 1000}, "one part": {1 << 20}, "large": {5 << 19},
		"in large parts": {1, 1 << 20, 5 << 18, 2<<20 + 5, 5 << 19},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			name := lyceum.FileName("1/7c/" + strings.ReplaceAll(what, " ", "-"))
			from := 0
			var sum lyceum.FileSum
			for n, to := range ends {
				store := b.open(t) // like a restarted server
				part, err := store.Part(t.Context(), name)
				if err != nil || part.Size() != int64(from) {
					t.Fatal(part, err)
				}
				last := n == len(ends)-1
				body := io.Reader(bytes.NewReader(content[from:to]))
				if !last {
					body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
				}
				if err := part.Append(t.Context(), body, int64(to-from)); last != (err == nil) {
					t.Fatal(err)
				}
				if last {
					if sum, err = part.Keep(t.Context(), func(lyceum.FileSum) error { return nil }); err != nil {
						t.Fatal(err)
					}
					again, err := b.open(t).Part(t.Context(), name) // like a server that starts after it was killed
					if err != nil || again.Size() < int64(from) {
						t.Fatalf("%d bytes were acknowledged, and %v have come: %v", from, again, err)
					}
					if err := errors.Join(part.Forget(t.Context()), again.Close()); err != nil {
						t.Fatal(err)
					}
				}
				if err := part.Close(); err != nil {
					t.Fatal(err)
				}
				from = to
			}
			store := b.open(t)
			if want := content[:from]; sum.SHA256 != sha256.Sum256(want) || !bytes.Equal(contentOf(t, store, sum.Name), want) {
				t.Errorf("%d bytes of %d", sum.Size, from)
			}
			file, err := store.Open(t.Context(), sum.Name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			end, _ := file.Seek(-5, io.SeekEnd)
			if tail, err := io.ReadAll(file); err != nil || end != int64(from-5) || !bytes.Equal(tail, content[from-5:from]) {
				t.Errorf("the end from %d: %x, %v", end, tail, err)
			}
			if found := names(t, store, name); len(found) != 1 || found[0] != sum.Name {
				t.Errorf("%v", found)
			}
			if part, err := store.Part(t.Context(), name); err != nil || part.Size() != 0 {
				t.Errorf("a part is left: %v, %v", part, err)
			}
			if err := errors.Join(store.Remove(t.Context(), sum.Name), store.Remove(t.Context(), name)); err != nil {
				t.Error(err)
			}
			if _, err := store.Open(t.Context(), sum.Name); lyceum.KindOf(err) != lyceum.NotFound {
				t.Errorf("removed: %v", err)
			}
		})
	}
}

// While the store is down or returns nonsense, nothing is acknowledged, and the part resumes
// afterwards.
func TestS3Faults(t *testing.T) {
	t.Parallel()
	faults := map[string]http.HandlerFunc{
		"it hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"it refuses":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"it fails":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a page":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>It works!</html>") },
		"other etags": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"x"`) },
		"slow":        func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		"another place": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
	}
	content := noise(5 << 18)
	for what, fault := range faults {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBucket(t)
			store := b.open(t)
			breaks := func() {
				b.breaks(fault)
				store.Hurry(200 * time.Millisecond)
			}
			works := func() {
				b.fault.Store(nil)
				store.Hurry(time.Minute)
			}
			send := func(from, to int) (part lyceum.FilePart, err error) {
				if part, err = store.Part(t.Context(), name); err != nil {
					return nil, err
				}
				if part.Size() != int64(from) {
					t.Fatalf("%d bytes have come, not %d", part.Size(), from)
				}
				return part, part.Append(t.Context(), bytes.NewReader(content[from:to]), int64(to-from))
			}
			begun, err := send(0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := begun.Close(); err != nil {
				t.Fatal(err)
			}
			part, err := store.Part(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			breaks()
			_, opened := store.Part(t.Context(), name)
			_, read := store.Open(t.Context(), name)
			err = part.Append(t.Context(), bytes.NewReader(content[1000:2000]), 1000)
			_, small := part.Keep(t.Context(), func(lyceum.FileSum) error { return nil })
			for did, err := range map[string]error{"part": opened, "open": read, "keep": small} {
				if lyceum.KindOf(err) != lyceum.Unavailable && !(did == "open" && (what == "a page" || what == "other etags")) {
					t.Errorf("%s: %v", did, err)
				}
			}
			if err != nil {
				t.Error(err)
			}
			_ = part.Close() // cannot be saved
			works()
			if part, err = store.Part(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			breaks()
			err = part.Append(t.Context(), bytes.NewReader(content[1000:]), int64(len(content)))
			if lyceum.KindOf(err) != lyceum.Unavailable || part.Size() != 1000 {
				t.Errorf("large: %d bytes, %v", part.Size(), err)
			}
			if err := part.Close(); err != nil {
				t.Error(err)
			}
			works()
			store = b.open(t)
			part, err = send(1000, len(content))
			if err != nil {
				t.Fatal(err)
			}
			sum, err := part.Keep(t.Context(), func(lyceum.FileSum) error { return nil })
			if err = errors.Join(err, part.Close()); err != nil || !bytes.Equal(contentOf(t, store, sum.Name), content) {
				t.Errorf("%d bytes, %v", sum.Size, err)
			}
		})
	}
}

// If two servers concurrently receive different parts of the same file, one complete file
// remains.
func TestS3TwoServers(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	for n, size := range []int{1000, 5 << 18} {
		name := lyceum.FileName(fmt.Sprintf("1/7c/two-%d", n))
		var parts []lyceum.FilePart
		for range 2 {
			part, err := b.open(t).Part(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		for i, part := range parts {
			if err := part.Append(t.Context(), bytes.NewReader(noise(size + i)[i:]), int64(size)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(parts[0].Close(), parts[1].Close()); err != nil {
			t.Fatal(err)
		}
		store := b.open(t)
		part, err := store.Part(t.Context(), name)
		if err != nil || part.Size() != int64(size) {
			t.Fatal(part, err)
		}
		sum, err := part.Keep(t.Context(), func(lyceum.FileSum) error { return nil })
		if err != nil || sha256.Sum256(contentOf(t, store, sum.Name)) != sum.SHA256 {
			t.Errorf("%d bytes: what is kept is not what has this SHA-256: %v", size, err)
		}
		if err := errors.Join(part.Close(), store.Remove(t.Context(), sum.Name), store.Remove(t.Context(), name)); err != nil {
			t.Error(err)
		}
	}
}

// A file that another server completes while a part of it is being opened stays as it is.
func TestS3CompletedElsewhere(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	content := noise(2000)
	accept := func(lyceum.FileSum) error { return nil }
	part, err := b.open(t).Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(part.Append(t.Context(), bytes.NewReader(content[:1000]), 1000), part.Close()); err != nil {
		t.Fatal(err)
	}
	var sum lyceum.FileSum
	completes := func() error {
		whole, err := b.open(t).Part(t.Context(), name)
		if err != nil {
			return err
		}
		if err = whole.Append(t.Context(), bytes.NewReader(content[1000:]), 1000); err == nil {
			sum, err = whole.Keep(t.Context(), accept)
		}
		return errors.Join(err, whole.Forget(t.Context()), whole.Close())
	}
	b.breaks(func(w http.ResponseWriter, r *http.Request) {
		if state := strings.HasSuffix(r.URL.Path, ".state"); r.Method == http.MethodGet && !state {
			b.fault.Store(nil)
			if err := completes(); err != nil {
				t.Error(err)
			}
		}
		b.whole.ServeHTTP(w, r)
	})
	late, err := b.open(t).Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if late.Size() != 0 {
		t.Errorf("%d bytes of a complete file count as a part", late.Size())
	}
	if err := late.Append(t.Context(), bytes.NewReader(content[1000:]), 1000); err != nil {
		t.Fatal(err)
	}
	_, _ = late.Keep(t.Context(), accept) // may fail
	if !bytes.Equal(contentOf(t, b.open(t), sum.Name), content) {
		t.Error("the complete file was replaced")
	}
	_ = late.Close()
}

// What a store still has of a part because removing it failed is removed with the file.
func TestS3RemovesLeftovers(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	store := b.open(t)
	for n, fails := range []bool{false, true} {
		part, err := store.Part(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Append(t.Context(), bytes.NewReader(noise(10)), 10); err != nil {
			t.Fatal(err)
		}
		if fails {
			b.breaks(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				b.whole.ServeHTTP(w, r)
			})
		}
		if err := part.Close(); fails != (err != nil) {
			t.Fatal(n, err)
		}
	}
	b.fault.Store(nil)
	if left, err := b.kept.ListBucket("files", nil, gofakes3.ListBucketPage{}); err != nil || len(left.Contents) != 3 {
		t.Fatalf("%d objects, %v: want a state, what it needs, and what it does not", len(left.Contents), err)
	}
	if err := store.Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if left, err := b.kept.ListBucket("files", nil, gofakes3.ListBucketPage{}); err != nil || len(left.Contents) > 0 {
		t.Errorf("%d objects are left, %v", len(left.Contents), err)
	}
}

// A server that was killed between the store's last response and its own finds the file.
func TestS3AfterAKill(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	content := noise(5 << 18)
	store := b.open(t)
	part, err := store.Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := part.Append(t.Context(), bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
	if err := part.Close(); err != nil {
		t.Fatal(err)
	}
	first, err := store.Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.open(t).Part(t.Context(), name) // another server has the same part
	if err != nil {
		t.Fatal(err)
	}
	accept := func(lyceum.FileSum) error { return nil }
	one, err := first.Keep(t.Context(), accept)
	if err != nil {
		t.Fatal(err)
	}
	two, err := second.Keep(t.Context(), accept)
	if err == nil && (one != two || !bytes.Equal(contentOf(t, store, one.Name), content)) {
		t.Errorf("%+v and %+v", one, two)
	}
	if err != nil {
		t.Error(err)
	}
	_ = errors.Join(first.Close(), second.Close())
}

// A URL that is not one of an S3 store is rejected, without showing its secret.
func TestS3Addresses(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{
		"", "s3://bucket", "https://key:canary@s3.example.com", "https://key:canary@s3.example.com/", "https://key@s3.example.com/bucket",
		"https://s3.example.com/bucket", "https://key:canary@s3.example.com/bucket?regio=x", "https://key:canary@s3.example.com/bucket#x", "https://key:canary%zz@s3.example.com/bucket",
	} {
		if _, err := files.NewS3(odd); lyceum.KindOf(err) != lyceum.Invalid || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", odd, err)
		}
	}
	store, err := files.NewS3("https://key:a%2Fb@192.0.2.1/bucket")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Open(gone, name); err == nil {
		t.Error("opened")
	}
}
