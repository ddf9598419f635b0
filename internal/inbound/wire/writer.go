package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// gzipFrom is the length in bytes from which a response is worth compressing.
const gzipFrom = 1400

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// maxKept is the capacity of the largest buffer that is pooled for reuse, in bytes.
const maxKept = 256 << 10

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for unknown levels
	return z
}}

// Holder limits the memory of responses in progress.
type Holder interface {
	// Hold reserves memory for a response of that many bytes, or fails if there is no room.
	Hold(ctx context.Context, bytes int) error
	// Count is Hold for a response that must not be rejected.
	Count(bytes int)
}

// Keeper may store the text of a response and its tag, to send it again as an Encoded. If it
// does, it copies the text.
type Keeper interface{ Keep(text []byte, tag string) }

// Encoded is a body that was sent before, with its tag.
type Encoded struct {
	Text []byte
	Tag  string
}

func (e Encoded) AppendJSON(b []byte) ([]byte, error) { return append(b, e.Text...), nil }

// hold reserves memory for the text of a response. Errors are always sent.
func hold(w http.ResponseWriter, r *http.Request, status, bytes int) error {
	holder, ok := w.(Holder)
	if !ok {
		return nil
	}
	if status >= http.StatusBadRequest {
		holder.Count(bytes)
		return nil
	}
	return holder.Hold(r.Context(), bytes)
}

// Send sends a body, as JSON unless it is Typed. A response with status 200 has a weak ETag,
// derived from its version or otherwise from its bytes, and becomes a 304 without a body if the
// client already has that tag. The body is encoded before anything is sent, so nothing is sent
// if that fails. A response that was already marked no-store stays so and gets no tag.
func Send(w http.ResponseWriter, r *http.Request, status int, body Body) error {
	header := w.Header()
	_, secret := header["Cache-Control"]
	tagged := status == http.StatusOK && !secret
	tag := ""
	if tagged {
		tag = knownTag(body)
	}
	if tag != "" && notModified(w, r, tag) {
		return nil
	}
	kept := buffers.Get().(*[]byte)
	text, err := body.AppendJSON((*kept)[:0])
	defer func() {
		if cap(text) <= maxKept {
			*kept = text
			buffers.Put(kept)
		}
	}()
	if err == nil {
		err = hold(w, r, status, len(text))
	}
	if err != nil {
		delete(header, "Etag")
		return err
	}
	switch {
	case status == http.StatusNoContent:
		header["Vary"], header["Cache-Control"] = varies, noStore
		w.WriteHeader(status)
		return nil
	case !tagged:
		header["Vary"], header["Cache-Control"] = varies, noStore
	case tag == "":
		tag = weakTag(text)
		if keeper, ok := w.(Keeper); ok {
			keeper.Keep(text, tag)
		}
		if notModified(w, r, tag) {
			return nil
		}
	}
	header["Content-Type"] = jsonType
	if typed, ok := body.(Typed); ok {
		header["Content-Type"] = []string{typed.ContentType()}
	}
	if len(text) >= gzipFrom && AcceptsGzip(r.Header["Accept-Encoding"]) {
		zipped, err := zip(w, r, status, text)
		if err != nil {
			delete(header, "Etag")
			return err
		}
		header["Content-Encoding"] = gzipped
		if cap(text) > maxKept {
			text = nil // while a slow client reads, only the compressed text is held
		}
		return sendText(w, status, zipped)
	}
	return sendText(w, status, text)
}

func sendText(w http.ResponseWriter, status int, text []byte) error {
	header := w.Header()
	header["Content-Length"] = []string{strconv.Itoa(len(text))}
	w.WriteHeader(status)
	_, err := w.Write(text) //nolint:gosec // JSON, with its Content-Type
	return ignoreDeparture(err)
}

// notModified sets the tag of a response, and responds with 304 if the client already has it.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	header := w.Header()
	header["Vary"], header["Etag"], header["Cache-Control"] = varies, []string{tag}, revalidate
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !tagMatches(r.Header["If-None-Match"], tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// Header values that never change, allocated once.
var (
	jsonType   = []string{"application/json; charset=utf-8"}
	varies     = []string{"Accept, Accept-Encoding"}
	revalidate = []string{"max-age=0, private, must-revalidate"}
	noStore    = []string{"no-store"}
	gzipped    = []string{"gzip"}
)

// ignoreDeparture drops the error of a client that disconnected: nobody is left to report it
// to, and nothing is wrong on our side.
func ignoreDeparture(error) error { return nil }

// zip compresses a text. Meanwhile, the response reserves memory for both.
func zip(w http.ResponseWriter, r *http.Request, status int, text []byte) ([]byte, error) {
	usual := len(text) / 4
	if err := hold(w, r, status, len(text)+usual); err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	zipped.Grow(usual)
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(&zipped)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return zipped.Bytes(), hold(w, r, status, zipped.Cap())
}

// knownTag returns the tag of a body if it can be determined without the text, or "".
func knownTag(body Body) string {
	switch b := body.(type) {
	case Encoded:
		return b.Tag
	case Versioned:
		return versionTag(b.State())
	}
	return ""
}

func weakTag(text []byte) string {
	sum := sha256.Sum256(text)
	var tag [3 + 32 + 1]byte
	copy(tag[:], `W/"`)
	hex.Encode(tag[3:], sum[:16])
	tag[len(tag)-1] = '"'
	return string(tag[:])
}

// edition identifies the program that writes the responses: another build may encode the same
// state differently.
var edition = sync.OnceValue(func() string {
	build, _ := debug.ReadBuildInfo()
	sum := sha256.Sum256([]byte(build.String()))
	return hex.EncodeToString(sum[:4])
})

// versionTag returns the tag of a known version, or "". The time distinguishes versions that
// have the same number because a backup was restored in between.
func versionTag(v lyceum.Version) string {
	if v == (lyceum.Version{}) {
		return ""
	}
	var space [64]byte
	tag := strconv.AppendInt(append(space[:0], `W/"`...), v.Number, 10)
	tag = strconv.AppendInt(append(tag, '-'), v.At.UnixMicro(), 36)
	return string(append(append(append(tag, '-'), edition()...), '"'))
}

// tagMatches compares weakly (RFC 9110, section 13.1.2).
func tagMatches(headers []string, tag string) bool {
	for _, line := range headers {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

// AcceptsGzip reports whether a client accepts gzip, according to Accept-Encoding (RFC 9110,
// section 12.5.3).
func AcceptsGzip(headers []string) bool {
	star := false
	for _, line := range headers {
		for part := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(strings.ToLower(part), ";")
			weight := strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(parameters), " ", ""), "q=")
			refused := weight != "" && strings.Trim(weight, "0.") == ""
			switch strings.TrimSpace(coding) {
			case "gzip":
				return !refused
			case "*":
				star = !refused
			}
		}
	}
	return star
}
