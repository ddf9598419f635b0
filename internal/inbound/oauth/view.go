package oauth

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// view is the data of every page.
type view struct {
	Title   string
	School  string // its name; empty if the school is unknown
	Zone    lyceum.TimeZone
	User    string // the email of the signed-in user
	Out     string // where to sign out
	Room    string // the account page that is marked as current
	Snippet bool   // the school adds a snippet to the page
	Notice  string
	Late    string // why a form did nothing
	Error   string
	Data    any
}

var functions = template.FuncMap{
	"plain":   web.Plain,
	"machine": func(at time.Time) string { return string(lyceum.AppendTime(nil, at)) },
	"minute":  func(at time.Time) string { return at.Format("2\u00a0Jan\u00a02006, 15:04") },
	"day":     func(at time.Time) string { return at.Format("2\u00a0Jan\u00a02006") },
}

// parse parses the page templates, each with the shared parts.
func parse() (map[string]*template.Template, error) {
	parsed, err := web.Pages(pageTemplates, functions, "templates/*.gohtml")
	if err != nil {
		return nil, err
	}
	for _, page := range parsed {
		if _, err := page.ParseFS(pageTemplates, "templates/parts/*.gohtml"); err != nil {
			return nil, fmt.Errorf("parse parts: %w", err)
		}
	}
	return parsed, nil
}

// labels are the names of form fields in messages.
var labels = map[string]string{
	"email": "The email address", "name": "The name", "phone_number": "The phone number",
}

// worded returns an error message for a form that uses the form's own field names.
func worded(e *lyceum.Error) string {
	named := &lyceum.Error{Kind: e.Kind, Detail: e.Detail}
	for _, f := range e.Fields {
		label := cmp.Or(labels[f.Field], f.Field)
		named.Fields = append(named.Fields, lyceum.FieldError{Field: label, Message: f.Message + "."})
	}
	return strings.Join(named.Sentences(), " ")
}

func (p *pages) show(w http.ResponseWriter, status int, page string, v *visit, shown view) error {
	if v != nil {
		shown.School, shown.Zone = web.Plain(v.School.Name), v.School.TimeZone
		if shown.Snippet = v.snippet; v.snippet {
			framed(w.Header())
		}
		if v.User.ID != 0 {
			shown.User, shown.Out = v.User.Email, v.path("sign_out")
		}
	}
	return web.Show(w, status, p.templates[page], shown)
}

// apologize shows an error to the user, and logs what must not be shown. An error page never
// redirects.
func (p *pages) apologize(w http.ResponseWriter, r *http.Request, err error) {
	e := lyceum.Public(err)
	sentence := strings.Join(e.Sentences(), " ")
	switch e.Kind {
	case lyceum.Internal:
		web.Logger(p.Log, w, r).ErrorContext(r.Context(), "page failed", "err", err)
		sentence = "The server’s log has the details. Try again; if the problem persists, contact the school."
	case lyceum.Unavailable:
		web.Logger(p.Log, w, r).Log(r.Context(), wire.RefusalLevel(r), "page cannot be shown now", "err", err)
		w.Header().Set("Retry-After", "2")
		sentence = web.Unavailable(e)
	case lyceum.RateLimited:
		w.Header().Set("Retry-After", "60")
	default:
	}
	if err := p.show(
		w, web.Status(e.Kind), "problem.gohtml", nil, view{Title: web.Title(e.Kind), Error: sentence},
	); err != nil {
		web.Logger(p.Log, w, r).ErrorContext(r.Context(), "page cannot be rendered", "err", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}
