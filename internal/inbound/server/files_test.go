package server_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/files"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
)

// A file may be larger than any other body, and is not named in the log.
func TestFilesThroughTheServer(t *testing.T) {
	var lessons *learning.Service
	s := newSite(t, logged, func(s *site, o *server.Options) {
		lessons = learning.New(s.store, s.clock.Now).SignLinks(nil, "").KeepFiles(kept.NewFolder(filepath.Join(s.dir, "files")))
		o.Files = files.Handlers(files.Options{Learning: lessons, Log: slog.New(slog.DiscardHandler)})
	})
	ticket, err := lessons.CreateUpload(t.Context(), lyceum.By{School: s.ours, Actor: "test"}, learning.NewUpload{
		Target: lyceum.CourseUpload, ID: 1, Purpose: lyceum.ThumbnailUpload, Extension: "gif",
	})
	if err != nil {
		t.Fatal(err)
	}
	content := "GIF89a\x01\x00\x01\x00\x00\x00\x00" + strings.Repeat("pixel", 1<<20)
	wantStatus(t, s.do(request(http.MethodPut, wire.UploadURL("", ticket), strings.NewReader(content))), http.StatusOK)
	got := s.do(request(http.MethodGet, lyceum.UploadPath(s.ours, ticket.UUID, "gif"), nil))
	if got.Code != http.StatusOK || got.Body.String() != content {
		t.Errorf("%d, %d bytes", got.Code, got.Body.Len())
	}
	if h := got.Header(); h.Get("Content-Security-Policy") != "sandbox" || h.Get("Content-Encoding") != "" || h.Get("X-Request-Id") == "" {
		t.Errorf("%v", h)
	}
	lines := s.log.lines(t, "request")
	if len(lines) != 2 || lines[0]["path"] != wire.FilePath || strings.Contains(s.log.String(), ticket.Signature) || strings.Contains(s.log.String(), ticket.UUID) {
		t.Errorf("logged %v", lines)
	}
}
