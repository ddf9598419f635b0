// Package files receives and serves files: it handles the permanent addresses of uploads,
// and the links that apps and programs get instead of them.
//
// It must not decide who has access to a file.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Options are what the handlers need.
type Options struct {
	Learning *learning.Service
	Log      *slog.Logger
}

// Handlers returns the handlers by their path patterns. A transfer may take as long as the
// file needs, but a client that stalls is disconnected.
func Handlers(o Options) map[string]http.Handler {
	return map[string]http.Handler{
		"GET " + wire.FileLinkPath:     shared(o.link),
		"OPTIONS " + wire.FileLinkPath: preflight("GET, HEAD"),
		"GET " + wire.FilePath:         shared(o.file),
		"HEAD " + wire.FilePath:        shared(o.head),
		"POST " + wire.FilePath:        shared(o.take),
		"PUT " + wire.FilePath:         shared(o.take),
		"OPTIONS " + wire.FilePath:     preflight("GET, HEAD, POST, PUT"),
	}
}

// file serves an image at its permanent address.
func (o Options) file(w http.ResponseWriter, r *http.Request) {
	a, is := lyceum.ParseUploadAddress(r.URL.Path)
	if !is {
		o.refuse(w, r, lyceum.Errorf(lyceum.NotFound, "there is no such file"))
		return
	}
	kept, err := o.open(r, a)
	if err != nil {
		o.refuse(w, r, err)
		return
	}
	defer kept.Content.Close()
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	o.send(w, r, &kept, "inline")
}

// open opens an image, in the requested width if there is one.
func (o Options) open(r *http.Request, a lyceum.UploadAddress) (learning.KeptFile, error) {
	given, is := r.URL.Query()["width"]
	if !is {
		return o.Learning.OpenFile(r.Context(), a)
	}
	for _, width := range lyceum.ThumbnailWidths() {
		if len(given) == 1 && given[0] == strconv.Itoa(width) {
			return o.Learning.OpenThumbnail(r.Context(), a, width)
		}
	}
	widths := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lyceum.ThumbnailWidths())), ", "), "[]")
	return learning.KeptFile{}, lyceum.Invalidf("width must be one of %s", widths)
}

// link serves the file behind a link, or redirects to where it is hosted.
func (o Options) link(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the link is a credential
	file, err := o.Learning.OpenLink(r.Context(), wire.ReadFileLink(r))
	switch {
	case err != nil:
		o.refuse(w, r, err)
		return
	case !file.Kept.Present:
		o.lead(w, r, file.URL)
		return
	}
	kept, err := o.Learning.OpenKept(r.Context(), file)
	if err != nil {
		o.refuse(w, r, err)
		return
	}
	defer kept.Content.Close()
	o.send(w, r, &kept, disposition(&file))
}

// lead redirects to a file on another server.
func (o Options) lead(w http.ResponseWriter, r *http.Request, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		o.refuse(w, r, lyceum.Errorf(lyceum.NotFound, "the address of this file is not a web address"))
		return
	}
	http.Redirect(w, r, address, http.StatusFound)
}

// send serves a file or the requested ranges of it, with headers that keep it from running
// in the school's origin.
func (o Options) send(w http.ResponseWriter, r *http.Request, kept *learning.KeptFile, disposition string) {
	size, err := kept.Content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = kept.Content.Seek(0, io.SeekStart)
	}
	if err != nil {
		o.refuse(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Security-Policy", "sandbox")
	header.Set("X-Content-Type-Options", "nosniff")
	tag := etag(&kept.Upload, kept.Width)
	if had := r.Header.Get("If-Range"); had != "" && had != tag {
		r.Header.Del("Range") // the range was meant for another version of the file
	}
	if !canonical(r, size) {
		refuseRange(w, size)
		return
	}
	kind, err := contentType(kept)
	if err != nil {
		header.Del("Cache-Control")
		o.refuse(w, r, unreadable(err))
		return
	}
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", disposition)
	header.Set("ETag", tag)
	paced := &paced{ResponseWriter: w, ctx: r.Context(), moving: http.NewResponseController(w)}
	http.ServeContent(paced, r, "", kept.ReceivedAt.Value, kept.Content)
	o.end(w, r, paced)
}

// sendStep is how many bytes a client must accept within a pause to stay connected.
const sendStep = 256 << 10

// paced is a response that may take as long as the client keeps reading. Its status is sent with
// the first bytes of the file, so that a file that cannot be read gets another one.
type paced struct {
	http.ResponseWriter

	ctx    context.Context //nolint:containedctx // of the request
	moving *http.ResponseController
	status int   // not sent yet; 0: it was
	failed error // why the file could not be read
}

// WriteHeader implements http.ResponseWriter.
func (p *paced) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *paced) Write(b []byte) (int, error) {
	p.begin()
	return p.ResponseWriter.Write(b)
}

