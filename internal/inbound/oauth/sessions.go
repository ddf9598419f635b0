package oauth

import (
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
)

// stay is one row of the page of sessions.
type stay struct {
	Browser, Address, End string
	Since, Seen           time.Time
	Here                  bool
}

// by returns the caller for the rules: the signed-in user.
func (v *visit) by() lyceum.By {
	return lyceum.By{School: v.School.ID, Actor: fmt.Sprintf("user:%d", v.User.ID)}
}

// listSessions serves GET /account/sessions.
func (p *pages) listSessions(w http.ResponseWriter, r *http.Request, v *visit) error {
	stays, err := p.Accounts.Stays(r.Context(), v.by(), v.User.ID, v.secret)
	if err != nil {
		return err
	}
	rows := make([]stay, len(stays))
	for i, s := range stays {
		rows[i] = stay{
			Browser: s.Browser, Address: s.Address, End: "/account/sessions/" + s.Name + "/end",
			Since: v.here(s.CreatedAt), Seen: v.here(s.SeenAt), Here: s.Here,
		}
	}
	shown := after(r)
	shown.Title, shown.Room, shown.Data = "Where you are signed in", "/account/sessions", rows
	return p.show(w, http.StatusOK, "sessions.gohtml", v, shown)
}

// endSession serves POST /account/sessions/{session}/end.
func (p *pages) endSession(w http.ResponseWriter, r *http.Request, v *visit) error {
	ended, err := p.Accounts.EndStay(r.Context(), v.by(), v.User.ID, r.PathValue("session"))
	if err != nil {
		return err
	}
	notice := "ended"
	if !ended {
		notice = "not-ended"
	}
	see(w, r, "/account/sessions?done="+notice)
	return nil
}

// endSessions serves POST /account/sessions/end.
func (p *pages) endSessions(w http.ResponseWriter, r *http.Request, v *visit) error {
	if _, err := p.Accounts.SignOutEverywhere(r.Context(), v.by(), v.User.ID); err != nil {
		return err
	}
	p.Site.End(w)
	see(w, r, v.path("sign_in")+"?done=everywhere")
	return nil
}
