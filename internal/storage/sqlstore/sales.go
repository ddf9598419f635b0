package sqlstore

import (
	"database/sql"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Sales, noun[lyceum.SaleID, lyceum.Sale, lyceum.SaleFilter]{
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
		optTimeColumn("billing_anchor", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.BillingAnchor }),
		boolColumn("paid_in_full", func(s *lyceum.Sale) *bool { return &s.PaidInFull }),
		optTimeColumn("paid_until", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.PaidUntil }),
		optTimeColumn("ended_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.EndedAt }),
		optTextColumn("end_reason", func(s *lyceum.Sale) *lyceum.Opt[lyceum.SaleEnd] { return &s.EndReason }),
		boolColumn("released", func(s *lyceum.Sale) *bool { return &s.Released }),
		optIntColumn("replaces", func(s *lyceum.Sale) *lyceum.Opt[lyceum.SaleID] { return &s.Replaces }),
		optIntColumn("replaced_by", func(s *lyceum.Sale) *lyceum.Opt[lyceum.SaleID] { return &s.ReplacedBy }),
		optIntColumn("next_plan_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.PricingPlanID] { return &s.NextPlan }),
		optTimeColumn("stops_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.StopsAt }),
		boolColumn("stopped", func(s *lyceum.Sale) *bool { return &s.Stopped }),
		unread("due_at", (*lyceum.Sale).Due),
		optTimeColumn("billed_since", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.BilledSince }),
		unread("grace_from", (*lyceum.Sale).GraceFrom),
		optTimeColumn("to_stop_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.ToStop }),
		optTimeColumn("failed_at", func(s *lyceum.Sale) *lyceum.Opt[time.Time] { return &s.FailedAt }),
	},
	largest: 1 << 10,
	narrow: func(w *where, f lyceum.SaleFilter) {
		if f.DueAt.Present {
			w.and("due_at <= ?", micros(f.DueAt.Value))
		}
		if f.UnpaidAt.Present {
			w.and("grace_from <= ?", micros(f.UnpaidAt.Value))
		}
		if f.ToStop {
			w.and("to_stop_at IS NOT NULL")
		}
		if f.UnpaidSince != nil {
			w.moments("grace_from", f.UnpaidSince)
		}
	},
	hint: func(d *dialect, f lyceum.SaleFilter) string {
		if f.UnpaidSince != nil {
			return d.indexed("sales_grace")
		}
		return ""
	},
	order: func(f lyceum.SaleFilter) string {
		switch {
		case f.DueAt.Present:
			return "due_at, sale_id"
		case f.ToStop:
			return "to_stop_at, sale_id"
		case f.UnpaidAt.Present:
			return "grace_from, sale_id"
		}
		return "sale_id"
	},
})

// unread is a column that finds sales by a moment, and follows from the others.
func unread(name string, of func(*lyceum.Sale) lyceum.Opt[time.Time]) column[lyceum.Sale] {
	return column[lyceum.Sale]{
		name: name,
		bind: func(s *lyceum.Sale) any { return optMicros(of(s)) },
		scan: func(*lyceum.Sale) sql.Scanner { return scanFunc(func(any) error { return nil }) },
	}
}
