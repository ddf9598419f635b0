package files_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// png begins like a picture of one pixel.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde and what is in it"

var (
	picture = learning.NewUpload{Target: lyceum.DownloadUpload, ID: 1, Purpose: lyceum.ThumbnailUpload, Extension: "PNG"}
	pattern = learning.NewUpload{Target: lyceum.DownloadUpload, ID: 1, Purpose: lyceum.AttachmentUpload, Extension: "pdf"}
)

// slot requests an address to send a file to, and returns its path and the permanent one.
func (s *shelf) slot(t *testing.T, q learning.NewUpload) (to, permanent string) {
	t.Helper()
	ticket, err := s.learning.CreateUpload(t.Context(), lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1}, q)
	if err != nil {
		t.Fatal(err)
	}
	return wire.UploadURL("", ticket), lyceum.UploadPath(s.ours, ticket.UUID, ticket.Extension)
}

func (s *shelf) send(address, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPut, address, strings.NewReader(body)))
	return w
}

// sent sends a file and returns its permanent path.
func (s *shelf) sent(t *testing.T, q learning.NewUpload, content string) string {
	t.Helper()
	to, permanent := s.slot(t, q)
	if w := s.send(to, content); w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("ETag") == "" {
		t.Fatalf("%d %s %v", w.Code, w.Body, w.Header())
	}
	return permanent
}

func (s *shelf) wantSent(t *testing.T, what, address, body string, status int, says string) {
	t.Helper()
	if w := s.send(address, body); w.Code != status || !strings.Contains(w.Body.String(), says) {
		t.Errorf("%s: %d %s, want %d with %q", what, w.Code, w.Body, status, says)
	}
}

// TestUploadsEndWithTheirKey checks that an address to send a file to, also of one that was begun,
// stops working with the API key that it was made with.
func TestUploadsEndWithTheirKey(t *testing.T) {
	revoke := func(tx lyceum.Tx) error {
		k, err := tx.APIKeys.Get(tx, 1)
		k.RevokedAt = lyceum.Some(storetest.Begin)
		return errors.Join(err, tx.APIKeys.Update(tx, k))
	}
	staffed := func(tx lyceum.Tx) error { return errors.Join(madeBy(tx, lyceum.User{}), hire(tx)) }
	for name, tc := range map[string]struct {
		role   lyceum.StaffRole
		change func(lyceum.Tx) error
		status int
	}{
		"unchanged":           {"", func(lyceum.Tx) error { return nil }, http.StatusOK},
		"revoked":             {"", revoke, http.StatusForbidden},
		"of staff, unchanged": {lyceum.SupportRole, staffed, http.StatusOK},
		"of staff, revoked":   {lyceum.SupportRole, func(tx lyceum.Tx) error { return errors.Join(staffed(tx), revoke(tx)) }, http.StatusForbidden},
		"role changed":        {lyceum.ManagerRole, staffed, http.StatusForbidden},
		"disabled": {lyceum.SupportRole, func(tx lyceum.Tx) error {
			return errors.Join(madeBy(tx, lyceum.User{DisabledAt: lyceum.Some(storetest.Begin)}), hire(tx))
		}, http.StatusForbidden},
		"left": {lyceum.SupportRole, func(tx lyceum.Tx) error { return madeBy(tx, lyceum.User{}) }, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			by := programOf(tc.role)
			by.School = s.ours
			ticket, err := s.learning.CreateUpload(t.Context(), by, picture)
			if err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, s.store, s.ours, tc.change)
			w := s.send(wire.UploadURL("", ticket), png)
			if ended := strings.Contains(w.Body.String(), "the API key of this address has ended"); w.Code != tc.status || ended != (w.Code == http.StatusForbidden) {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tc.status)
			}
		})
	}
}

