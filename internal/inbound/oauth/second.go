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
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// stepForm is the page that asks for a code, or for the password again.
type stepForm struct {
	Action, Next, Email string
	Code                bool // a code, not the password
}

// stepLifetime is how long the browser keeps that the password was right.
const stepLifetime = 15 * time.Minute

// showStep serves GET /secure/{school}/identity/second_step.
func (p *pages) showStep(w http.ResponseWriter, r *http.Request, v *visit) error {
	if p.Site.Step(r) == "" {
		see(w, r, v.path("sign_in"))
		return nil
	}
	return p.stepPage(w, v, http.StatusOK, "", local(r.URL.Query().Get("next")))
}

func (p *pages) stepPage(w http.ResponseWriter, v *visit, status int, problem, next string) error {
	v.User = lyceum.User{}
	return p.show(w, status, "step.gohtml", v, view{
		Title: "Second factor", Error: problem, Data: stepForm{Action: v.path("second_step"), Next: next, Code: true},
	})
}

// takeStep serves POST /secure/{school}/identity/second_step.
func (p *pages) takeStep(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	next := local(form.get("next"))
	in, err := p.Accounts.SecondStep(r.Context(), access.Attempt{
		School: v.School.ID, From: wire.AddressOf(r), Device: p.Site.Device(r), Browser: browserOf(r.UserAgent()),
	}, p.Site.Step(r), form.get("code"))
	if e := lyceum.Public(err); err != nil {
		switch e.Kind {
		case lyceum.Unauthenticated:
			return p.stepPage(w, v, http.StatusUnprocessableEntity, e.Detail, next)
		case lyceum.RateLimited:
			w.Header().Set("Retry-After", "60")
			return p.stepPage(w, v, http.StatusTooManyRequests, e.Detail, next)
		case lyceum.NotFound:
			p.Site.KeepStep(w, "", -1)
			return p.signInPage(w, r, v, http.StatusUnprocessableEntity, view{Error: e.Detail}, "", next)
		default:
			return err
		}
	}
	if v.secret != "" {
		if err := p.Accounts.SignOut(r.Context(), v.School.ID, v.secret); err != nil {
			return err
		}
	}
	p.Site.KeepStep(w, "", -1)
	p.Site.Begin(w, in.Session, access.SessionAbsolute)
	p.Site.KeepDevice(w, in.Device, access.DeviceLifetime)
	return p.seeNext(w, r, v, &in.User, next)
}

// showIdentity serves GET /secure/{school}/identity/confirm: before what a stolen
// session must not do, people show again who they are.
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
	second, err := p.Accounts.HasSecondFactor(r.Context(), v.School.ID, v.User.ID)
	if err != nil {
		return err
	}
	return p.show(w, status, "step.gohtml", v, view{
		Title: "Confirm that it is you", Error: problem,
		Data: stepForm{Action: v.path("confirm"), Next: next, Email: v.User.Email, Code: second},
	})
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
		Attempt: access.Attempt{
			School: v.School.ID, Password: form.get("password"), From: wire.AddressOf(r), Device: p.Site.Device(r),
		},
		Session: v.secret, Code: form.get("code"),
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

// secondFactorPath is the page of a person's second factor.
const secondFactorPath = "/account/second-factor"

// secondPage is that page: with a second factor, or with one to be set up.
type secondPage struct {
	Has    bool
	Left   int // recovery codes
	Setup  access.Setup
	Size   int
	QR     string // the dark squares, as the path of a picture
	Wanted bool   // the school wants owners to have one
}

// fresh lets an action through for who showed a short while ago who they are, and asks
// others to.
func (p *pages) fresh(act func(http.ResponseWriter, *http.Request, *visit) error) action {
	return p.signedIn(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		fresh, err := p.Accounts.Fresh(r.Context(), v.School.ID, v.secret)
		if err != nil {
			return err
		}
		if !fresh {
			see(w, r, v.path("confirm")+"?next="+url.QueryEscape(secondFactorPath))
			return nil
		}
		return act(w, r, v)
	})
}

// showSecond serves GET /account/second-factor.
func (p *pages) showSecond(w http.ResponseWriter, r *http.Request, v *visit) error {
	has, err := p.Accounts.HasSecondFactor(r.Context(), v.School.ID, v.User.ID)
	if err != nil {
		return err
	}
	shown := view{Notice: notices[r.URL.Query().Get("done")]}
	if has {
		left, err := p.Accounts.RecoveryCodesLeft(r.Context(), v.School.ID, v.User.ID)
		if err != nil {
			return err
		}
		return p.secondPage(w, v, http.StatusOK, shown, secondPage{Has: true, Left: left})
	}
	setup, err := p.Accounts.SetUp(v.School.ID, &v.User, web.Plain(v.School.Name))
	if err != nil {
		return err
	}
	return p.secondPage(w, v, http.StatusOK, shown, secondPage{Setup: setup})
}

func (p *pages) secondPage(w http.ResponseWriter, v *visit, status int, shown view, data secondPage) error {
	data.Wanted = v.School.OwnersSecondFactor && v.User.Role == lyceum.Owner
	if data.Setup.URL != "" {
		var err error
		if data.QR, data.Size, err = squares(data.Setup.URL); err != nil {
			return err
		}
	}
	shown.Title, shown.Data = "Second factor", data
	return p.show(w, status, "second_factor.gohtml", v, shown)
}

// squares draws a QR code: a path of its dark squares, with the size of the picture.
func squares(text string) (path string, size int, err error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", 0, fmt.Errorf("draw a QR code: %w", err)
	}
	const edge = 4 // squares that stay light around it
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
		return p.secondPage(w, v, http.StatusUnprocessableEntity, view{Error: e.Detail}, secondPage{Setup: setup})
	}
	if err != nil {
		return err
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
	if _, err := p.Accounts.RemoveSecondFactor(r.Context(), v.by(), v.User.ID); err != nil {
		return err
	}
	see(w, r, secondFactorPath+"?done=second-removed")
	return nil
}
