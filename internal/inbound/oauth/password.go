package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// passwordForm is the data of the page where a password is set.
type passwordForm struct{ Action, Email, Next string }

// showPassword serves GET /secure/{school}/identity/set_password/{link}. It does not use up the
// link, because programs that scan emails before people read them also follow links.
func (p *pages) showPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := p.Accounts.Link(r.Context(), v.School.ID, r.PathValue("link"))
	if err != nil {
		return err
	}
	return p.passwordPage(w, r, v, http.StatusOK, after(r), user, local(r.URL.Query().Get("next")))
}

func (p *pages) passwordPage(
	w http.ResponseWriter,
	r *http.Request,
	v *visit,
	status int,
	shown view,
	user lyceum.User,
	next string,
) error {
	w.Header().Set("Referrer-Policy", "strict-origin") // the URL is a secret; the check of forms needs the origin
	v.User = lyceum.User{}
	shown.Title = "Choose a password"
	shown.Data = passwordForm{Action: r.URL.Path, Email: user.Email, Next: next}
	return p.show(w, status, "password.gohtml", v, shown)
}

// setPassword serves POST /secure/{school}/identity/set_password/{link}.
func (p *pages) setPassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	user, err := p.Accounts.Link(r.Context(), v.School.ID, r.PathValue("link"))
	if err != nil {
		return err
	}
	next := local(form.get("next"))
	changed, err := p.Accounts.SetPassword(r.Context(), v.School.ID, r.PathValue("link"), form.get("password"))
	if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Invalid && len(e.Fields) > 0 {
		shown := view{Error: "The password " + e.Fields[0].Message + "."}
		return p.passwordPage(w, r, v, http.StatusUnprocessableEntity, shown, user, next)
	}
	if err != nil {
		return err
	}
	p.Site.End(w)
	if err := p.endHere(r); err != nil { // it may be that of somebody else
		return err
	}
	p.Site.KeepDevice(w, p.Accounts.Remember(p.Site.Device(r), v.School.ID, changed), access.DeviceLifetime)
	p.Site.KeepAddress(w, changed.Email)
	to := v.path("sign_in") + "?done=password"
	if next != "" {
		to += "&next=" + url.QueryEscape(next)
	}
	see(w, r, to)
	return nil
}

// forgottenForm is the data of the page for a forgotten password.
type forgottenForm struct {
	Action, SignIn string
	Mail           bool // the server can send email
	Sent           bool
}

// showForgotten serves GET /secure/{school}/identity/forgot_password.
func (p *pages) showForgotten(w http.ResponseWriter, _ *http.Request, v *visit) error {
	return p.forgottenPage(w, v, false)
}

func (p *pages) forgottenPage(w http.ResponseWriter, v *visit, sent bool) error {
	return p.show(w, http.StatusOK, "forgotten.gohtml", v, view{
		Title: "Forgotten password",
		Data: forgottenForm{
			Action: v.path("forgot_password"), SignIn: v.path("sign_in"), Mail: p.Emails.Sends(),
			Sent: sent,
		},
	})
}

// forgotten serves POST /secure/{school}/identity/forgot_password. The response is the same
// whether or not the user exists, and does not wait for the email.
func (p *pages) forgotten(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	if !p.Emails.Sends() {
		return p.forgottenPage(w, v, false)
	}
	email := strings.TrimSpace(form.get("email"))
	select {
	case p.mailing <- struct{}{}:
	default:
		return lyceum.Errorf(lyceum.RateLimited, "Too many emails are being sent right now. Wait a minute and try again.")
	}
	ctx := context.WithoutCancel(r.Context())
	go func() {
		defer func() { <-p.mailing }()
		p.sendLink(ctx, v, email)
	}()
	return p.forgottenPage(w, v, true)
}

func (p *pages) sendLink(ctx context.Context, v *visit, email string) {
	if err := p.Accounts.Forgotten(ctx, v.School.ID, email, p.letters.forgotten); err != nil {
		p.Log.WarnContext(ctx, "a link for a password could not be sent", "school", v.School.ID, "err", err)
	}
}