// TestPicturesArePublic checks that a picture is served to everybody, with ranges and validators,
// and with headers that keep its content from running.
func TestPicturesArePublic(t *testing.T) {
	s := newShelf(t)
	address := s.sent(t, picture, png)
	whole := s.follow(http.MethodGet, address)
	if whole.Code != http.StatusOK || whole.Body.String() != png {
		t.Fatalf("%d %q", whole.Code, whole.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff", "Content-Disposition": "inline",
		"Cache-Control": "public, max-age=31536000, immutable", "Accept-Ranges": "bytes", "Content-Length": fmt.Sprint(len(png)),
	} {
		if got := whole.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	tag := whole.Header().Get("ETag")
	for name, tc := range map[string]struct {
		header, value string
		status        int
		body          string
	}{
		"a range":              {"Range", "bytes=1-3", http.StatusPartialContent, "PNG"},
		"the end":              {"Range", "bytes=-2", http.StatusPartialContent, "it"},
		"an open range":        {"Range", "bytes=20-", http.StatusPartialContent, png[20:]},
		"a reversed range":     {"Range", "bytes=3-1", http.StatusRequestedRangeNotSatisfiable, ""},
		"a range beyond":       {"Range", "bytes=1000-", http.StatusRequestedRangeNotSatisfiable, ""},
		"what is known":        {"If-None-Match", tag, http.StatusNotModified, ""},
		"what is not known":    {"If-None-Match", `"x"`, http.StatusOK, png},
		"a range of something": {"If-Range", `"x"`, http.StatusOK, png},
	} {
		r := httptest.NewRequest(http.MethodGet, address, nil)
		r.Header.Set(tc.header, tc.value)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != tc.status || tc.body != "" && got != tc.body {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, got, tc.status, tc.body)
		}
	}
	if w := s.follow(http.MethodHead, address); w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("Content-Length") != fmt.Sprint(len(png)) {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

// TestAttachmentsNeedALink checks that an attachment is served only through a link of a learner or
// a program, until the link expires, and as a download with its filename.
func TestAttachmentsNeedALink(t *testing.T) {
	s := newShelf(t)
	permanent := s.sent(t, pattern, "%PDF-1.7 knit, purl")
	s.want(t, "without a link", permanent, http.StatusForbidden, "this file needs a link")
	made, err := s.learning.CreateDownloadAttachment(t.Context(), lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1}, lyceum.DownloadAttachment{
		DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://school.example.com" + permanent, Filename: lyceum.Some("../Été\x07 \"a\".pdf"), SizeInBytes: lyceum.Some[int64](1),
	})
	if err != nil || made.SizeInBytes.Value != 19 {
		t.Fatalf("%+v, %v", made, err)
	}
	links := func(by lyceum.By) string {
		by.School = s.ours
		l, err := s.learning.DownloadAttachments(t.Context(), by, 1, lyceum.Page{Number: 1, Size: 20})
		if err != nil {
			t.Fatal(err)
		}
		return wire.FileLink("", l.Rows[len(l.Rows)-1].Link)
	}
	for name, address := range map[string]string{"learner": links(learner), "program": links(program)} {
		w := s.follow(http.MethodGet, address)
		if w.Code != http.StatusOK || w.Body.String() != "%PDF-1.7 knit, purl" {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		for header, want := range map[string]string{
			"Content-Type": "application/pdf", "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Disposition": "attachment; filename*=utf-8''%C3%89t%C3%A9%20%22a%22.pdf",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
	address := links(learner)
	s.clock.Pass(10 * time.Minute)
	s.want(t, "expired", address, http.StatusForbidden, "this link has expired")
}

// TestUploadsAreTakenOnce checks that a file is accepted once, within an hour, and only at the
// address that was signed for it.
func TestUploadsAreTakenOnce(t *testing.T) {
	s := newShelf(t)
	to, permanent := s.slot(t, pattern)
	s.want(t, "before it came", permanent, http.StatusNotFound, "there is no such file")
	for name, change := range map[string][2]string{
		"without a signature": {"&signature=", "&was="},
		"another signature":   {"signature=", "signature=A"},
		"for longer":          {"until=", "until=1"},
		"of another school":   {"/files/1/", "/files/2/"},
		"another extension":   {".pdf", ".htm"},
		"with more":           {"?", "?a=b&"},
	} {
		changed := strings.Replace(to, change[0], change[1], 1)
		if name == "another extension" {
			s.wantSent(t, name, changed, "x", http.StatusNotFound, "there is no such file")
			continue
		}
		s.wantSent(t, name, changed, "x", http.StatusForbidden, "this address is not valid; ask for a new one")
	}
	s.wantSent(t, "by its permanent address", permanent, "x", http.StatusForbidden, "not valid")
	s.wantSent(t, "nothing", to, "", http.StatusBadRequest, "the file is empty")
	s.wantSent(t, "at last", to, "%PDF-x", http.StatusOK, "")
	s.wantSent(t, "again", to, "y", http.StatusConflict, "the file of this address has been received")
	late, _ := s.slot(t, pattern)
	s.clock.Pass(time.Hour)
	s.wantSent(t, "too late", late, "x", http.StatusForbidden, "this address has expired")
	if n := len(s.kept(t)); n != 1 {
		t.Errorf("%d files are kept", n)
	}
}

// TestTwoAtOnce checks that of several files sent to one address concurrently, one is stored.
func TestTwoAtOnce(t *testing.T) {
	s := newShelf(t)
	to, permanent := s.slot(t, picture)
	var wait sync.WaitGroup
	var mu sync.Mutex
	taken := ""
	for n := range 8 {
		wait.Go(func() {
			content := fmt.Sprint(png, n)
			if w := s.send(to, content); w.Code == http.StatusOK {
				mu.Lock()
				defer mu.Unlock()
				taken += content
			} else if w.Code != http.StatusConflict {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wait.Wait()
	if got := s.follow(http.MethodGet, permanent).Body.String(); got != taken || taken == "" {
		t.Errorf("kept %q, taken %q", got, taken)
	}
	if n := len(s.kept(t)); n != 1 {
		t.Errorf("%d files are kept", n)
	}
}

func TestPicturesThatAreNone(t *testing.T) {
	s := newShelf(t)
	for _, content := range []string{"<svg onload=alert(1)>", "GIF89a", "\x89PN", "%PDF"} {
		to, _ := s.slot(t, picture)
		s.wantSent(t, content, to, content, http.StatusBadRequest, "this is not a file of the type png")
	}
	var jpg, moving bytes.Buffer
	pixel := image.NewPaletted(image.Rect(0, 0, 1, 1), palette.WebSafe)
	if err := errors.Join(jpeg.Encode(&jpg, pixel, nil), gif.Encode(&moving, pixel, nil)); err != nil {
		t.Fatal(err)
	}
	for extension, content := range map[string]string{
		"jpeg": jpg.String(), "jpg": jpg.String(), "gif": moving.String(), "webp": "RIFF\x16\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00/\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		q := picture
		q.Extension = extension
		s.sent(t, q, content)
	}
}

// TestPicturesThatAreTooLarge checks that a picture that would need too much memory is rejected
// before it does, and so is one whose size cannot be read.
func TestPicturesThatAreTooLarge(t *testing.T) {
	s := newShelf(t)
	header := func(width, height uint32) string {
		chunk := append([]byte("IHDR"), 0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0)
		binary.BigEndian.PutUint32(chunk[4:], width)
		binary.BigEndian.PutUint32(chunk[8:], height)
		return png[:12] + string(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk)))
	}
	for _, tc := range []struct {
		width, height uint32
		says          string
	}{
		{100_000, 100_000, "a picture has at most 64 million pixels and 16384 on a side; this one has 100000 x 100000"},
		{16_385, 1, "this one has 16385 x 1"},
		{8_001, 8_000, "this one has 8001 x 8000"},
		{0, 5, "this is not a picture of the type png"},
		{1 << 31, 1 << 31, "this is not a picture of the type png"},
	} {
		to, _ := s.slot(t, picture)
		s.wantSent(t, tc.says, to, header(tc.width, tc.height), http.StatusBadRequest, tc.says)
		s.wantSent(t, "another", to, header(8000, 8000), http.StatusOK, "")
	}
	to, _ := s.slot(t, picture)
	s.wantSent(t, "cut", to, png[:20], http.StatusBadRequest, "this is not a picture of the type png")
	if n := len(s.kept(t)); n != 5 {
		t.Errorf("%d files are kept", n)
	}
}

// TestUploadsThatDoNotEndWell checks that after an interruption the response says how much of the
// file was received, and that the file can also be sent again.
func TestUploadsThatDoNotEndWell(t *testing.T) {
	s := newShelf(t)
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	to, _ := s.slot(t, pattern)
	conn, err := net.Dial("tcp", served.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n%%PDF-half of it", to); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "the request ended early; 15 bytes of the file have arrived, continue with byte 15") {
		t.Errorf("cut: %d %s", response.StatusCode, said)
	}
	r := httptest.NewRequest(http.MethodPut, to, strings.NewReader("x"))
	r.ContentLength = lyceum.MaxUpload + 1
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %d %s", w.Code, w.Body)
	}
	s.wantSent(t, "again", to, "%PDF-all of it", http.StatusOK, "")
	if n := len(s.kept(t)); n != 1 {
		t.Errorf("%d files are kept", n)
	}
}

// TestFilesAreForWhatTheyWereSentFor checks that a file that was sent for one thing cannot be
// attached to another, nor before it was received.
func TestFilesAreForWhatTheyWereSentFor(t *testing.T) {
	s := newShelf(t)
	by := lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1}
	_, empty := s.slot(t, pattern)
	for name, tc := range map[string]struct{ address, says string }{
		"a picture":        {s.sent(t, picture, png), "url is the address of an upload for digital download 1, as a thumbnail"},
		"of another":       {s.sent(t, learning.NewUpload{Target: lyceum.DownloadUpload, ID: 2, Purpose: lyceum.AttachmentUpload, Extension: "pdf"}, "%PDF-x"), "url is the address of an upload for digital download 2, as an attachment"},
		"not come yet":     {empty, "url is an address to which no file has been sent yet"},
		"a learner's link": {s.link(t, learner), "url must be a permanent address, not a link that expires"},
	} {
		_, err := s.learning.CreateDownloadAttachment(t.Context(), by, lyceum.DownloadAttachment{
			DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://school.example.com" + tc.address, Filename: lyceum.Some("a"), SizeInBytes: lyceum.Some[int64](1),
		})
		if e := lyceum.Public(err); e.Kind != lyceum.Invalid || !strings.Contains(strings.Join(e.Sentences(), ";"), tc.says) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
	other := by
	other.School = s.theirs
	made, err := s.learning.CreateDownloadAttachment(t.Context(), other, lyceum.DownloadAttachment{
		DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://school.example.com" + s.sent(t, pattern, "%PDF-ours"), Filename: lyceum.Some("a"), SizeInBytes: lyceum.Some[int64](1),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := s.follow(http.MethodGet, wire.FileLink("", made.Link))
	if w.Code != http.StatusFound || strings.Contains(w.Body.String(), "ours") {
		t.Errorf("another school has our file: %d %s", w.Code, w.Body)
	}
}

// TestNoPlaceForFiles checks the errors of a server without storage for files.
func TestNoPlaceForFiles(t *testing.T) {
	s := newShelf(t)
	to, _ := s.slot(t, pattern)
	s.learning.KeepFiles(nil)
	if _, err := s.learning.CreateUpload(t.Context(), lyceum.By{School: s.ours}, pattern); lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("%v", err)
	}
	s.wantSent(t, "none", to, "x", http.StatusServiceUnavailable, "this server keeps no files")
}

// kept lists the stored files.
func (s *shelf) kept(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}
