package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// TestUploadsOutliveKills kills a server during uploads, to a folder and to an object store
// that fails now and then. What it acknowledged of a file still exists afterwards, a complete
// file equals the one that was sent, and abandoned uploads are swept. LYCEUM_KILLS sets a
// higher number of kills; -v prints a table.
func TestUploadsOutliveKills(t *testing.T) {
	t.Parallel()
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("LYCEUM_KILLS")); err == nil && n > kills {
		kills = n
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, t.TempDir())
		folder := files.NewFolder(filepath.Join(s.place, "files"))
		c := &uploadKills{shop: s, kept: folder}
		c.run(t, kills)
		if left := filesIn(t, filepath.Join(s.place, "files")); len(left) > 0 {
			t.Errorf("%d files are left after the sweep", len(left))
		}
	})
	t.Run("object store", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, t.TempDir())
		inside := s3mem.New()
		if err := inside.CreateBucket("bucket"); err != nil {
			t.Fatal(err)
		}
		whole := gofakes3.New(inside).Server()
		var faults atomic.Bool
		served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if faults.Load() && rand.IntN(10) == 0 {
				failStore(w)
				return
			}
			whole.ServeHTTP(w, r)
		}))
		t.Cleanup(served.Close)
		remote := strings.Replace(served.URL, "http://", "http://key:secret@", 1) + "/bucket"
		kept, err := files.NewS3(remote)
		if err != nil {
			t.Fatal(err)
		}
		s.flags = append(s.flags, "--files-url", remote)
		c := &uploadKills{shop: s, kept: kept, faults: &faults, checked: []string{"--files-url", remote}}
		c.run(t, kills)
		if left, err := inside.ListBucket("bucket", nil, gofakes3.ListBucketPage{}); err != nil || len(left.Contents) > 0 {
			for _, object := range left.Contents {
				t.Log(object.Key, object.Size)
			}
			t.Errorf("%d objects are left after the sweep, %v", len(left.Contents), err)
		}
	})
}

// failStore responds like an object store that fails, or like something else.
func failStore(w http.ResponseWriter) {
	switch rand.IntN(3) {
	case 0:
		panic(http.ErrAbortHandler)
	case 1:
		w.WriteHeader(http.StatusInternalServerError)
	case 2:
		_, _ = io.WriteString(w, "<html>It works!</html>")
	}
}

// comingFile is a file that is being uploaded.
type comingFile struct {
	*sending

	acknowledged int  // bytes
	begun        bool // before the server was killed
	complete     bool
}

// uploadKills uploads files while their server is killed.
type uploadKills struct {
	*shop

	kept    lyceum.FileStore
	faults  *atomic.Bool // of kept; nil if it has none
	checked []string     // flags of lyceum check

	left  atomic.Int64 // bytes that are still sent before the server is killed
	later bool         // it is killed concurrently with what the request does next
	once  sync.Once

	goOn, again, lost             atomic.Int64
	begun, complete, alone, wrong int
}

