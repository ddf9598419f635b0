package console

import (
	"errors"
	"net/http"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// emailsPage is the data of the page of emails and the secrets that their templates sign with.
type emailsPage struct {
	Form    *form // adds a secret
	Emails  []email
	Secrets []lyceum.TemplateSecret
	Sends   bool
}

// email is one email template with its page.
type email struct {
	templates.Email

	Title, Path string
}

// emailPage is the data of the page of one email template.
type emailPage struct {
	email

	Form    *form
	Preview *templates.Composed
	Sends   bool
	SentTo  string
	Unsaved bool // the email was turned on or off, and its text was not saved
}

// emailTitles are the titles of the emails.
var emailTitles = map[templates.EmailName]string{
	templates.Invitation: "Invitation", templates.SetPassword: "Forgotten password",
	templates.ConfirmEmail: "Confirm an email address",
	templates.EmailChanged: "Email address changed", templates.AccountChanged: "Account changed by the school",
	templates.Receipt: "Receipt", templates.PaymentFailed: "Payment failed", templates.AccessEnded: "Access ended",
	templates.OrderAbandoned: "Order not finished",
}

func emailOf(e templates.Email) email {
	return email{e, emailTitles[e.Name], emailsPath + "/" + string(e.Name)}
}

// listEmails serves GET /admin/settings/emails.
func (c *console) listEmails(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.emailsPage(w, r, v, &form{Action: emailsPath + "/secrets", Values: map[string]string{}})
}

func (c *console) emailsPage(w http.ResponseWriter, r *http.Request, v *visit, f *form) error {
	all, err := c.Emails.Emails(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	p := emailsPage{Form: f, Sends: c.Emails.Sends()}
	for i := range all {
		p.Emails = append(p.Emails, emailOf(all[i]))
	}
	if p.Secrets, err = c.Emails.Secrets(r.Context(), v.by(), struct{}{}); err != nil {
		return err
	}
	return c.show(w, r, statusFor(f), "emails.gohtml", v, "Emails", p)
}

func statusFor(f *form) int {
	if len(f.Wrong) > 0 || len(f.Now) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// keepSecret serves POST /admin/settings/emails/secrets. It adds a secret, or replaces the one
// with that name.
func (c *console) keepSecret(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: emailsPath + "/secrets", Values: map[string]string{}}
	f.keep(r.PostForm.Get, "name")
	name, secret := r.PostForm.Get("name"), r.PostForm.Get("secret")
	known, err := c.Emails.Secrets(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	notice := "secret-added"
	for i := range known {
		if known[i].Name == name {
			notice = "secret-changed"
			_, err = c.Emails.ChangeSecret(r.Context(), v.by(), templates.NextSecret{ID: known[i].ID, Secret: secret})
		}
	}
	if notice == "secret-added" {
		_, err = c.Emails.AddSecret(r.Context(), v.by(), templates.NewSecret{Name: name, Secret: secret})
	}
	switch {
	case err != nil && f.refuse(err):
		return c.emailsPage(w, r, v, f)
	case err != nil:
		return err
	}
	return done(w, r, emailsPath, notice)
}

// confirmDeleteSecret serves GET /admin/settings/emails/secrets/{id}/delete.
func (c *console) confirmDeleteSecret(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.TemplateSecretID](r.PathValue("id"))
	known, err := c.Emails.Secrets(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(known, func(s lyceum.TemplateSecret) bool { return s.ID == id })
	if !ok || at < 0 {
		return errNoPage
	}
	return c.show(w, r, http.StatusOK, "secret_delete.gohtml", v, "Delete this secret?", known[at])
}

// deleteSecret serves POST /admin/settings/emails/secrets/{id}/delete.
func (c *console) deleteSecret(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.TemplateSecretID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	if err := c.Emails.DeleteSecret(r.Context(), v.by(), id); err != nil {
		return err
	}
	return done(w, r, emailsPath, "secret-deleted")
}

// emailForm returns the form of an email template with its current values.
func emailForm(e *email) *form {
	return &form{
		Action: e.Path, Shown: e.Shown(), Values: map[string]string{"subject": e.Subject, "body": e.Body},
	}
}

// showEmail serves GET /admin/settings/emails/{name}.
func (c *console) showEmail(w http.ResponseWriter, r *http.Request, v *visit) error {
	e, err := c.Emails.Email(r.Context(), v.by(), templates.EmailName(r.PathValue("name")))
	if err != nil {
		return err
	}
	p := emailPage{email: emailOf(e), Sends: c.Emails.Sends()}
	p.Form = emailForm(&p.email)
	return c.show(w, r, http.StatusOK, "email.gohtml", v, p.Title, p)
}

// changeEmail serves POST /admin/settings/emails/{name}: it previews the templates, sends the
// result to the visitor as a test, saves the templates, or turns the email on or off.
func (c *console) changeEmail(w http.ResponseWriter, r *http.Request, v *visit) error {
	e, err := c.Emails.Email(r.Context(), v.by(), templates.EmailName(r.PathValue("name")))
	if err != nil {
		return err
	}
	p := emailPage{email: emailOf(e), Sends: c.Emails.Sends()}
	p.Form = &form{Action: p.Path, Shown: r.PostForm.Get("shown"), Values: map[string]string{}}
	p.Form.keep(lines(r), "subject", "body")
	draft := templates.Draft{
		Name: e.Name, Subject: lyceum.Some(p.Form.Values["subject"]), Body: lyceum.Some(p.Form.Values["body"]),
	}
	switch r.PostForm.Get("do") {
	case "on", "off":
		on := lyceum.Some(r.PostForm.Get("do") == "on")
		e, err = c.Emails.Change(r.Context(), v.by(), templates.Draft{Name: e.Name, Enabled: on})
		if err != nil {
			break
		}
		if draft.Subject.Value == e.Subject && draft.Body.Value == e.Body {
			return done(w, r, p.Path, "changed")
		}
		p.email, p.Unsaved = emailOf(e), true
	case "standard":
		if err := c.Emails.Reset(r.Context(), v.by(), e.Name); err != nil {
			return err
		}
		return done(w, r, p.Path, "email-standard")
	case "save":
		_, err = c.Emails.Change(r.Context(), v.seeing(p.Form), draft)
		if err == nil {
			return done(w, r, p.Path, "changed")
		}
		now, gone := c.Emails.Email(r.Context(), v.by(), e.Name)
		if gone != nil {
			return gone
		}
		p.email = emailOf(now)
	case "test":
		p.SentTo, err = c.Emails.Test(r.Context(), v.by(), draft)
		if errors.Is(err, templates.ErrNotTaken) {
			web.Logger(c.Log, w, r).WarnContext(r.Context(), "a test of an email was not sent", "err", err)
			p.Form.Refused = "The mail server did not take the email. Nothing was saved. The server’s log has the details."
			return c.show(w, r, http.StatusServiceUnavailable, "email.gohtml", v, p.Title, p)
		}
	default:
		var made templates.Composed
		made, err = c.Emails.Preview(r.Context(), v.by(), draft)
		p.Preview = &made
	}
	if err != nil && !p.Form.overtaken(err, emailForm(&p.email), "subject", "body") && !p.Form.refuse(err) {
		return err
	}
	if err != nil {
		p.Preview = nil
	}
	return c.show(w, r, statusFor(p.Form), "email.gohtml", v, p.Title, p)
}
