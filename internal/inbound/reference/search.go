package reference

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// The limits of a search.
const (
	maxQuery = 200 // bytes of the search text
	maxHits  = 50  // operations in the result
)

// entry is an operation in the search. Names are matched first; parts are the names of
// parameters and fields, and text its descriptions.
type entry struct {
	Link, Document, Method, Path, Title string
	id, names, text                     string
	parts                               []string
}

// entries returns the operations of a document.
func entries(p *page) []entry {
	var all []entry
	for _, g := range p.Groups {
		for i := range g.Operations {
			o := &g.Operations[i]
			all = append(all, entry{
				Link: g.Path + "#" + o.ID, Document: p.Title, Method: o.Method, Path: o.Path, Title: o.Title,
				id:    strings.ToLower(o.ID),
				names: strings.ToLower(o.ID + " " + o.Method + " " + o.Path + " " + o.Title + " " + g.Title),
				parts: o.parts(), text: strings.ToLower(words(o.Description)),
			})
		}
	}
	return all
}

// parts returns the names in an operation's request and responses, each once.
func (o *operation) parts() []string {
	var all []string
	for _, g := range o.Parameters {
		for i := range g.Parameters {
			all = append(all, g.Parameters[i].Name)
		}
	}
	var objects []object
	if o.Body != nil {
		objects = append(objects, o.Body.Objects...)
	}
	for i := range o.Responses {
		objects = append(objects, o.Responses[i].Objects...)
	}
	for i := range objects {
		for j := range objects[i].Fields {
			all = append(all, objects[i].Fields[j].Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func words(blocks []block) string {
	var all strings.Builder
	add := func(spans []span) {
		for _, s := range spans {
			all.WriteString(s.Text)
		}
		all.WriteByte(' ')
	}
	for _, b := range blocks {
		add(b.Text)
		for _, item := range b.Items {
			add(item)
		}
	}
	return all.String()
}

// hit is an entry that matched, with the names that did.
type hit struct {
	entry

	Parts []string
	worth int
}

// find returns the entries that contain every word, the best first.
func find(all []entry, query string) []hit {
	wanted := strings.Fields(strings.ToLower(query))
	if len(wanted) == 0 {
		return nil
	}
	var hits []hit
	for _, e := range all {
		if h, ok := e.match(wanted); ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.worth, a.worth) })
	return hits
}

func (e *entry) match(wanted []string) (hit, bool) {
	h := hit{entry: *e}
	for _, word := range wanted {
		worth := 0
		if strings.Contains(e.names, word) {
			worth = 4
		}
		for _, part := range e.parts {
			if strings.Contains(strings.ToLower(part), word) {
				worth = max(worth, 2)
				if !slices.Contains(h.Parts, part) {
					h.Parts = append(h.Parts, part)
				}
			}
		}
		if worth == 0 && strings.Contains(e.text, word) {
			worth = 1
		}
		if worth == 0 {
			return hit{}, false
		}
		h.worth += worth
	}
	if e.id == strings.Join(wanted, "") {
		h.worth += len(e.id) // an exact match of its name
	}
	return h, true
}

// search renders the results.
func (s *site) search(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	all, err := s.known()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	hits := find(all.entries, query)
	found := fmt.Sprintf("%d operations found", len(hits))
	switch {
	case strings.TrimSpace(query) == "":
		found = "Type part of a path, a name or a field."
	case len(hits) == 0:
		found = "Nothing found. Try fewer or shorter words."
	case len(hits) == 1:
		found = "1 operation found"
	case len(hits) > maxHits:
		hits, found = hits[:maxHits], fmt.Sprintf("%d operations found, showing the best %d", len(hits), maxHits)
	}
	s.send(w, r, http.StatusOK, "search.gohtml", map[string]any{"Query": query, "Found": found, "Hits": hits})
}

// send renders a page and sends it uncached.
func (s *site) send(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, name, data); err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	setHeaders(h, htmlType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	text := out.Bytes()
	if wire.AcceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		text = zip(text)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser may have gone
}
