package oauth

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

// grantedApp is one row of the page of apps.
type grantedApp struct {
	Name, Revoke string
	Scopes       []scope
	Since        time.Time
	LastUsed     lyceum.Opt[time.Time]
}

// listApps serves GET /account/apps.
func (p *pages) listApps(w http.ResponseWriter, r *http.Request, v *visit) error {
	granted, err := p.Apps.GrantedBy(r.Context(), v.by(), v.User.ID)
	if err != nil {
		return err
	}
	rows := make([]grantedApp, len(granted))
	for i, g := range granted {
		rows[i] = grantedApp{
			Name: web.Plain(g.App.Name), Revoke: fmt.Sprintf("/account/apps/%d/revoke", g.App.ID),
			Scopes: scopes(g.App.Version, g.Scopes), Since: v.here(g.Since), LastUsed: v.lastUse(g.LastUsed),
		}
	}
	shown := after(r)
	shown.Title, shown.Room, shown.Data = "Apps with access", "/account/apps", rows
	return p.show(w, http.StatusOK, "apps.gohtml", v, shown)
}

// revokeApp serves POST /account/apps/{app}/revoke.
func (p *pages) revokeApp(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := strconv.ParseInt(r.PathValue("app"), 10, 32)
	if err != nil || id < 1 {
		return lyceum.Errorf(lyceum.NotFound, "There is no such app.")
	}
	if err := p.Apps.TakeBack(r.Context(), v.by(), v.User.ID, lyceum.OAuthAppID(id)); err != nil {
		return err
	}
	see(w, r, "/account/apps?done=revoked")
	return nil
}
