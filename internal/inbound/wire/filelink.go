package wire

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// The path patterns of files and of links to files.
const (
	FilePath     = "/files/{school_id}/{name}"
	FileLinkPath = "/files/{school_id}/links/{of}/{attachment_id}"
)

// FileLink returns the address of a link to a file, on the server with the given base URL.
func FileLink(base string, l learning.FileLink) string { return base + l.Address() }

// FileAddress returns the address of a file as programs get it: a link if the file is on this
// server, otherwise the address itself.
func FileAddress(base, address string, l learning.FileLink) string {
	a, is := lyceum.ParseUploadAddress(address)
	if is && a.School == l.School && strings.HasPrefix(address, base+"/files/") {
		return FileLink(base, l)
	}
	return address
}

// ReadFileLink reads the address of a request for FileLinkPath. If the address is not exactly
// as FileLink writes it, the link gets no signature.
func ReadFileLink(r *http.Request) (l learning.FileLink) {
	query := r.URL.Query()
	l = learning.FileLink{
		School: lyceum.SchoolID(number(r.PathValue("school_id"), 32)), Of: learning.FileOf(r.PathValue("of")),
		ID:        int32(number(r.PathValue("attachment_id"), 32)),
		User:      lyceum.UserID(number(query.Get("user"), 32)),
		KeyHolder: keyHolder(query),
		Until:     time.Unix(number(query.Get("until"), 64), 0), Signature: query.Get("signature"),
	}
	if !writtenAs(r, FileLink("", l)) {
		l.Signature = ""
	}
	return l
}

func keyHolder(query url.Values) learning.KeyHolder {
	return learning.KeyHolder{
		Key: lyceum.APIKeyID(number(query.Get("key"), 32)), Role: lyceum.StaffRole(query.Get("role")),
	}
}

func number(text string, bits int) int64 {
	n, _ := strconv.ParseInt(text, 10, bits)
	return n
}

// writtenAs reports whether a request has exactly this path and query.
func writtenAs(r *http.Request, address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Path == r.URL.Path && u.RawQuery == r.URL.RawQuery
}

// UploadURL returns the address to send the file of an upload to, on the server with the given
// base URL.
func UploadURL(base string, t learning.UploadTicket) string {
	return base + t.Address()
}

// ReadUploadURL reads the address of a request for FilePath. If the address is not exactly as
// UploadURL writes it, the ticket gets no signature.
func ReadUploadURL(r *http.Request) (t learning.UploadTicket) {
	a, is := lyceum.ParseUploadAddress(r.URL.Path)
	query := r.URL.Query()
	t = learning.UploadTicket{
		UploadAddress: a, KeyHolder: keyHolder(query), Until: time.Unix(number(query.Get("until"), 64), 0),
		Signature: query.Get("signature"),
	}
	if !is || !writtenAs(r, UploadURL("", t)) {
		t.Signature = ""
	}
	return t
}
