package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// FileLinkPath is the pattern of the addresses of links to files.
const FileLinkPath = "/files/{school_id}/links/{of}/{attachment_id}"

// FileLink is the address of a link to a file, behind the URL of the server.
func FileLink(base string, l learning.FileLink) string {
	holder := fmt.Sprintf("key=%d", l.Key)
	if l.User != 0 {
		holder = fmt.Sprintf("user=%d", l.User)
	}
	return fmt.Sprintf("%s/files/%d/links/%s/%d?%s&until=%d&signature=%s",
		base, l.School, l.Of, l.ID, holder, l.Until.Unix(), l.Signature)
}

// ReadFileLink reads the address of a request by FileLinkPath. A link that is not
// written as FileLink writes it has no signature.
func ReadFileLink(r *http.Request) (l learning.FileLink) {
	query := r.URL.Query()
	number := func(text string, bits int) int64 {
		n, _ := strconv.ParseInt(text, 10, bits)
		return n
	}
	l = learning.FileLink{
		School: lyceum.SchoolID(number(r.PathValue("school_id"), 32)), Of: learning.FileOf(r.PathValue("of")),
		ID:   int32(number(r.PathValue("attachment_id"), 32)),
		User: lyceum.UserID(number(query.Get("user"), 32)), Key: lyceum.APIKeyID(number(query.Get("key"), 32)),
		Until: time.Unix(number(query.Get("until"), 64), 0), Signature: query.Get("signature"),
	}
	if written, err := url.Parse(FileLink("", l)); err != nil || written.Path != r.URL.Path ||
		written.RawQuery != r.URL.RawQuery {
		l.Signature = ""
	}
	return l
}
