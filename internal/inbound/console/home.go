package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// home is the data of the home page.
type home struct {
	Sales    *earned // nil as long as nothing was ever sold
	Look     int64   // warnings
	ToStop   int64   // sales to stop charging
	AppsOff  int     // disabled apps
	HooksOff int     // failed webhooks

	Base, Authorize  string
	TokenV1, TokenV2 string
}

// NeedsLook reports whether anything needs attention.
func (h *home) NeedsLook() bool { return h.Look > 0 || h.ToStop > 0 || h.AppsOff > 0 || h.HooksOff > 0 }

// newestSales is how many sales the home page shows.
const newestSales = 5

// home serves GET /admin.
func (c *console) home(w http.ResponseWriter, r *http.Request, v *visit) error {
	apps, err := c.Apps.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	hooks, err := c.Events.Webhooks(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	data := &home{
		Base: c.Site.BaseURL, Authorize: c.authorizeURL(v.School.ID),
		TokenV1: c.tokenURL(lyceum.V1), TokenV2: c.tokenURL(lyceum.V2),
	}
	if err := c.sold(r, v, data); err != nil {
		return err
	}
	for i := range apps {
		if !apps[i].Active() {
			data.AppsOff++
		}
	}
	for i := range hooks {
		if hooks[i].Live && hooks[i].State == lyceum.WebhookFailed {
			data.HooksOff++
		}
	}
	return c.show(w, r, http.StatusOK, "home.gohtml", v, v.School.Name, data)
}

// sold fills in what the school sold, and which sales need attention.
func (c *console) sold(r *http.Request, v *visit, data *home) error {
	one := lyceum.Page{Number: 1, Size: 1}
	listing, err := c.Sales.List(r.Context(), v.by(), lyceum.TransactionFilter{}, lyceum.NewestFirst,
		lyceum.Page{Number: 1, Size: newestSales})
	if err != nil {
		return err
	}
	warnings, err := c.Sales.Attention(r.Context(), v.by(), false, one)
	if err != nil {
		return err
	}
	stops, err := c.Sales.ToStop(r.Context(), v.by(), struct{}{}, one)
	if err != nil {
		return err
	}
	data.Look, data.ToStop = warnings.Total, stops.Total
	if listing.Total == 0 {
		return nil
	}
	overview, err := c.Reports.Overview(r.Context(), v.by())
	if err != nil {
		return err
	}
	data.Sales = newEarned(&overview, lyceum.Currency(r.URL.Query().Get("currency")))
	if overview.Recent.Now.Figures.All().Sales == 0 {
		data.Sales.Quiet, err = lastMonthSold(v.School.TimeZone, listing.All()[0].CreatedAt)
		if err != nil {
			return err
		}
	}
	data.Sales.Newest, err = c.rowsOf(r.Context(), v.School.ID, listing.All())
	return err
}

// monthLink links to the report of a month.
type monthLink struct{ Name, Address string }

// lastMonthSold returns the link to the report of the month of the newest sale.
func lastMonthSold(zone lyceum.TimeZone, newest time.Time) (*monthLink, error) {
	where, err := zone.Location()
	if err != nil {
		return nil, err
	}
	day := lyceum.DayAt(newest, where)
	first := lyceum.Day{Year: day.Year, Month: day.Month, Day: 1}
	month := reports.Span{From: first, Until: first.AddMonths(1).Add(-1)}
	return &monthLink{fmt.Sprintf("%s %d", day.Month, day.Year), reportAddress(month, reports.ByCourse)}, nil
}

// authorizeURL and tokenURL return the addresses that an app is configured with
// (docs/oauth.md).
func (c *console) authorizeURL(school lyceum.SchoolID) string {
	return fmt.Sprintf("%s/secure/%d/identity/oauth_provider/authorize", c.Site.AuthURL, school)
}

func (c *console) tokenURL(version lyceum.InterfaceVersion) string {
	return fmt.Sprintf("%s/v%d/current_user/oauth2/token", c.Site.BaseURL, version)
}
