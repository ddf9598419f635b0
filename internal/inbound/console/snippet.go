package console

import (
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// snippetPage is the form of the snippet for learners' pages.
type snippetPage struct {
	templates.Snippet

	Form    *form
	Preview *string // HTML; nil: none was asked for
}

// showSnippet serves GET /admin/settings/page-snippet.
func (c *console) showSnippet(w http.ResponseWriter, r *http.Request, v *visit) error {
	s, err := c.Emails.Snippet(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	p := snippetPage{Snippet: s, Form: &form{Action: snippetPath, Values: map[string]string{"body": s.Body}}}
	return c.snippetPage(w, r, v, p)
}

func (c *console) snippetPage(w http.ResponseWriter, r *http.Request, v *visit, p snippetPage) error {
	return c.show(w, r, statusFor(p.Form), "snippet.gohtml", v, "Snippet for learners’ pages", p)
}

// changeSnippet serves POST /admin/settings/page-snippet: it saves the snippet or shows
// what it makes.
func (c *console) changeSnippet(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: snippetPath, Values: map[string]string{}}
	f.keep(r.PostForm.Get, "body")
	body := lyceum.Some(strings.ReplaceAll(f.Values["body"], "\r\n", "\n")) // as browsers send them
	p := snippetPage{Form: f}
	var err error
	if r.PostForm.Get("do") == "save" {
		if _, err = c.Emails.ChangeSnippet(r.Context(), v.by(), body); err == nil {
			return done(w, r, snippetPath, "changed")
		}
	} else {
		var html string
		if html, err = c.Emails.PreviewSnippet(r.Context(), v.by(), body); err == nil {
			p.Preview = &html
		}
	}
	if err != nil && !f.refuse(err) {
		return err
	}
	if p.Snippet, err = c.Emails.Snippet(r.Context(), v.by(), struct{}{}); err != nil {
		return err
	}
	return c.snippetPage(w, r, v, p)
}
