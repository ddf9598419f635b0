// Package reference serves the documents of the public interface and the pages
// that show them to people: each document as YAML and as JSON under /openapi/,
// and under /docs a page for each, one for each group of its operations, and a
// search over all of them.
//
// It owns how a document looks on a page. All it knows of the interface it
// reads from the document; it must not know schools, rules, stores or the
// other faces. The pages are read without a script, which only adds buttons to
// copy samples, and ask no other host for anything.
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

// Options are what the pages are made of.
type Options struct {
	Documents []contract.Document
	// BaseURL is the address that programs reach the server by, which stands in
	// samples and documents; without one it is the address that each request
	// came to.
	BaseURL string
	// Key is an API key that samples have in them. It is told to whoever asks,
	// so only a sandbox has one.
	Key string
}

// site is every file that is served, by its path, and what can be found.
type site struct {
	Options
	pages   *template.Template
	files   map[string]*file
	entries []entry
}

// Handler serves /docs, /docs/NAME for each document, /docs/NAME/GROUP for each
// group of its operations, /docs/search, /openapi/NAME.yaml and
// /openapi/NAME.json. With one document /docs is its page, otherwise the list of
// them. A document that cannot be read, or a name that stands twice, is an
// error.
func Handler(o Options) (http.Handler, error) {
	s := &site{Options: o, files: map[string]*file{
		"/docs/style.css": newFile(cssType, style),
		"/docs/copy.js":   newFile(scriptType, script),
		searchPath:        nil, // taken
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
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	return mux, nil
}

// view is what a template shows: a document, and of it one group or none.
type view struct {
	Page  page
	Group *group
}

// Here tells whether a group is the one that is shown.
func (v view) Here(g group) bool { return v.Group != nil && v.Group.Path == g.Path }

// render makes the pages and the documents.
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
		// Generators make their client of the address in the document; of a
		// relative one some of them make //v1/users.
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
