package oauth

import (
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

// profile is the data of the profile and email forms.
type profile struct {
	own
	Shown             own             // before the learner changed anything
	Wrong             map[string]bool // invalid fields
	Email             string
	Mail              bool   // the server can send email
	Forgotten         string // where to request a new password
	MaxName, MaxPhone int
}

// own are the fields that the form changes.
type own struct {
	Name, Phone string
	Marketing   bool
}

func (p *pages) profileOf(v *visit) profile {
	now := own{v.User.Name.Value, v.User.PhoneNumber.Value, v.User.Marketing.Value}
	return profile{
		own: now, Shown: now, Email: v.User.Email, Mail: p.Doors.SendConfirmation != nil,
		Forgotten: v.path("forgot_password"),
		MaxName:   people.MaxUserText, MaxPhone: lyceum.MaxPhoneNumber,
	}
}

// readOwn reads the fields from a form in which their names have a prefix.
func readOwn(form parameters, prefix string) own {
	return own{
		strings.TrimSpace(form.get(prefix + "name")), strings.TrimSpace(form.get(prefix + "phone_number")),
		form.get(prefix+"marketing") == "on",
	}
}

// changed returns what the learner changed compared to what the page showed; the rest may have
// been changed elsewhere since.
func (f *profile) changed() (c people.OwnChange) {
	if f.Name != f.Shown.Name {
		c.Name = lyceum.Some(lyceum.Opt[string]{Value: f.Name, Present: f.Name != ""})
	}
	if f.Phone != f.Shown.Phone {
		c.Phone = lyceum.Some(lyceum.Opt[string]{Value: f.Phone, Present: f.Phone != ""})
	}
	if f.Marketing != f.Shown.Marketing {
		c.Marketing = lyceum.Some(f.Marketing)
	}
	return c
}

// refuse marks the fields that an error names.
func (f *profile) refuse(e *lyceum.Error) {
	f.Wrong = map[string]bool{}
	for _, wrong := range e.Fields {
		f.Wrong[wrong.Field] = true
	}
}

// showProfile serves GET /account/profile.
func (p *pages) showProfile(w http.ResponseWriter, r *http.Request, v *visit) error {
	shown := after(r)
	shown.Data = p.profileOf(v)
	return p.profilePage(w, v, http.StatusOK, shown)
}

func (p *pages) profilePage(w http.ResponseWriter, v *visit, status int, shown view) error {
	shown.Title, shown.Room = "Your profile", profilePath
	return p.show(w, status, "profile.gohtml", v, shown)
}

// changeProfile serves POST /account/profile.
func (p *pages) changeProfile(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	requested := p.profileOf(v)
	requested.own = readOwn(form, "")
	if _, sent := form.values["shown_name"]; sent {
		requested.Shown = readOwn(form, "shown_")
	}
	_, err = p.People.ChangeOwn(r.Context(), v.asLearner(), requested.changed(), p.Doors)
	if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Invalid {
		requested.refuse(e)
		return p.profilePage(w, v, http.StatusUnprocessableEntity, view{Error: worded(e), Data: requested})
	}
	if err != nil {
		return err
	}
	see(w, r, profilePath+"?done=profile")
	return nil
}

// showEmail serves GET /account/profile/email.
func (p *pages) showEmail(w http.ResponseWriter, r *http.Request, v *visit) error {
	shown := after(r)
	shown.Data = p.profileOf(v)
	return p.emailPage(w, v, http.StatusOK, shown)
}

func (p *pages) emailPage(w http.ResponseWriter, v *visit, status int, shown view) error {
	shown.Title, shown.Room = "Change your email address", profilePath
	return p.show(w, status, "email.gohtml", v, shown)
}

// changeEmail serves POST /account/profile/email: it sends a link to the new address, which
// takes effect when the link is opened.
func (p *pages) changeEmail(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	requested := p.profileOf(v)
	requested.Email = strings.TrimSpace(form.get("email"))
	_, err = p.People.ChangeOwn(r.Context(), v.asLearner(), people.OwnChange{Email: lyceum.Some(requested.Email)}, p.Doors)
	e := lyceum.Public(err)
	switch {
	case err == nil && requested.Email == v.User.Email:
		see(w, r, profilePath)
		return nil
	case err == nil:
		see(w, r, profilePath+"?done=asked")
		return nil
	case !requested.Mail && e.Kind == lyceum.Conflict:
		return p.emailPage(w, v, http.StatusConflict, view{Data: requested}) // the page says what to do instead
	case e.Kind == lyceum.RateLimited:
		return p.emailPage(w, v, http.StatusTooManyRequests, view{
			Error: "Too many links were sent within an hour. Wait and try again.", Data: requested,
		})
	case e.Kind == lyceum.Invalid:
		requested.Email = web.Plain(requested.Email)
		requested.refuse(e)
		return p.emailPage(w, v, http.StatusUnprocessableEntity, view{Error: worded(e), Data: requested})
	}
	return err
}
