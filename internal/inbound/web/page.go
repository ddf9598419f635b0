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

// Pages parses page templates together with the layout. Each page defines "title" and "main",
// and may define "head", "header" and "scripts"; their data is what was passed to Show.
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

// Logger returns a logger that adds the request id of the response and the path pattern of the
// request to each line. The path itself may contain anything a client typed.
func Logger(log *slog.Logger, w http.ResponseWriter, r *http.Request) *slog.Logger {
	path := r.Pattern
	if _, after, found := strings.Cut(path, " "); found { // without the method
		path = after
	}
	return log.With("request_id", w.Header().Get("X-Request-Id"), "path", path)
}

// Protect sets the headers that every page has.
func Protect(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; font-src 'self'; "+formsStay+"base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

const formsStay = "form-action 'self'; "

// LetFormsLeave allows the forms of a protected page to redirect away from this server.
// Browsers apply the policy to every redirect after a form, including those of other servers:
// for example, to an app on a phone that a page of its maker redirects to. Those addresses are
// not known here.
func LetFormsLeave(header http.Header) {
	const name = "Content-Security-Policy"
	header.Set(name, strings.Replace(header.Get(name), formsStay, "", 1))
}

// Show renders a page into a buffer and sends it, so that nothing is sent if rendering fails.
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

// asset is a static file whose path changes with its content, so that browsers can cache it
// forever.
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

// Asset returns the path of a static file by its name.
func Asset(name string) (string, error) {
	at, ok := assetPaths[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return at, nil
}

// Assets serves the static files at /assets/.
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

// titles are the headings of error pages, worded for the user.
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

// Unavailable explains an error of that kind to a user.
func Unavailable(e *lyceum.Error) string {
	if e.Code == lyceum.OutcomeUnknown {
		return "The database did not confirm your change, so it is unknown whether it was saved. Check before you " +
			"submit it again."
	}
	return "Its data cannot be reached right now. Try again in a minute."
}

// Status returns the HTTP status of an error page.
func Status(kind lyceum.Kind) int {
	if kind == lyceum.Unauthenticated {
		return http.StatusForbidden // after a 401, browsers prompt for a user name and a password
	}
	return wire.Status(kind)
}

// Title returns the heading of an error page.
func Title(kind lyceum.Kind) string { return titles[kind] }
