package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Orders, noun[lyceum.OrderID, lyceum.PurchaseOrder, lyceum.OrderFilter]{
	table:   table[lyceum.PurchaseOrder]{name: "orders", changed: countReserved},
	entries: "order",
	key:     idKey("order_id", func(o *lyceum.PurchaseOrder) *lyceum.OrderID { return &o.ID }),
	rest: []column[lyceum.PurchaseOrder]{
		textColumn("email", func(o *lyceum.PurchaseOrder) *string { return &o.Email }),
		optTextColumn("name", func(o *lyceum.PurchaseOrder) *lyceum.Opt[string] { return &o.Name }),
		optIntColumn("user_id", func(o *lyceum.PurchaseOrder) *lyceum.Opt[lyceum.UserID] { return &o.UserID }),
		intColumn("pricing_plan_id", func(o *lyceum.PurchaseOrder) *lyceum.PricingPlanID { return &o.PricingPlanID }),
		optIntColumn("coupon_id", func(o *lyceum.PurchaseOrder) *lyceum.Opt[lyceum.CouponID] { return &o.CouponID }),
		optIntColumn("affiliate_id", func(o *lyceum.PurchaseOrder) *lyceum.Opt[lyceum.AffiliateID] { return &o.AffiliateID }),
		intColumn("final_price", func(o *lyceum.PurchaseOrder) *lyceum.Minor { return &o.FinalPrice }),
		textColumn("currency", func(o *lyceum.PurchaseOrder) *lyceum.Currency { return &o.Currency }),
		textColumn("state", func(o *lyceum.PurchaseOrder) *lyceum.OrderState { return &o.State }),
		timeColumn("created_at", func(o *lyceum.PurchaseOrder) *time.Time { return &o.CreatedAt }),
		timeColumn("abandons_at", func(o *lyceum.PurchaseOrder) *time.Time { return &o.AbandonsAt }),
		optTimeColumn("closed_at", func(o *lyceum.PurchaseOrder) *lyceum.Opt[time.Time] { return &o.ClosedAt }),
		optIntColumn("sale_id", func(o *lyceum.PurchaseOrder) *lyceum.Opt[lyceum.SaleID] { return &o.SaleID }),
		optTextColumn("return_url", func(o *lyceum.PurchaseOrder) *lyceum.Opt[string] { return &o.ReturnURL }),
	}, narrow: func(w *where, f lyceum.OrderFilter) {
		if f.StaleAt.Present {
			w.and("state = 'open'")
			w.and("abandons_at <= ?", micros(f.StaleAt.Value))
		}
	},
	order: func(f lyceum.OrderFilter) string {
		if f.StaleAt.Present {
			return "abandons_at, order_id"
		}
		return "order_id"
	},
})