func (c *uploadKills) run(t *testing.T, kills int) {
	const senders = 4
	coming := make([]*comingFile, senders)
	var all []*comingFile
	for n := range kills {
		c.serve(t)
		for i, f := range coming {
			if f != nil && !f.complete && rand.IntN(5) > 0 {
				continue
			}
			if f != nil && !f.complete {
				c.alone++
			}
			coming[i] = &comingFile{sending: c.sending(t, 1<<10+rand.IntN(1<<20))}
			if i == 0 && n%10 == 0 {
				coming[i] = &comingFile{sending: c.sending(t, 17<<20)} // more than one part of an object store
			}
			c.begun++
			all = append(all, coming[i])
		}
		sum := 0
		for _, f := range coming {
			sum += len(f.content) - f.acknowledged
		}
		c.left.Store(1 + rand.Int64N(int64(sum)))
		c.once, c.later = sync.Once{}, rand.IntN(2) == 0
		c.fail(true)
		var group sync.WaitGroup
		for _, f := range coming {
			group.Go(func() { c.send(t, f) })
		}
		group.Wait()
		c.server.kill(t) // all uploads may have finished before
		c.fail(false)
	}
	c.left.Store(1 << 60)
	c.serve(t)
	for _, f := range coming {
		if c.send(t, f); !f.complete {
			t.Errorf("a file does not end: %d of %d bytes", f.acknowledged, len(f.content))
		}
	}
	for _, f := range all {
		if f.complete {
			c.complete++
		}
		status, body := get(t, f.url)
		kept := status == http.StatusOK // the client that gave up may not have received that
		if f.complete && !kept || kept && body != string(f.content) {
			t.Errorf("a file that is complete (%v): %d with %d bytes of %d", f.complete, status, len(body), len(f.content))
			c.wrong++
		}
	}
	if status, err := c.server.signal(15); err != nil || status != 0 {
		t.Error(status, err)
	}
	if status, said := ran(t, append([]string{"check", "--deep", "--data", c.place}, c.checked...)...); status != 0 {
		t.Errorf("check: %d %s", status, said)
	}
	c.sweep(t)
	t.Logf("| kills | files | complete | went on | began again | left alone | acknowledged bytes lost | wrong files |\n"+
		"| %d | %d | %d | %d | %d | %d | %d | %d |", kills, c.begun, c.complete, c.goOn.Load(), c.again.Load(), c.alone, c.lost.Load(), c.wrong)
}

func (c *uploadKills) fail(on bool) {
	if c.faults != nil {
		c.faults.Store(on)
	}
}

// sweep removes everything, like the server does a day later, because nothing refers to it.
func (c *uploadKills) sweep(t *testing.T) {
	store, err := openStore(t.Context(), c.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	later := func() time.Time { return time.Now().Add(26 * time.Hour) }
	if err := learning.New(store, later).KeepFiles(c.kept).SweepFiles(t.Context(), c.school); err != nil {
		t.Error(err)
	}
}

// send uploads a file, in parts of any size, until it is complete or the server is gone.
func (c *uploadKills) send(t *testing.T, f *comingFile) {
	first := f.begun
	f.begun = true
	for !f.complete {
		come, complete, alive := c.arrived(f)
		if !alive {
			return
		}
		if come < f.acknowledged {
			t.Errorf("%d bytes were acknowledged, and %d have come", f.acknowledged, come)
			c.lost.Add(int64(f.acknowledged - come))
			f.acknowledged = come
		}
		if first && come > 0 {
			c.goOn.Add(1)
		} else if first {
			c.again.Add(1)
		}
		first = false
		if f.complete = complete; complete {
			break
		}
		to := len(f.content)
		if rest := to - come; rest > 0 && rand.IntN(3) > 0 {
			to = come + 1 + rand.IntN(rest)
		}
		status, size, err := f.put(come, to, c.counted(t, f.content[come:to]))
		if err == nil && (status == http.StatusOK || status == http.StatusPermanentRedirect) {
			f.acknowledged, f.complete = size, status == http.StatusOK
		}
	}
}

// arrived requests how much of a file has arrived, until there is a response or the server is gone.
func (c *uploadKills) arrived(f *comingFile) (come int, complete, alive bool) {
	await(func() bool {
		r, err := http.NewRequest(http.MethodHead, f.to, nil)
		if err != nil {
			return true
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return !c.server.running()
		}
		response.Body.Close()
		come, _ = strconv.Atoi(response.Header.Get("Upload-Offset"))
		complete, alive = response.Header.Get("Upload-Complete") == "?1", response.StatusCode == http.StatusOK
		return alive
	})
	return come, complete, alive
}

// counted returns a body that kills the server once enough has been sent.
func (c *uploadKills) counted(t *testing.T, content []byte) io.Reader {
	from, server := bytes.NewReader(content), c.server
	return readFunc(func(p []byte) (int, error) {
		n, err := from.Read(p[:min(len(p), 4<<10)])
		if c.left.Add(-int64(n)) < 0 {
			c.once.Do(func() {
				if c.later {
					go server.kill(t)
				} else {
					server.kill(t)
				}
			})
			if !c.later && err == nil {
				err = errors.New("the server was killed")
			}
		}
		return n, err
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
