package sqlstore

import (
	"database/sql"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Sales, noun[lyceum.SaleID, lyceum.Sale, lyceum.SaleFilter]{
	table: table[lyceum.Sale]{
		name: "sales", counter: "sales", changed: countHeld,
		touched: func(s *lyceum.Sale) *time.Time { return &s.UpdatedAt },
		born:    func(s *lyceum.Sale) time.Time { return s.CreatedAt },
	},
	entries: "sale",
	key:     idKey("sale_id", func(s *lyceum.Sale) *lyceum.SaleID { return &s.ID }),
	rest: []column[lyceum.Sale]{
		timeColumn("created_at", func(s *lyceum.Sale) *time.Time { return &s.CreatedAt }),
		timeColumn("purchased_at", func(s *lyceum.Sale) *time.Time { return &s.PurchasedAt }),
		timeColumn("updated_at", func(s *lyceum.Sale) *time.Time { return &s.UpdatedAt }),
		optIntColumn("user_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.UserID] { return &s.UserID }),
		optIntColumn("pricing_plan_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.PricingPlanID] { return &s.PricingPlanID }),
		optIntColumn("coupon_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.CouponID] { return &s.CouponID }),
		optIntColumn("affiliate_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AffiliateID] { return &s.AffiliateID }),
		optIntColumn("author_id", func(s *lyceum.Sale) *lyceum.Opt[lyceum.AuthorID] { return &s.AuthorID }),
		optIntColumn("final_price", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Minor] { return &s.FinalPrice }),
		optTextColumn("currency", func(s *lyceum.Sale) *lyceum.Opt[lyceum.Currency] { return &s.Currency }),
		optTextColumn("payment_method", func(s *lyceum.Sale) *lyceum.Opt[lyceum.PaymentMethod] { return &s.Method }),
		optTextColumn("payment_gateway", func(s *lyceum.Sale) *lyceum.Opt[string] { return &s.Gateway }),
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
	largest:  1 << 10,
	narrowBy: narrowSales,
	order: func(f lyceum.SaleFilter) string {
		p := f.Purchases.Value
		switch {
		case p.User.Present || p.Kind.Present || p.Product.Present || p.Method.Present || p.Recurring.Present ||
			p.Active == lyceum.Some(false):
			return "+purchased_at DESC, sale_id DESC" // with the index on purchased_at, SQLite would scan all rows to find a few
		case f.Purchases.Present:
			return "purchased_at DESC, sale_id DESC"
		case f.DueAt.Present:
			return "due_at, sale_id"
		case f.ToStop:
			return "to_stop_at, sale_id"
		case f.UnpaidAt.Present:
			return "grace_from, sale_id"
		}
		return "sale_id"
	},
	indexed: followPurchases,
})

// followPurchases returns what a list of purchases depends on besides sales.
func followPurchases(f lyceum.SaleFilter) (follow, bool) {
	of := f.Purchases.Value
	on := follow{rows: "sale"}
	if of.Kind.Present || of.Recurring.Present || of.Product.Present {
		on.ends = []string{"pricing_plan"}
	}
	if of.Active.Present {
		on.of = map[string]string{
			"transaction": "SELECT t.sale_id FROM transactions t WHERE t.school_id = $1 AND t.transaction_id",
			"dispute":     "SELECT d.sale_id FROM disputes d WHERE d.school_id = $1 AND d.dispute_id",
		}
	}
	return on, f.Purchases.Present && !of.User.Present
}

// unread is a column by which sales are found by a time. It is derived from the other columns and
// never read.
func unread(name string, of func(*lyceum.Sale) lyceum.Opt[time.Time]) column[lyceum.Sale] {
	return column[lyceum.Sale]{
		name: name,
		bind: func(s *lyceum.Sale) any { return optMicros(of(s)) },
		scan: func(*lyceum.Sale) sql.Scanner { return scanFunc(func(any) error { return nil }) },
	}
}

// paidBy is lyceum.Sale.PaidBy in SQL.
const paidBy = "COALESCE(payment_method, CASE WHEN final_price IS NULL OR final_price <> 0 THEN 'external' " +
	"WHEN coupon_id IS NOT NULL THEN 'coupon' ELSE 'free' END)"

func narrowSales(d *dialect, w *where, f lyceum.SaleFilter, all bool) {
	if f.Purchases.Present {
		narrowPurchases(d, w, f.Purchases.Value, all)
	}
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
}

func narrowPurchases(d *dialect, w *where, f lyceum.PurchaseFilter, all bool) {
	if f.User.Present {
		// A sale that follows another one may have no payment yet.
		w.and("sale_id IN (WITH RECURSIVE theirs (sale_id) AS (SELECT t.sale_id FROM transactions t "+
			"WHERE t.school_id = $1 AND t.user_id"+byYear+" = ? UNION SELECT sales.replaced_by FROM theirs o JOIN sales"+
			byPrimaryKey+" ON sales.school_id = $1 AND sales.sale_id = o.sale_id "+
			"WHERE sales.replaced_by IS NOT NULL) "+
			"SELECT o.sale_id FROM theirs o)", int64(f.User.Value))
		is(w, "user_id", f.User)
	}
	bought := "purchased_at"
	if f.User.Present {
		bought = "+" + bought // with the index on it, all purchases of the period would be scanned for those of one user
	}
	w.within(bought, f.Purchased)
	switch {
	case f.Recurring.Present:
		w.and(recurring(d, f.Recurring.Value, sellingKind(f.Kind)))
	case f.Kind.Present:
		w.and(ofPlans + sellingKind(f.Kind) + ")")
	}
	if f.Product.Present {
		w.and(ofPlans+" AND COALESCE(p.course_id, p.product_id) = ?)", int64(f.Product.Value))
	}
	if f.Method.Present {
		w.and(paidBy+" = ?", string(f.Method.Value))
	}
	switch f.Active {
	case lyceum.Some(true):
		w.and(active(all && !f.User.Present))
	case lyceum.Some(false):
		w.and("NOT (" + active(all && !f.User.Present) + ")")
	}
}

// active is true for sales that have not ended, were not fully refunded and were not lost to a
// dispute; see rules/sales.Purchase. For all sales of a school, whose id is $1, the payments that
// were taken back are found once; otherwise SQLite would look for those of each sale.
func active(all bool) string {
	const kept = "sales.ended_at IS NULL AND sales.released = 0 AND "
	if all {
		return kept + "sales.sale_id NOT IN (SELECT t.sale_id FROM transactions t WHERE t.school_id = $1 AND " +
			takenBack + ")"
	}
	return kept + "NOT EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = sales.school_id " +
		"AND t.sale_id = sales.sale_id AND " + takenBack + ")"
}

// takenBack is true for transactions that were charged back for good. A chargeback without a
// dispute took all that was left.
const (
	takenBack = "t.has_chargeback = 1 AND CASE WHEN EXISTS (SELECT 1" + ofDisputes + "<> 'won') " +
		"THEN t.amount_refunded + (SELECT COALESCE(sum(d.amount - d.tax), 0)" + ofDisputes + "= 'lost') >= t.final_price " +
		"AND EXISTS (SELECT 1" + ofDisputes + "= 'lost' AND d.amount > d.tax) " +
		"ELSE t.amount_refunded < t.final_price END"
	ofDisputes = " FROM disputes d WHERE d.school_id = t.school_id AND d.transaction_id = t.transaction_id AND d.state "
)

func sellingKind(kind lyceum.Opt[lyceum.ProductKind]) string {
	switch kind {
	case lyceum.None[lyceum.ProductKind]():
		return ""
	case lyceum.Some(lyceum.CourseKind):
		return " AND p.course_id IS NOT NULL"
	}
	return " AND p.product_type = '" + string(kind.Value) + "'"
}

// ofPlans is true for sales of the plans that the conditions after it select.
const ofPlans = "pricing_plan_id IN (SELECT p.pricing_plan_id FROM pricing_plans p WHERE p.school_id = $1"

// recurring is true for sales that are, or are not, recurring by their own terms; see
// lyceum.PricingPlan.For. Most plans have no earlier terms: their sales have those of the plan.
func recurring(d *dialect, want bool, kind string) string {
	const repeated = " IN ('subscription', 'payment_plan')"
	fits := repeated
	if !want {
		fits = " NOT" + repeated
	}
	return "(" + ofPlans + " AND p.earlier_terms IS NULL AND p.frequency" + fits + kind + ") OR " +
		ofPlans + " AND p.earlier_terms IS NOT NULL" + kind + ") AND (SELECT COALESCE((SELECT t.frequency FROM (" +
		d.earlierTerms + ") t WHERE sales.created_at < t.until AND (t.frequency" + repeated +
		" OR sales.billed_since IS NOT NULL AND sales.billing_anchor IS NULL) ORDER BY t.place LIMIT 1), p.frequency) " +
		"FROM pricing_plans p WHERE p.school_id = $1 AND p.pricing_plan_id = sales.pricing_plan_id)" + fits + ")"
}
