package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Affiliates, noun[lyceum.AffiliateID, lyceum.AffiliatePartner, lyceum.PartnerFilter]{
	table:   table[lyceum.AffiliatePartner]{name: "affiliates", lasting: true},
	entries: "affiliate",
	key:     idKey("affiliate_id", func(a *lyceum.AffiliatePartner) *lyceum.AffiliateID { return &a.ID }),
	rest: []column[lyceum.AffiliatePartner]{
		optTextColumn("name", func(a *lyceum.AffiliatePartner) *lyceum.Opt[string] { return &a.Name }),
		optIntColumn("user_id", func(a *lyceum.AffiliatePartner) *lyceum.Opt[lyceum.UserID] { return &a.UserID }),
		optFloatColumn("share", func(a *lyceum.AffiliatePartner) *lyceum.Opt[float64] { return &a.Share }),
		optIntColumn("cookie_days", func(a *lyceum.AffiliatePartner) *lyceum.Opt[int32] { return &a.CookieDays }),
		optTimeColumn("archived_at", func(a *lyceum.AffiliatePartner) *lyceum.Opt[time.Time] { return &a.ArchivedAt }),
	},
	narrow: narrowPartners,
})

func narrowPartners(w *where, f lyceum.PartnerFilter) {
	is(w, "user_id", f.UserID)
	among(w, "user_id", f.Users)
	w.archived(f.IsArchived)
}
