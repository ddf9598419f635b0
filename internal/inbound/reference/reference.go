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
	"net/http"

	"github.com/lyceum-school/lyceum/contract"
)

//go:embed templates/*.gohtml
var templates embed.FS

//go:embed style.css
var style []byte

//go:embed copy.js
var script []byte

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
}

// site is all files by their paths, and the search entries.
type site struct {
	Options
	pages   *template.Template
	files   map[string]*file
	entries []entry
}

// Handler serves /docs, /docs/NAME for each document, /docs/NAME/GROUP for each group of
// its operations, /docs/search, /openapi/NAME.yaml and /openapi/NAME.json. With one
// document, /docs is its page, otherwise a list of the documents. It fails if a document
// cannot be parsed, or if two have the same name.
func Handler(o Options) (http.Handler, error) {
	s := &site{Options: o, files: map[string]*file{
		"/docs/style.css": newFile(cssType, style),
		"/docs/copy.js":   newFile(scriptType, script),
		searchPath:        nil, // reserved
	}}
	var err error
	if s.pages, err = template.ParseFS(templates, "templates/*.gohtml"); err != nil {
		return nil, err
	}
	if err := s.render(); err != nil {
		return nil, err
	}
	delete(s.files, searchPath)
	mux := http.NewServeMux()
	for path, f := range s.files {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, s.address(r)) })
	}
	mux.HandleFunc("GET "+searchPath, s.search)
	mux.HandleFunc("GET /docs/", func(w http.ResponseWriter, r *http.Request) {
		s.send(w, r, http.StatusNotFound, "nothing.gohtml", nil)
	})
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	return mux, nil
}

// view is the data of a template: a document, and optionally one of its groups.
type view struct {
	Page  page
	Group *group
}

// Here reports whether a group is the one on the page.
func (v view) Here(g group) bool { return v.Group != nil && v.Group.Path == g.Path }

// render renders the pages and the documents.
func (s *site) render() error {
	shown := make([]page, 0, len(s.Documents))
	for _, d := range s.Documents {
		if _, taken := s.files["/docs/"+d.Name]; taken {
			return fmt.Errorf("document %s: the name stands twice", d.Name)
		}
		p, err := newPage(d, s.Key)
		if err != nil {
			return fmt.Errorf("document %s: %w", d.Name, err)
		}
		shown = append(shown, p)
		if err := s.add("/docs/"+d.Name, "overview.gohtml", view{Page: p}); err != nil {
			return fmt.Errorf("document %s: %w", d.Name, err)
		}
		for i := range p.Groups {
			if err := s.add(p.Groups[i].Path, "group.gohtml", view{Page: p, Group: &p.Groups[i]}); err != nil {
				return fmt.Errorf("document %s: %w", d.Name, err)
			}
		}
		s.entries = append(s.entries, entries(&p)...)
		// Client generators use the address in the document; some turn a relative one into
		// //v1/users.
		s.files["/openapi/"+d.Name+".yaml"] = newFile(
			yamlType, bytes.Replace(d.YAML, []byte("\n  - url: /\n"), []byte("\n  - url: "+addressMark+"\n"), 1),
		)
		s.files["/openapi/"+d.Name+".json"] = newFile(
			jsonType, bytes.Replace(d.JSON, []byte(`"url": "/"`), []byte(`"url": "`+addressMark+`"`), 1),
		)
	}
	if len(shown) == 1 {
		s.files["/docs"] = s.files["/docs/"+shown[0].Name]
		return nil
	}
	return s.add("/docs", "index.gohtml", shown)
}

func (s *site) add(path, name string, data any) error {
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	s.files[path] = newFile(htmlType, out.Bytes())
	return nil
}
