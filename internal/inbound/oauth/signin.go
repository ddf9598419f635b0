package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// signInForm is the data of the sign-in page.
type signInForm struct {
	Action, Email, Next, Forgotten string
	Passkey                        passkeyForm
}

// home returns the page for a user who did not request a specific one.
func (p *pages) home(r *http.Request, v *visit, u *lyceum.User) (string, error) {
	role, err := p.Accounts.StaffRole(r.Context(), v.School.ID, u)
	if role != "" {
		return "/admin", err
	}
	return accountPath, err
}

// seeNext redirects a signed-in user to the page they requested, or to their home.
func (p *pages) seeNext(w http.ResponseWriter, r *http.Request, v *visit, u *lyceum.User, next string) error {
	if next == "" {
		var err error
		if next, err = p.home(r, v, u); err != nil {
			return err
		}
	}
	see(w, r, next)
	return nil
}

// showSignIn serves GET /secure/{school}/identity/sign_in.
func (p *pages) showSignIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	query := r.URL.Query()
	next := local(query.Get("next"))
	if v.User.ID != 0 {
		return p.seeNext(w, r, v, &v.User, next)
	}
	email := ""
	if query.Get("done") == "password" {
		email = p.Site.Address(r)
	}
	return p.signInPage(w, r, v, http.StatusOK, after(r), email, next)
}

func (p *pages) signInPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, shown view, email, next string,
) error {
	p.allowProblem(w, r, v, next)
	form := signInForm{Action: v.path("sign_in"), Email: email, Next: next, Forgotten: v.path("forgot_password")}
	if _, here := p.party(v); here {
		some, err := p.Accounts.HasPasskeys(r.Context(), v.School.ID)
		if err != nil {
			return err
		}
		if some {
			form.Passkey = passkeyForm{
				Action: form.Action, Options: v.path("passkey"), Next: next, For: access.PasskeyToSignIn,
			}
		}
	}
	shown.Title, shown.Data = "Sign in", form
	return p.show(w, status, "sign_in.gohtml", v, shown)
}

// signIn serves POST /secure/{school}/identity/sign_in. Any existing session ends, so that its
// id does not become the one of the new user.
func (p *pages) signIn(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	next, attempt := local(form.get("next")), p.attempt(r, v, &form)
	email, enter := attempt.Email, p.Accounts.SignIn
	if attempt.Passkey != nil {
		enter = p.Accounts.SignInWithPasskey
	}
	in, err := enter(r.Context(), attempt)
	v.User = lyceum.User{}
	if e := lyceum.Public(err); err != nil {
		switch e.Kind {
		case lyceum.Unauthenticated:
			return p.signInPage(w, r, v, http.StatusUnprocessableEntity, view{Error: e.Detail}, email, next)
		case lyceum.RateLimited:
			w.Header().Set("Retry-After", "60")
			return p.signInPage(w, r, v, http.StatusTooManyRequests, view{Error: e.Detail}, email, next)
		default:
			return err
		}
	}
	if err := p.endHere(r); err != nil {
		return err
	}
	if in.Link != "" {
		p.Site.End(w)
		p.Site.KeepDevice(w, in.Device, access.DeviceLifetime)
		see(w, r, v.path("set_password/"+in.Link)+"?done=weak&next="+url.QueryEscape(next))
		return nil
	}
	if in.Step != "" {
		p.Site.End(w)
		p.Site.KeepStep(w, in.Step, stepLifetime)
		see(w, r, v.path("second_step")+"?next="+url.QueryEscape(next))
		return nil
	}
	p.Site.Begin(w, in.Session, access.SessionAbsolute)
	p.Site.KeepDevice(w, in.Device, access.DeviceLifetime)
	return p.seeNext(w, r, v, &in.User, next)
}

// endHere ends the session of the browser. It may be of another school than the page.
func (p *pages) endHere(r *http.Request) error {
	secret := p.Site.Session(r)
	school, ok := access.SchoolOfSession(secret)
	if !ok {
		return nil
	}
	err := p.Accounts.SignOut(r.Context(), school, secret)
	if err != nil && lyceum.KindOf(err) == lyceum.NotFound { // the school no longer exists
		return nil
	}
	return err
}

// signOut serves POST /secure/{school}/identity/sign_out. The consent page sends where to
// continue as a different user.
func (p *pages) signOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	p.Site.End(w)
	if err := p.endHere(r); err != nil {
		return err
	}
	to := v.path("sign_in") + "?done=signed_out"
	if next := local(form.get("next")); next != "" {
		to += "&next=" + url.QueryEscape(next)
	}
	see(w, r, to)
	return nil
}

// schoolForm is the data of the page on which the user names their school.
type schoolForm struct{ Next, School string }

// whichSchool serves GET /secure/sign_in. It redirects to the sign-in of the school that the
// user names, that the browser was last signed in to, or that is the only one.
func (p *pages) whichSchool(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	next := local(query.Get("next"))
	school, known := access.SchoolOfSession(p.Site.Session(r))
	if known {
		switch _, err := p.School(r.Context(), school); {
		case err == nil:
		case lyceum.KindOf(err) == lyceum.NotFound: // the session is of another server at this address
			known = false
		default:
			return err
		}
	}
	if !known {
		school, known = p.OnlySchool(r.Context())
	}
	form := schoolForm{Next: next, School: strings.TrimSpace(query.Get("school"))}
	problem := ""
	if query.Has("school") {
		n, err := strconv.ParseInt(form.School, 10, 32)
		if school, known = lyceum.SchoolID(n), err == nil; !known {
			problem = "The school’s number must be a number, such as 1."
		} else if _, err := p.School(r.Context(), school); err != nil {
			if lyceum.KindOf(err) != lyceum.NotFound {
				return err
			}
			known, problem = false, "There is no school with this number here."
		}
	}
	if known {
		see(w, r, fmt.Sprintf("/secure/%d/identity/sign_in?next=%s", school, url.QueryEscape(next)))
		return nil
	}
	return p.show(w, http.StatusOK, "school.gohtml", nil, view{
		Title: "Which school is yours?", Error: problem, Data: form,
	})
}

// notices are the messages at the top of a page after an action, by the value of the parameter
// done.
var notices = map[string]string{
	"signed_out":      "You are signed out.",
	"password":        "Your new password is set. Sign in with it.",
	"email":           "Your email address is changed. Sign in with the new one.",
	"weak":            "Your password is too common. Choose another one to continue.",
	"second-on":       "Your second factor is on.",
	"second-removed":  "The app is removed.",
	"passkey-added":   "The passkey is added.",
	"passkey-removed": "The passkey is removed here. Delete it on your device, too.",
	"ended":           "That session has ended.",
	"not-ended":       "That session is not in this list: nothing was ended. It may have ended before.",
	"everywhere":      "You are signed out everywhere.",
	"revoked":         "The app no longer has access.",
	"profile":         "Your profile is saved.",
	"asked":           "We sent a link to the new address. It takes effect when you open the link, within 48 hours.",
	"cancelled":       "Nothing was granted.",
}

// late are the messages at the top of a page whose form was submitted too late, by the value of
// the parameter done.
var late = map[string]string{
	"not-signed-in": "Nothing has been done yet: you had to sign in first. Please try again.",
	"unconfirmed":   "Nothing has been done yet: you had to confirm that it is you first. Please try again.",
}

// after returns a view with the message for the value of the parameter done.
func after(r *http.Request) view {
	done := r.URL.Query().Get("done")
	return view{Notice: notices[done], Late: late[done]}
}
