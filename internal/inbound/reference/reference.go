// Package reference serves the API's documents and the pages that present them: each
// document as YAML and as JSON under /openapi/, and under /docs a page for each, one for
// each group of its operations, and a search over all of them.
//
// It owns how a document looks on a page. It reads everything it knows of the API from the
// documents; it must not know schools, rules, stores or the other faces. The pages work
// without scripts, which only add buttons to copy samples, and load nothing from other
// hosts.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum/contract"
)

//go:embed templates/*.gohtml
var templates embed.FS

//go:embed style.css
var style []byte

//go:embed copy.js
var script []byte

const (
	stylePath  = "/docs/style.css"
	scriptPath = "/docs/copy.js"
	searchPath = "/docs/search"
)

const (
	htmlType   = "text/html; charset=utf-8"
	cssType    = "text/css; charset=utf-8"
	scriptType = "text/javascript; charset=utf-8"
	yamlType   = "application/yaml"
	jsonType   = "application/json"
)

// Options are the settings of the pages.
type Options struct {
	Documents []contract.Document
	// BaseURL is the server's address in samples and documents. If it is empty, they have
	// the address to which each request was sent.
	BaseURL string
	// Key is an API key to put into the samples. Everyone can read it, so only a sandbox
	// has one.
	Key string
	// Log receives the reason why a page cannot be rendered.
	Log *slog.Logger
}

// site serves the pages and the documents. The documents are parsed when the first of them is
// requested, and each page is rendered when it is requested first: that takes a second for all
// of them, and most servers are never asked for one.
type site struct {
	Options
	pages *template.Template
	known func() (*index, error)
}

// index is all files by their paths, and the search entries.
type index struct {
	files   map[string]*file
	entries []entry
}

// Handler serves /docs, /docs/NAME for each document, /docs/NAME/GROUP for each group of
// its operations, /docs/search, /openapi/NAME.yaml and /openapi/NAME.json. With one
// document, /docs is its page, otherwise a list of the documents. If a document cannot be
// parsed, or if two have the same name, every request but those for the style sheet and the
// script fails.
func Handler(o Options) (http.Handler, error) {
	s := &site{Options: o}
	s.known = sync.OnceValues(s.read)
	var err error
	if s.pages, err = template.ParseFS(templates, "templates/*.gohtml"); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for path, f := range map[string]*file{stylePath: newFile(cssType, style), scriptPath: newFile(scriptType, script)} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, f) })
	}
	mux.HandleFunc("GET "+searchPath, s.search)
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	for _, path := range []string{"/docs", "/docs/", "/openapi/"} {
		mux.HandleFunc("GET "+path, s.dispatch)
	}
	return mux, nil
}

// dispatch serves the file at the path of a request.
func (s *site) dispatch(w http.ResponseWriter, r *http.Request) {
	all, err := s.known()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch f := all.files[r.URL.Path]; {
	case f != nil:
		s.serve(w, r, f)
	case strings.HasPrefix(r.URL.Path, "/docs/"):
		s.send(w, r, http.StatusNotFound, "nothing.gohtml", nil)
	default:
		http.NotFound(w, r)
	}
}

// fail responds to a request for a page that cannot be rendered.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.ErrorContext(r.Context(), "render the reference", "path", r.URL.Path, "err", err)
	http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
}

// view is the data of a template: a document, and optionally one of its groups.
type view struct {
	Page  page
	Group *group
}

// Here reports whether a group is the one on the page.
func (v view) Here(g group) bool { return v.Group != nil && v.Group.Path == g.Path }

// read parses the documents.
func (s *site) read() (*index, error) {
	all := &index{files: map[string]*file{}}
	shown := make([]page, 0, len(s.Documents))
	for _, d := range s.Documents {
		path := "/docs/" + d.Name
		if all.files[path] != nil || slices.Contains([]string{stylePath, scriptPath, searchPath}, path) {
			return nil, fmt.Errorf("document %s: the name stands twice", d.Name)
		}
		p, err := newPage(d, s.Key)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", d.Name, err)
		}
		shown = append(shown, p)
		all.files[path] = s.rendered("overview.gohtml", view{Page: p})
		for i := range p.Groups {
			all.files[p.Groups[i].Path] = s.rendered("group.gohtml", view{Page: p, Group: &p.Groups[i]})
		}
		all.entries = append(all.entries, entries(&p)...)
		// Client generators use the address in the document; some turn a relative one into
		// //v1/users.
		all.files["/openapi/"+d.Name+".yaml"] = newFile(
			yamlType, bytes.Replace(d.YAML, []byte("\n  - url: /\n"), []byte("\n  - url: "+addressMark+"\n"), 1),
		)
		all.files["/openapi/"+d.Name+".json"] = newFile(
			jsonType, bytes.Replace(d.JSON, []byte(`"url": "/"`), []byte(`"url": "`+addressMark+`"`), 1),
		)
	}
	if len(shown) == 1 {
		all.files["/docs"] = all.files["/docs/"+shown[0].Name]
	} else {
		all.files["/docs"] = s.rendered("index.gohtml", shown)
	}
	return all, nil
}

// rendered returns the file that a template renders.
func (s *site) rendered(name string, data any) *file {
	return &file{contentType: htmlType, text: sync.OnceValues(func() ([]byte, error) {
		var out bytes.Buffer
		err := s.pages.ExecuteTemplate(&out, name, data)
		return out.Bytes(), err
	})}
}
