package sqlstore

import "github.com/lyceum-school/lyceum"

var _ = define(&tables.Coupons, noun[lyceum.CouponID, lyceum.Coupon, struct{}]{
	table:   table[lyceum.Coupon]{name: "coupons"},
	entries: "coupon",
	key:     idKey("coupon_id", func(c *lyceum.Coupon) *lyceum.CouponID { return &c.ID }),
	rest: []column[lyceum.Coupon]{
		optTextColumn("code", func(c *lyceum.Coupon) *lyceum.Opt[string] { return &c.Code }),
	},
})
