package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// pause is how long a client may take to send takeStep bytes, or to accept sendStep bytes.
const pause = time.Minute

// takeStep is how many bytes a client must send within a pause to stay connected; a stalled
// upload would occupy one of the few places that a school has for uploads.
const takeStep = 64 << 10

// take stores the part of a file that a request sends, and responds with how much has been
// received.
func (o Options) take(w http.ResponseWriter, r *http.Request) {
	moving := http.NewResponseController(w)
	body := &body{from: r.Body, moving: moving}
	content, sent, err := readBody(r, body)
	var received learning.ReceivedFile
	if err == nil {
		received, err = o.Learning.Receive(r.Context(), wire.ReadUploadURL(r), sent, content)
	}
	_ = moving.SetWriteDeadline(time.Now().Add(pause)) // without support there is no deadline
	if body.err != nil && (lyceum.KindOf(err) != lyceum.Unavailable || errors.Is(err, context.Canceled)) {
		err = lyceum.Invalidf("the request ended early; %d bytes of the file have arrived, continue with byte %[1]d",
			received.Size)
	}
	o.report(w, r, &received, err)
}

// readBody returns the file that a request sends as its body or in a form, and what its
// headers say about it.
func readBody(r *http.Request, body io.Reader) (content io.Reader, sent learning.SentFile, err error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, sent, errCoded
	}
	boundary, err := formBoundary(r)
	if err != nil || boundary == "" {
		if err == nil {
			sent, err = readSent(r)
		}
		return body, sent, err
	}
	switch {
	case r.Header.Get("Content-Range") != "":
		return nil, sent, lyceum.Invalidf("a form must have the whole file; send a part of it as the body of the request")
	case r.ContentLength > lyceum.MaxUpload+3*maxFields:
		return nil, sent, errTooLarge
	}
	f, err := openForm(body, boundary)
	if err != nil {
		return nil, sent, err
	}
	sent.Length = -1
	sent.Sum, err = readDigest(append(r.Header.Values("Repr-Digest"), f.file.Header.Values("Repr-Digest")...))
	return f, sent, err
}

var errCoded = &lyceum.Error{
	Kind: lyceum.Invalid, Code: wrongType, Detail: "send the file as it is, without Content-Encoding",
}

var errTooLarge = lyceum.Errorf(lyceum.TooLarge, "the file has more than %d bytes", int64(lyceum.MaxUpload))

// head answers HEAD; at an address that receives a file, with how much has been received.
func (o Options) head(w http.ResponseWriter, r *http.Request) {
	if !r.URL.Query().Has("signature") {
		o.file(w, r)
		return
	}
	received, err := o.Learning.Receive(r.Context(), wire.ReadUploadURL(r), learning.SentFile{}, http.NoBody)
	if err != nil || received.Complete {
		o.report(w, r, &received, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	showSize(w.Header(), &received)
}

// report responds with what has been received of a file.
func (o Options) report(w http.ResponseWriter, r *http.Request, received *learning.ReceivedFile, err error) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if received.ID != 0 {
		showSize(header, received)
	}
	switch e := lyceum.Public(err); {
	case e.Code == learning.WrongOffset:
		http.Error(w, e.Detail, http.StatusRequestedRangeNotSatisfiable)
	case e.Code == wrongType:
		http.Error(w, e.Detail, http.StatusUnsupportedMediaType)
	case err != nil:
		o.refuse(w, r, err)
	case received.Complete:
		header.Set("ETag", etag(&received.Upload, 0))
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusPermanentRedirect) // without Location this means that the file is incomplete
	}
}

// showSize sets the headers that say how many bytes have been received, and whether the
// file is complete.
func showSize(header http.Header, received *learning.ReceivedFile) {
	header.Set("Upload-Offset", strconv.FormatInt(received.Size, 10))
	header.Set("Upload-Complete", "?0")
	if received.Complete {
		header.Set("Upload-Complete", "?1")
	}
	if received.Size > 0 {
		header.Set("Range", fmt.Sprintf("bytes=0-%d", received.Size-1))
	}
}

// readSent reads which part of a file a request sends, and what its headers say about the
// file.
func readSent(r *http.Request) (sent learning.SentFile, err error) {
	sent.Length = r.ContentLength
	if sent.Length == 0 {
		sent.Length = -1 // all of an empty file, which is rejected
	}
	if text := r.Header.Get("Content-Range"); text != "" {
		if sent, err = readRange(text); err != nil {
			return sent, err
		}
		if r.ContentLength >= 0 && r.ContentLength != sent.Length {
			return sent, lyceum.Invalidf("Content-Range says %d bytes, and Content-Length %d", sent.Length, r.ContentLength)
		}
	}
	if max(sent.Length, sent.Total.Value) > lyceum.MaxUpload {
		return sent, errTooLarge
	}
	sent.Sum, err = readDigest(r.Header.Values("Repr-Digest"))
	return sent, err
}

var errRange = lyceum.Invalidf("Content-Range must be like bytes 0-99/200: the first and the last byte that the " +
	"request sends, and the size of the file; or bytes */200 to ask how much has arrived")

func readRange(text string) (sent learning.SentFile, err error) {
	text, bytes := strings.CutPrefix(text, "bytes ")
	part, total, found := strings.Cut(text, "/")
	size, err := strconv.ParseUint(total, 10, 63)
	if !bytes || !found || err != nil || size == 0 {
		return sent, errRange
	}
	sent.Total = lyceum.Some(int64(size))
	if part == "*" {
		return sent, nil
	}
	first, last, _ := strings.Cut(part, "-")
	from, err := strconv.ParseUint(first, 10, 63)
	to, failed := strconv.ParseUint(last, 10, 63)
	if errors.Join(err, failed) != nil || from > to || to >= size {
		return sent, errRange
	}
	sent.First, sent.Length = int64(from), int64(to-from)+1
	return sent, nil
}

// readDigest reads the SHA-256 of a Repr-Digest header (RFC 9530); other digests are
// ignored.
func readDigest(headers []string) (sum lyceum.Opt[[32]byte], err error) {
	for entry := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		text, is := strings.CutPrefix(strings.TrimSpace(entry), "sha-256=:")
		if !is {
			continue
		}
		digest, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(text, ":"))
		if err != nil || len(digest) != len(sum.Value) {
			return sum, lyceum.Invalidf("Repr-Digest must have the SHA-256 of the file in base64, such as sha-256=:…:")
		}
		sum = lyceum.Some([32]byte(digest))
	}
	return sum, nil
}

// body is a request body that may take as long as the client keeps sending.
type body struct {
	from   io.Reader
	moving *http.ResponseController
	came   int           // bytes of the current step
	waited time.Duration // time spent waiting for them
	err    error
}

// Read counts only the time spent waiting for the client.
func (b *body) Read(p []byte) (int, error) {
	if b.came >= takeStep {
		b.came, b.waited = 0, 0
	}
	begin := time.Now()
	_ = b.moving.SetReadDeadline(begin.Add(pause - b.waited)) // without support there is no deadline
	n, err := b.from.Read(p)
	b.came, b.waited = b.came+n, b.waited+time.Since(begin)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
