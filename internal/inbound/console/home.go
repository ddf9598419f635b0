package console

import (
	"fmt"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// home is what the first room shows.
type home struct {
	Transactions     int64
	Apps, AppsOff    int
	Keys             int // that are not revoked
	Hooks, HooksOff  int // that are sent to, and those of them that failed
	Base, Authorize  string
	TokenV1, TokenV2 string
}

// home serves GET /admin.
func (c *console) home(w http.ResponseWriter, r *http.Request, v *visit) error {
	apps, err := c.Apps.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	keys, err := c.Keys.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	hooks, err := c.Events.Webhooks(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	listing, err := c.Sales.List(
		r.Context(), v.by(), lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1},
	)
	if err != nil {
		return err
	}
	data := home{
		Transactions: listing.Total,
		Apps:         len(apps), Base: c.Site.BaseURL, Authorize: c.authorizeURL(v.School.ID),
		TokenV1: c.tokenURL(lyceum.V1), TokenV2: c.tokenURL(lyceum.V2),
	}
	for i := range apps {
		if !apps[i].Active() {
			data.AppsOff++
		}
	}
	for i := range hooks {
		if hooks[i].Live {
			data.Hooks++
		}
		if hooks[i].Live && hooks[i].State == lyceum.WebhookFailed {
			data.HooksOff++
		}
	}
	for i := range keys {
		if !keys[i].RevokedAt.Present {
			data.Keys++
		}
	}
	return c.show(w, r, http.StatusOK, "home.gohtml", v, v.School.Name, data)
}

// authorizeURL and tokenURL are what an app is set up with (docs/oauth.md).
func (c *console) authorizeURL(school lyceum.SchoolID) string {
	return fmt.Sprintf("%s/secure/%d/identity/oauth_provider/authorize", c.Site.AuthURL, school)
}

func (c *console) tokenURL(version lyceum.InterfaceVersion) string {
	return fmt.Sprintf("%s/v%d/current_user/oauth2/token", c.Site.BaseURL, version)
}
