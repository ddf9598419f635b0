package oauth

import (
	"net/http"
	"net/url"

	"github.com/lyceum-school/lyceum"
)

// confirmForm is the data of the page that confirms a new email address.
type confirmForm struct{ Action, Email string }

// showConfirm serves GET /secure/{school}/identity/confirm_email/{link}. The link only works
// for a user who is signed in to the account and has confirmed their identity recently: neither
// an app nor a stolen session can move an account to an address of its choice.
func (p *pages) showConfirm(w http.ResponseWriter, r *http.Request, v *visit) error {
	if v.User.ID == 0 {
		see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(r.URL.Path))
		return nil
	}
	if fresh, err := p.isFresh(w, r, v, r.URL.RequestURI()); err != nil || !fresh {
		return err
	}
	email, err := p.Accounts.EmailLink(r.Context(), v.School.ID, r.PathValue("link"), v.User.ID)
	if err != nil {
		return notTheirs(err)
	}
	w.Header().Set("Referrer-Policy", "strict-origin") // the URL is a secret; the check of forms needs the origin
	shown := after(r)
	shown.Title, shown.Data = "Confirm your email address", confirmForm{Action: r.URL.Path, Email: email}
	return p.show(w, http.StatusOK, "confirm_email.gohtml", v, shown)
}

// notTheirs words the rejection of a link for a user who may be signed in to a different
// account.
func notTheirs(err error) error {
	if lyceum.KindOf(err) != lyceum.NotFound {
		return err
	}
	return lyceum.Errorf(lyceum.NotFound, "This link is no longer valid: it was used, it is too old, or a later "+
		"one replaced it. Or it is for another account: if you have several, sign out and open the link again.")
}

// confirm serves POST /secure/{school}/identity/confirm_email/{link}.
func (p *pages) confirm(w http.ResponseWriter, r *http.Request, v *visit) error {
	if v.User.ID == 0 {
		see(w, r, v.path("sign_in")+"?next="+url.QueryEscape(r.URL.Path))
		return nil
	}
	if fresh, err := p.isFresh(w, r, v, r.URL.Path+"?done=unconfirmed"); err != nil || !fresh {
		return err
	}
	email, err := p.Accounts.ConfirmEmail(r.Context(), v.School.ID, r.PathValue("link"), v.User.ID, p.readdress)
	if err != nil {
		return notTheirs(err)
	}
	p.Site.End(w)
	p.Site.KeepAddress(w, email)
	see(w, r, v.path("sign_in")+"?done=email")
	return nil
}

// readdress changes a user's email address, and notifies them at the previous one.
func (p *pages) readdress(tx lyceum.Tx, user lyceum.UserID, email string) (lyceum.User, error) {
	before, err := p.Readdress(tx, user, email)
	if err != nil {
		return before, err
	}
	return before, p.letters.readdressed(tx, user, before.Email)
}
