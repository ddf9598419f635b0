// Package reference serves the documents of the public interface and the pages
// that show them to people: each document as YAML and as JSON under /openapi/,
// and a page for each under /docs.
//
// It owns how a document looks on a page. All it knows of the interface it
// reads from the document; it must not know schools, rules, stores or the
// other faces. The pages are rendered once, into memory. They run no script
// and ask no other host for anything.
package reference

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum/contract"
)

//go:embed templates/*.gohtml
var templates embed.FS

//go:embed style.css
var style []byte

// contentPolicy lets the pages have their own style sheet and nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	htmlType = "text/html; charset=utf-8"
	cssType  = "text/css; charset=utf-8"
	yamlType = "application/yaml"
	jsonType = "application/json"
)

// Handler serves /docs, /docs/<name> for each document, /docs/style.css,
// /openapi/<name>.yaml and /openapi/<name>.json. With one document /docs is its
// page, otherwise the list of them. A document that cannot be read, or a name
// that stands twice, is an error.
func Handler(documents []contract.Document) (http.Handler, error) {
	files, err := render(documents)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for path, f := range files {
		mux.Handle("GET "+path, f)
	}
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	return mux, nil
}

// render makes every file that is served, by its path.
func render(documents []contract.Document) (map[string]file, error) {
	pages, err := template.ParseFS(templates, "templates/*.gohtml")
	if err != nil {
		return nil, err
	}
	files := map[string]file{"/docs/style.css": newFile(cssType, style)}
	shown := make([]page, 0, len(documents))
	for _, d := range documents {
		path := "/docs/" + d.Name
		if _, taken := files[path]; taken {
			return nil, fmt.Errorf("document %s: the name stands twice", d.Name)
		}
		p, err := newPage(d)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", d.Name, err)
		}
		shown = append(shown, p)
		if files[path], err = execute(pages, "page.gohtml", p); err != nil {
			return nil, fmt.Errorf("document %s: %w", d.Name, err)
		}
		files["/openapi/"+d.Name+".yaml"] = newFile(yamlType, d.YAML)
		files["/openapi/"+d.Name+".json"] = newFile(jsonType, d.JSON)
	}
	if len(documents) == 1 {
		files["/docs"] = files["/docs/"+documents[0].Name]
		return files, nil
	}
	files["/docs"], err = execute(pages, "index.gohtml", shown)
	return files, err
}

func execute(pages *template.Template, name string, data any) (file, error) {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return file{}, err
	}
	return newFile(htmlType, out.Bytes()), nil
}

// file is an answer that never changes while the program runs.
type file struct {
	contentType, etag string
	body              []byte
}

func newFile(contentType string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{contentType, `"` + hex.EncodeToString(sum[:12]) + `"`, body}
}

func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("ETag", f.etag)
	// Kept by the browser and asked about each time: a new version of the
	// program must not be shown with an old page.
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}
