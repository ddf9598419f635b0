package reference

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// contentPolicy allows the pages their own style sheet and script, and searches on this
// server; nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// addressMark is the placeholder for the server's address.
const addressMark = "@@ADDRESS@@"

// host matches a Host header that is safe to repeat in a page or a document.
var host = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)

// address returns the server's own address as the client knows it.
func (s *site) address(r *http.Request) string {
	switch {
	case s.BaseURL != "":
		return strings.TrimRight(s.BaseURL, "/")
	case !host.MatchString(r.Host):
		return "http://127.0.0.1:8080"
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// file is a response that only depends on the address by which the client knows the
// server.
type file struct {
	contentType string
	text        func() ([]byte, error) // addressMark stands for the address
	last        atomic.Pointer[version]
}

// version is a file for one such address.
type version struct {
	address       string
	plain, zipped []byte
	sum           string
}

func newFile(contentType string, text []byte) *file {
	return &file{contentType: contentType, text: func() ([]byte, error) { return text, nil }}
}

// version returns the file for an address. Only the latest one is cached: there is rarely
// another.
func (f *file) version(address string) (*version, error) {
	if v := f.last.Load(); v != nil && v.address == address {
		return v, nil
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	written := address
	if f.contentType == htmlType {
		written = template.HTMLEscapeString(address)
	}
	v := &version{address: address, plain: bytes.ReplaceAll(text, []byte(addressMark), []byte(written))}
	sum := sha256.Sum256(v.plain)
	v.sum = hex.EncodeToString(sum[:12])
	v.zipped = zip(v.plain)
	f.last.Store(v)
	return v, nil
}

func zip(text []byte) []byte {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text) // writing to a buffer never fails
	_ = z.Close()
	return zipped.Bytes()
}

func (s *site) serve(w http.ResponseWriter, r *http.Request, f *file) {
	v, err := f.version(s.address(r))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	setHeaders(h, f.contentType)
	// Cached, but revalidated each time: a new version of the program must not show an old
	// page.
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	body, tag := v.plain, v.sum
	if wire.AcceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body, tag = v.zipped, v.sum+"-gzip"
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

func setHeaders(h http.Header, contentType string) {
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
