package sqlstore

import "github.com/lyceum-school/lyceum"

var _ = define(&tables.Affiliates, noun[lyceum.AffiliateID, lyceum.AffiliatePartner, struct{}]{
	table:   table[lyceum.AffiliatePartner]{name: "affiliates"},
	entries: "affiliate",
	key:     idKey("affiliate_id", func(a *lyceum.AffiliatePartner) *lyceum.AffiliateID { return &a.ID }),
	rest: []column[lyceum.AffiliatePartner]{
		optTextColumn("name", func(a *lyceum.AffiliatePartner) *lyceum.Opt[string] { return &a.Name }),
	},
})
