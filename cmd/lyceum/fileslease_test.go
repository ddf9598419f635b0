package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// besides starts another server on a shop's database.
func (s *shop) besides(t *testing.T, flags ...string) *shop {
	t.Helper()
	other := &shop{place: s.place, school: s.school, key: s.key, addr: freeAddress(t), metrics: freeAddress(t), flags: flags}
	other.serve(t)
	t.Cleanup(func() { other.server.kill(t) })
	return other
}

// whole uploads a file in one go, and returns the status.
func (s *sending) whole(t *testing.T) int {
	t.Helper()
	status, _, err := s.put(0, len(s.content), bytes.NewReader(s.content))
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// TestFilesOfSeveralServers checks that of several servers of one database with separate file
// folders only one accepts and sends files, and says so, and that servers with the same object
// store share the files.
func TestFilesOfSeveralServers(t *testing.T) {
	t.Parallel()
	first := openShop(t, storetest.Postgres(t))
	first.flags = []string{"--data", t.TempDir()}
	first.serve(t)
	f := first.sending(t, 1000)
	if status := f.whole(t); status != http.StatusOK {
		t.Fatalf("the first server: %d", status)
	}
	second := first.besides(t, "--data", t.TempDir())
	g := second.sending(t, 1000)
	if status := g.whole(t); status != http.StatusServiceUnavailable {
		t.Errorf("the second server: %d", status)
	}
	path := f.url[strings.Index(f.url, "/files/"):]
	if status, said := get(t, "http://"+second.addr+path); status != http.StatusServiceUnavailable || !strings.Contains(said, "another server of the same database keeps") {
		t.Errorf("a file of the first server: %d %s", status, said)
	}
	if status, body := get(t, f.url); status != http.StatusOK || body != string(f.content) {
		t.Errorf("the first server: %d", status)
	}
	first.server.kill(t)
	if !await(func() bool { return g.whole(t) == http.StatusOK }) {
		t.Error("the second server does not take over")
	}
	if status, err := second.server.signal(15); err != nil || status != 0 {
		t.Error(status, err)
	}

	inside := s3mem.New()
	if err := inside.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(gofakes3.New(inside).Server())
	t.Cleanup(served.Close)
	remote := strings.Replace(served.URL, "http://", "http://key:secret@", 1) + "/bucket"
	third, fourth := first.besides(t, "--files-url", remote), first.besides(t, "--files-url", remote)
	h := third.sending(t, 1000)
	if status := h.whole(t); status != http.StatusOK {
		t.Fatalf("with an object store: %d", status)
	}
	path = h.url[strings.Index(h.url, "/files/"):]
	if status, body := get(t, "http://"+fourth.addr+path); status != http.StatusOK || body != string(h.content) {
		t.Errorf("the other server: %d", status)
	}
}
