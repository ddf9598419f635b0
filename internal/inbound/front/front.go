// Package front serves the addresses that belong to no other package: the first page,
// unknown addresses, the icon and robots.txt.
//
// It must not know who is signed in, nor any school.
package front

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

//go:embed templates favicon.ico
var files embed.FS

// welcome is the response for programs at the root.
const welcome = `{"message":"Lyceum answers programs under /v1, /v2 and /lyceum/v1","docs":"/docs",` +
	`"openapi":["/openapi/v1.yaml","/openapi/v2.yaml","/openapi/lyceum.yaml"]}`

// robots asks crawlers to stay away: there is nothing here for a search engine.
const robots = "User-agent: *\nDisallow: /\n"

// Pages returns the pages by their path patterns, and the page for unknown addresses.
func Pages() (pages map[string]http.Handler, nothing http.Handler, err error) {
	parsed, err := web.Pages(files, nil, "templates/*.gohtml")
	if err != nil {
		return nil, nil, fmt.Errorf("parse the first page: %w", err)
	}
	icon, err := files.ReadFile("favicon.ico")
	if err != nil {
		return nil, nil, err
	}
	return map[string]http.Handler{
		"GET /{$}":         first(parsed["first.gohtml"]),
		"GET /favicon.ico": file("image/x-icon", "public, max-age=86400", icon),
		"GET /robots.txt":  file("text/plain; charset=utf-8", "public, max-age=86400", []byte(robots)),
	}, show(http.StatusNotFound, parsed["nothing.gohtml"]), nil
}

// first serves a page for people, and tells programs where the APIs are.
func first(page *template.Template) http.Handler {
	people, programs := show(http.StatusOK, page), file("application/json; charset=utf-8", "no-cache", []byte(welcome))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if web.WantsPage(r) {
			people.ServeHTTP(w, r)
			return
		}
		programs.ServeHTTP(w, r)
	})
}

func show(status int, page *template.Template) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := web.Show(w, status, page, nil); err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	})
}

func file(kind, cache string, text []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Set("Cache-Control", cache)
		header.Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text) // the client may have gone
	})
}