func (p *paced) begin() {
	if p.status != 0 {
		p.ResponseWriter.WriteHeader(p.status)
		p.status = 0
	}
}

// ReadFrom leaves the copying of files to the kernel (sendfile).
func (p *paced) ReadFrom(from io.Reader) (sent int64, err error) {
	rest := &io.LimitedReader{R: from, N: math.MaxInt64}
	if limited, is := from.(*io.LimitedReader); is {
		rest = limited // the kernel's copy is only used for one LimitedReader, not for two nested ones
	}
	sent, err = p.readFirst(rest)
	for rest.N > 0 && err == nil {
		if err = p.ctx.Err(); err != nil {
			break
		}
		_ = p.moving.SetWriteDeadline(time.Now().Add(pause)) // without support there is no deadline
		step := &io.LimitedReader{R: rest.R, N: min(rest.N, sendStep)}
		n, failed := io.Copy(p.ResponseWriter, step)
		sent, rest.N, err = sent+n, rest.N-n, failed
		if step.N > 0 {
			break
		}
	}
	if _, ofStore := errors.AsType[*lyceum.Error](err); ofStore {
		p.failed = err
	}
	return sent, err
}

// readFirst sends the status and the first bytes, unless the file cannot be read.
func (p *paced) readFirst(from io.Reader) (sent int64, err error) {
	first := make([]byte, sniffed)
	n, err := from.Read(first)
	if n == 0 && err != nil {
		p.failed = err
		return 0, err
	}
	_ = p.moving.SetWriteDeadline(time.Now().Add(pause)) // without support there is no deadline
	n, failed := p.Write(first[:n])
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return int64(n), errors.Join(failed, err)
}

// end ends a response whose file was sent, or could not be read.
func (o Options) end(w http.ResponseWriter, r *http.Request, sent *paced) {
	switch {
	case sent.failed == nil:
		sent.begin() // a response without a body
	case sent.status != 0:
		for _, name := range ofFile {
			w.Header().Del(name)
		}
		o.refuse(w, r, unreadable(sent.failed))
	case !wire.Gone(r):
		o.Log.ErrorContext(r.Context(), "a file could not be sent completely", "err", sent.failed)
	}
}

// ofFile are the headers that describe a file, not an error.
var ofFile = []string{
	"Accept-Ranges", "Cache-Control", "Content-Disposition", "Content-Length", "Content-Range", "Content-Type", "ETag",
	"Last-Modified",
}

func unreadable(err error) error {
	if lyceum.KindOf(err) == lyceum.Unavailable {
		return err
	}
	return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "this file cannot be read now; try again later", Err: err}
}

// contentType returns the media type of a file; that of a thumbnail is detected from its first
// bytes.
func contentType(kept *learning.KeptFile) (string, error) {
	if kept.Width == 0 {
		return lyceum.MediaType(kept.Extension), nil
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(kept.Content, head)
	if err == nil || err == io.ErrUnexpectedEOF { // a failure wraps it
		_, err = kept.Content.Seek(0, io.SeekStart)
	}
	return http.DetectContentType(head[:n]), err
}

// sniffed is how many bytes of a file http.DetectContentType uses.
const sniffed = 512

// etag returns the ETag of a file, or of its thumbnail in a width.
func etag(u *lyceum.Upload, width int) string {
	if width == 0 {
		return `"` + u.Checksum.Value + `"`
	}
	return fmt.Sprintf(`"%s-%d"`, u.Checksum.Value, width)
}

// disposition returns the Content-Disposition of a file: its name, and whether a browser
// displays it or saves it.
func disposition(file *learning.LinkedFile) string {
	how := "attachment"
	if file.Shown && showable(lyceum.MediaType(file.Kept.Value.Extension)) {
		how = "inline"
	}
	name := cleanName(file.Filename.Value)
	if name == "" {
		name = "file." + file.Kept.Value.Extension
	}
	return mime.FormatMediaType(how, map[string]string{"filename": name})
}

// showable reports whether browsers display a media type themselves.
func showable(kind string) bool {
	of, _, _ := strings.Cut(kind, "/")
	return of == "image" || of == "video" || of == "audio" || kind == "application/pdf"
}

// cleanName returns the last segment of a file name, without path separators and invisible
// characters.
func cleanName(name string) string {
	name = path.Base("/" + strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	return strings.Trim(name, "./ ")
}

// refuse says why there is no file, as plain text: whoever follows a link is a person with
// a browser, or a program that shows the text.
func (o Options) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := lyceum.Public(err)
	if e.Kind == lyceum.Internal || e.Kind == lyceum.Unavailable && e.Err != nil && !wire.Gone(r) { // else only busy
		o.Log.ErrorContext(r.Context(), "a file could not be received or sent", "err", err)
	}
	if e.Kind == lyceum.Unavailable || e.Code == learning.BusyUpload {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, e.Detail, wire.Status(e.Kind))
}
