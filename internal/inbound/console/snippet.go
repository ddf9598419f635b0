package console

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// snippetPage is the data of the form of the snippet for learners' pages.
type snippetPage struct {
	templates.Snippet

	Form    *form
	Preview *string // HTML; nil without a preview
}

// showSnippet serves GET /admin/settings/page-snippet.
func (c *console) showSnippet(w http.ResponseWriter, r *http.Request, v *visit) error {
	s, err := c.Emails.Snippet(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	return c.snippetPage(w, r, v, snippetPage{Snippet: s, Form: snippetForm(&s)})
}

// snippetForm returns the form of the snippet with its current value.
func snippetForm(s *templates.Snippet) *form {
	return &form{Action: snippetPath, Shown: s.Shown(), Values: map[string]string{"body": s.Body}}
}

func (c *console) snippetPage(w http.ResponseWriter, r *http.Request, v *visit, p snippetPage) error {
	return c.show(w, r, statusFor(p.Form), "snippet.gohtml", v, "Snippet for learners’ pages", p)
}

// changeSnippet serves POST /admin/settings/page-snippet: it saves the snippet or previews it.
func (c *console) changeSnippet(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: snippetPath, Shown: r.PostForm.Get("shown"), Values: map[string]string{}}
	f.keep(lines(r), "body")
	body := lyceum.Some(f.Values["body"])
	p := snippetPage{Form: f}
	var wrong error
	if r.PostForm.Get("do") == "save" {
		if _, wrong = c.Emails.ChangeSnippet(r.Context(), v.seeing(f), body); wrong == nil {
			return done(w, r, snippetPath, "changed")
		}
	} else {
		var html string
		if html, wrong = c.Emails.PreviewSnippet(r.Context(), v.by(), body); wrong == nil {
			p.Preview = &html
		}
	}
	var err error
	if p.Snippet, err = c.Emails.Snippet(r.Context(), v.by(), struct{}{}); err != nil {
		return err
	}
	if wrong != nil && !f.overtaken(wrong, snippetForm(&p.Snippet), "body") && !f.refuse(wrong) {
		return wrong
	}
	return c.snippetPage(w, r, v, p)
}
