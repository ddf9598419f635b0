package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Sales, noun[lyceum.SaleID, lyceum.Sale, struct{}]{
	table:   table[lyceum.Sale]{name: "sales", changed: countHeld},
	entries: "sale",
	key:     idKey("sale_id", func(s *lyceum.Sale) *lyceum.SaleID { return &s.ID }),
	rest: []column[lyceum.Sale]{
		timeColumn("created_at", func(s *lyceum.Sale) *time.Time { return &s.CreatedAt }),
		optIntColumn("user_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.UserID] { return &s.UserID }),
		optIntColumn("pricing_plan_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.PricingPlanID] { return &s.PricingPlanID }),
		optIntColumn("coupon_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.CouponID] { return &s.CouponID }),
		optIntColumn("affiliate_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AffiliateID] { return &s.AffiliateID }),
		optIntColumn("author_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AuthorID] { return &s.AuthorID }),
		optIntColumn("final_price", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Minor] { return &s.FinalPrice }),
		optTextColumn("currency", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Currency] { return &s.Currency }),
		optTimeColumn("paid_until", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.PaidUntil }),
		optTimeColumn("ended_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.EndedAt }),
		optTextColumn("end_reason", func(s *lyceum.Sale) *lyceum.Opt[lyceum.SaleEnd] { return &s.EndReason }),
		boolColumn("released", func(s *lyceum.Sale) *bool { return &s.Released }),
	},
	largest: 1 << 10,
})
