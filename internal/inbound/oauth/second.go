package oauth

import (
	"fmt"
	"image/color"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// stepForm is the data of the page that requests a second factor, or the password again.
type stepForm struct {
	Action, Next, Email string
	Second              bool // request a second factor, not the password
	App                 bool // the user has an app
	Passkeys            bool // the user has passkeys
	Passkey             passkeyForm
}

// stepLifetime is how long the browser keeps the proof that the password was right.
const stepLifetime = 15 * time.Minute

// showStep serves GET /secure/{school}/identity/second_step.
func (p *pages) showStep(w http.ResponseWriter, r *http.Request, v *visit) error {
	next := local(r.URL.Query().Get("next"))
	if p.Site.Step(r) == "" {
		see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(next))
		return nil
	}
	return p.stepPage(w, r, v, http.StatusOK, "", next)
}

func (p *pages) stepPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, problem, next string,
) error {
	user, err := p.Accounts.StepUser(r.Context(), v.School.ID, p.Site.Step(r))
	if err != nil && lyceum.KindOf(err) == lyceum.NotFound {
		return p.stepOver(w, r, v, err, next)
	}
	if err != nil {
		return err
	}
	form, err := p.factorForm(r, v, user, passkeyForm{
		Action: v.path("second_step"), Options: v.path("passkey"), Next: next, For: access.PasskeyAsSecond,
	})
	if err != nil {
		return err
	}
	v.User = lyceum.User{}
	p.allowProblem(w, r, v, next)
	return p.show(w, status, "step.gohtml", v, view{Title: "Second factor", Error: problem, Data: form})
}

// stepOver shows the sign-in again to a user who took too long.
func (p *pages) stepOver(w http.ResponseWriter, r *http.Request, v *visit, over error, next string) error {
	p.Site.KeepStep(w, "", -1)
	v.User = lyceum.User{}
	return p.signInPage(w, r, v, http.StatusUnprocessableEntity, view{Error: lyceum.Public(over).Detail}, "", next)
}

// factorForm returns the form for a user's second factors.
func (p *pages) factorForm(
	r *http.Request, v *visit, user lyceum.UserID, passkey passkeyForm,
) (stepForm, error) {
	factors, err := p.Accounts.Factors(r.Context(), v.School.ID, user)
	form := stepForm{
		Action: passkey.Action, Next: passkey.Next, Second: factors.Any(), App: factors.App,
		Passkeys: len(factors.Passkeys) > 0,
	}
	if _, here := p.party(v); here && form.Passkeys {
		form.Passkey = passkey
	}
	return form, err
}

// takeStep serves POST /secure/{school}/identity/second_step.
func (p *pages) takeStep(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	next := local(form.get("next"))
	in, err := p.Accounts.SecondStep(r.Context(), p.attempt(r, v, &form), p.Site.Step(r), form.get("code"))
	if e := lyceum.Public(err); err != nil {
		switch e.Kind {
		case lyceum.Unauthenticated:
			return p.stepPage(w, r, v, http.StatusUnprocessableEntity, e.Detail, next)
		case lyceum.RateLimited:
			w.Header().Set("Retry-After", "60")
			return p.stepPage(w, r, v, http.StatusTooManyRequests, e.Detail, next)
		case lyceum.NotFound:
			return p.stepOver(w, r, v, err, next)
		default:
			return err
		}
	}
	if err := p.endHere(r); err != nil {
		return err
	}
	p.Site.KeepStep(w, "", -1)
	p.Site.Begin(w, in.Session, access.SessionAbsolute)
	p.Site.KeepDevice(w, in.Device, access.DeviceLifetime)
	return p.seeNext(w, r, v, &in.User, next)
}

// showIdentity serves GET /secure/{school}/identity/confirm: users confirm their identity again
// before doing what a stolen session must not be able to do.
func (p *pages) showIdentity(w http.ResponseWriter, r *http.Request, v *visit) error {
	next := local(r.URL.Query().Get("next"))
	if v.User.ID == 0 {
		see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(next))
		return nil
	}
	return p.identityPage(w, r, v, http.StatusOK, "", next)
}

func (p *pages) identityPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, problem, next string,
) error {
	form, err := p.factorForm(r, v, v.User.ID, passkeyForm{
		Action: v.path("confirm"), Options: v.path("passkey"), Next: next, For: access.PasskeyToConfirm,
	})
	if err != nil {
		return err
	}
	form.Email = v.User.Email
	return p.show(w, status, "step.gohtml", v, view{Title: "Confirm that it is you", Error: problem, Data: form})
}

// confirmIdentity serves POST /secure/{school}/identity/confirm.
func (p *pages) confirmIdentity(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	next := local(form.get("next"))
	if v.User.ID == 0 {
		see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(next))
		return nil
	}
	err = p.Accounts.Confirm(r.Context(), access.Proof{
		Attempt: p.attempt(r, v, &form), Session: v.secret, Code: form.get("code"),
	})
	if e := lyceum.Public(err); err != nil {
		switch e.Kind {
		case lyceum.Unauthenticated:
			return p.identityPage(w, r, v, http.StatusUnprocessableEntity, e.Detail, next)
		case lyceum.RateLimited:
			w.Header().Set("Retry-After", "60")
			return p.identityPage(w, r, v, http.StatusTooManyRequests, e.Detail, next)
		default:
			return err
		}
	}
	return p.seeNext(w, r, v, &v.User, next)
}

