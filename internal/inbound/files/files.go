// Package files takes and sends files: it answers the permanent addresses of uploads,
// and the links that apps and programs get instead of them.
//
// It must not decide who has access to a file.
package files

import (
	"context"
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

// Options are what the handlers of files are made of.
type Options struct {
	Learning *learning.Service
	Log      *slog.Logger
}

// Handlers returns the handlers by the patterns of their paths. They take as long as a
// file takes, and cut off who does not go on.
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

// file sends a picture by its permanent address.
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

// open opens a picture, in the width that is asked for.
func (o Options) open(r *http.Request, a lyceum.UploadAddress) (learning.KeptFile, error) {
	asked, is := r.URL.Query()["width"]
	if !is {
		return o.Learning.OpenFile(r.Context(), a)
	}
	for _, width := range lyceum.ThumbnailWidths() {
		if len(asked) == 1 && asked[0] == strconv.Itoa(width) {
			return o.Learning.OpenThumbnail(r.Context(), a, width)
		}
	}
	widths := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lyceum.ThumbnailWidths())), ", "), "[]")
	return learning.KeptFile{}, lyceum.Invalidf("width must be one of %s", widths)
}

// link sends the file that a link leads to, or leads on to where it is.
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

// lead leads to a file that somebody else has.
func (o Options) lead(w http.ResponseWriter, r *http.Request, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		o.refuse(w, r, lyceum.Errorf(lyceum.NotFound, "the address of this file is not a web address"))
		return
	}
	http.Redirect(w, r, address, http.StatusFound)
}

// send sends a file, or the ranges of it that are asked for. Nothing in it runs in
// the name of the school.
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
		r.Header.Del("Range") // it is of another file
	}
	if !canonical(r, size) {
		refuseRange(w, size)
		return
	}
	if kept.Width == 0 { // the format of a thumbnail is seen from its begin
		header.Set("Content-Type", lyceum.MediaType(kept.Extension))
	}
	header.Set("Content-Disposition", disposition)
	header.Set("ETag", tag)
	paced := &paced{w, r.Context(), http.NewResponseController(w)}
	http.ServeContent(paced, r, "", kept.ReceivedAt.Value, kept.Content)
}

// sendStep is how many bytes a client has to take within a pause, so that it is not
// cut off.
const sendStep = 256 << 10

// paced is an answer that may be sent for as long as the client reads.
type paced struct {
	http.ResponseWriter

	ctx    context.Context //nolint:containedctx // that of the request
	moving *http.ResponseController
}

// ReadFrom leaves files to the system, which sends them without copying.
func (p *paced) ReadFrom(from io.Reader) (sent int64, err error) {
	rest := &io.LimitedReader{R: from, N: math.MaxInt64}
	if limited, is := from.(*io.LimitedReader); is {
		rest = limited // the system does not look into two of them
	}
	for rest.N > 0 {
		if err := p.ctx.Err(); err != nil {
			return sent, err
		}
		_ = p.moving.SetWriteDeadline(time.Now().Add(pause)) // where it cannot be set there is none
		step := &io.LimitedReader{R: rest.R, N: min(rest.N, sendStep)}
		n, err := io.Copy(p.ResponseWriter, step)
		sent, rest.N = sent+n, rest.N-n
		if err != nil || step.N > 0 {
			return sent, err
		}
	}
	return sent, nil
}

// etag is that of a file, or of a thumbnail of it in a width.
func etag(u *lyceum.Upload, width int) string {
	if width == 0 {
		return `"` + u.Checksum.Value + `"`
	}
	return fmt.Sprintf(`"%s-%d"`, u.Checksum.Value, width)
}

// disposition says under which name a file is saved, and whether a browser shows it.
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

// showable reports whether browsers show a media type by themselves.
func showable(kind string) bool {
	of, _, _ := strings.Cut(kind, "/")
	return of == "image" || of == "video" || of == "audio" || kind == "application/pdf"
}

// cleanName is the last part of the name of a file, without what could lead
// somewhere or could not be seen.
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

// refuse says why there is no file. Whoever follows a link is a person with a
// browser, or a program that shows the text.
func (o Options) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := lyceum.Public(err)
	if e.Kind == lyceum.Internal || e.Kind == lyceum.Unavailable && e.Err != nil && !wire.Gone(r) { // else it is only busy
		o.Log.ErrorContext(r.Context(), "a file was neither taken nor sent", "err", err)
	}
	if e.Kind == lyceum.Unavailable || e.Code == learning.BusyUpload {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, e.Detail, wire.Status(e.Kind))
}
