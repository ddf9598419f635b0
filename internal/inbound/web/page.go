package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

//go:embed assets templates
var files embed.FS

// Pages parses page templates together with the layout. Each page defines
// "title" and "main", and may define "header" and "scripts"; data is what the
// page was shown with.
func Pages(pages fs.FS, functions template.FuncMap, patterns ...string) (map[string]*template.Template, error) {
	base := template.New("layout.gohtml").Funcs(functions).Funcs(template.FuncMap{"asset": Asset})
	base, err := base.ParseFS(files, "templates/*.gohtml")
	if err != nil {
		return nil, fmt.Errorf("parse layout: %w", err)
	}
	parsed := map[string]*template.Template{}
	for _, pattern := range patterns {
		names, err := fs.Glob(pages, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			page, err := base.Clone()
			if err != nil {
				return nil, err
			}
			if parsed[path.Base(name)], err = page.ParseFS(pages, name); err != nil {
				return nil, fmt.Errorf("parse page: %w", err)
			}
		}
	}
	return parsed, nil
}

// Logger gives a log whose lines say of a request the id that its answer bears,
// and the pattern of its path. The path itself may hold what a stranger typed.
func Logger(log *slog.Logger, w http.ResponseWriter, r *http.Request) *slog.Logger {
	path := r.Pattern
	if _, after, found := strings.Cut(path, " "); found { // a method stands before it
		path = after
	}
	return log.With("request_id", w.Header().Get("X-Request-Id"), "path", path)
}

// Protect puts the headers on an answer that every page has.
func Protect(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; font-src 'self'; "+formsStay+"base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

const formsStay = "form-action 'self'; "

// LetFormsLeave lets the forms of a protected page lead away from this server in the
// end. Browsers hold every redirect after a form to the policy, also those of others: to
// the app on a phone, say, that a page of its maker leads on to. Nobody knows these here.
func LetFormsLeave(header http.Header) {
	const name = "Content-Security-Policy"
	header.Set(name, strings.Replace(header.Get(name), formsStay, "", 1))
}

// Show renders a page into a buffer and sends it, so that a page that cannot be
// rendered has sent nothing.
func Show(w http.ResponseWriter, status int, page *template.Template, data any) error {
	var text bytes.Buffer
	if err := page.ExecuteTemplate(&text, "layout.gohtml", data); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	if holder, ok := w.(wire.Holder); ok {
		holder.Count(text.Len())
	}
	header := w.Header()
	if header.Get("Content-Security-Policy") == "" {
		Protect(header)
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client may have gone
	return nil
}

// asset is a file of the look with a name that changes with its content, so
// that browsers keep it for good.
type asset struct {
	text []byte
	kind string
}

var assets, assetPaths = func() (map[string]asset, map[string]string) {
	byPath, paths := map[string]asset{}, map[string]string{}
	names, err := fs.Glob(files, "assets/*")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		kinds := map[string]string{
			".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
		}
		kind, ok := kinds[path.Ext(name)]
		if !ok {
			continue
		}
		sum := sha256.Sum256(text)
		at := "/assets/" + hex.EncodeToString(sum[:6]) + "/" + path.Base(name)
		byPath[at], paths[path.Base(name)] = asset{text, kind}, at
	}
	return byPath, paths
}()

// Asset gives the path of a file of the look by its name.
func Asset(name string) (string, error) {
	at, ok := assetPaths[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return at, nil
}

// Assets serves the files of the look at /assets/.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := assets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", file.kind)
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Length", strconv.Itoa(len(file.text)))
		_, _ = w.Write(file.text) // the client may have gone
	})
}

// titles say what happened, in the words of the person it happened to.
var titles = map[lyceum.Kind]string{
	lyceum.Internal:        "Something went wrong",
	lyceum.Invalid:         "Request not possible",
	lyceum.Unauthenticated: "Access denied",
	lyceum.Forbidden:       "Request denied",
	lyceum.NotFound:        "Page not found",
	lyceum.Conflict:        "Conflict",
	lyceum.TooLarge:        "Request too large",
	lyceum.RateLimited:     "Too many requests",
	lyceum.Unavailable:     "The school is temporarily unavailable",
}

// Unavailable says to a person what an error of that kind means for them.
func Unavailable(e *lyceum.Error) string {
	if e.Code == lyceum.OutcomeUnknown {
		return "The database did not confirm your change, so it is unknown whether it was saved. Check before you " +
			"submit it again."
	}
	return "Its data cannot be reached right now. Try again in a minute."
}

// Status returns the HTTP status of a page that tells of an error.
func Status(kind lyceum.Kind) int {
	if kind == lyceum.Unauthenticated {
		return http.StatusForbidden // after a 401 browsers ask for a user name and a password of their own
	}
	return wire.Status(kind)
}

// Title says what happened, for the page that tells of an error.
func Title(kind lyceum.Kind) string { return titles[kind] }