// secondFactorPath is the page of a user's second factors.
const secondFactorPath = "/account/second-factor"

// secondPage is the data of that page.
type secondPage struct {
	App      bool
	Has      bool // has any second factor
	Left     int  // unused recovery codes
	Setup    access.Setup
	Size     int
	QR       string // the path of an SVG that draws the dark squares
	Wanted   bool   // the school requires owners to have one
	Passkeys []keptPasskey
	Address  string // where passkeys do not work; empty if they do
	Most     int    // maximum number of passkeys
	Full     bool   // no further passkey can be added
	Longest  int    // maximum length of a passkey's name, in characters
}

// fresh runs an action for users who have confirmed their identity recently. It redirects
// others to do so first, and then back.
func (p *pages) fresh(act func(http.ResponseWriter, *http.Request, *visit) error) action {
	return p.signedIn(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		if fresh, err := p.isFresh(w, r, v, wayBack(r, "unconfirmed")); err != nil || !fresh {
			return err
		}
		return act(w, r, v)
	})
}

// isFresh reports whether the user has confirmed their identity recently. If not, it redirects
// them to do so first, and then to next.
func (p *pages) isFresh(w http.ResponseWriter, r *http.Request, v *visit, next string) (bool, error) {
	fresh, err := p.Accounts.Fresh(r.Context(), v.School.ID, v.secret)
	if err == nil && !fresh {
		see(w, r, v.path("confirm")+"?next="+url.QueryEscape(next))
	}
	return fresh, err
}

// showSecond serves GET /account/second-factor.
func (p *pages) showSecond(w http.ResponseWriter, r *http.Request, v *visit) error {
	return p.factorsPage(w, r, v, http.StatusOK, after(r))
}

// factorsPage shows the second factors of the signed-in user, and how to set up an app if they
// have none.
func (p *pages) factorsPage(w http.ResponseWriter, r *http.Request, v *visit, status int, shown view) error {
	return p.secondPage(w, r, v, status, shown, access.Setup{})
}

func (p *pages) secondPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, shown view, setup access.Setup,
) error {
	factors, err := p.Accounts.Factors(r.Context(), v.School.ID, v.User.ID)
	if err != nil {
		return err
	}
	data := secondPage{
		App: factors.App, Has: factors.Any(), Left: factors.RecoveryCodes, Setup: setup,
		Wanted:   v.School.OwnersSecondFactor && v.User.Role == lyceum.Owner,
		Passkeys: v.keptPasskeys(factors.Passkeys), Most: lyceum.MaxPasskeys, Longest: lyceum.MaxPasskeyName,
		Full: len(factors.Passkeys) >= lyceum.MaxPasskeys,
	}
	if _, here := p.party(v); !here {
		data.Address = p.Site.AuthURL
	}
	if !data.App {
		if data.Setup.URL == "" {
			if data.Setup, err = p.Accounts.SetUp(v.School.ID, &v.User, web.Plain(v.School.Name)); err != nil {
				return err
			}
		}
		if data.QR, data.Size, err = squares(data.Setup.URL); err != nil {
			return err
		}
	}
	shown.Title, shown.Data = "Second factor", data
	shown.Room = secondFactorPath
	return p.show(w, status, "second_factor.gohtml", v, shown)
}

// squares renders a QR code as the path of its dark squares, with the size of the picture.
func squares(text string) (path string, size int, err error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", 0, fmt.Errorf("draw a QR code: %w", err)
	}
	const edge = 4 // light squares around the code
	var b strings.Builder
	bounds := code.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			if code.At(x, y) == color.Black {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+edge, y+edge)
			}
		}
	}
	return b.String(), bounds.Dx() + 2*edge, nil
}

// enableSecond serves POST /account/second-factor.
func (p *pages) enableSecond(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	codes, err := p.Accounts.Enable(r.Context(), v.by(), v.User.ID, form.get("sealed"), form.get("code"), v.secret)
	if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Unauthenticated {
		setup, err := p.Accounts.Again(v.School.ID, &v.User, web.Plain(v.School.Name), form.get("sealed"))
		if err != nil {
			return err
		}
		return p.secondPage(w, r, v, http.StatusUnprocessableEntity, view{Error: e.Detail}, setup)
	}
	if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Conflict { // the form may have been sent twice
		return p.factorsPage(w, r, v, http.StatusConflict, view{Error: e.Detail})
	}
	if err != nil {
		return err
	}
	if len(codes) == 0 { // the user already has some
		see(w, r, secondFactorPath+"?done=second-on")
		return nil
	}
	return p.recoveryPage(w, v, codes)
}

func (p *pages) recoveryPage(w http.ResponseWriter, v *visit, codes []string) error {
	return p.show(w, http.StatusOK, "recovery.gohtml", v, view{Title: "Recovery codes", Data: codes})
}

// renewRecovery serves POST /account/second-factor/recovery-codes.
func (p *pages) renewRecovery(w http.ResponseWriter, r *http.Request, v *visit) error {
	codes, err := p.Accounts.RenewRecovery(r.Context(), v.by(), v.User.ID)
	if err != nil {
		return err
	}
	return p.recoveryPage(w, v, codes)
}

// removeSecond serves POST /account/second-factor/remove.
func (p *pages) removeSecond(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := p.Accounts.RemoveApp(r.Context(), v.by(), v.User.ID); err != nil {
		return err
	}
	see(w, r, secondFactorPath+"?done=second-removed")
	return nil
}
