package sqlstore

import (
	"database/sql"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Coupons, noun[lyceum.CouponID, lyceum.Coupon, lyceum.CouponFilter]{
	table:   table[lyceum.Coupon]{name: "coupons", lasting: true},
	entries: "coupon",
	key:     idKey("coupon_id", func(c *lyceum.Coupon) *lyceum.CouponID { return &c.ID }),
	rest: []column[lyceum.Coupon]{
		optTextColumn("code", func(c *lyceum.Coupon) *lyceum.Opt[string] { return &c.Code }),
		{
			name: "code_key", // finds a code regardless of case
			bind: func(c *lyceum.Coupon) any {
				return optText(lyceum.Opt[string]{Value: codeKey(c.Code.Value), Present: c.Code.Present})
			},
			scan: func(*lyceum.Coupon) sql.Scanner { return discard },
		},
		optTextColumn("name", func(c *lyceum.Coupon) *lyceum.Opt[string] { return &c.Name }),
		optFloatColumn("discount_percent", func(c *lyceum.Coupon) *lyceum.Opt[float64] { return &c.Percent }),
		optIntColumn("discount_amount", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.Minor] { return &c.Amount }),
		optTextColumn("discount_currency", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.Currency] { return &c.Currency }),
		optTextColumn("duration_kind", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.CouponDuration] { return &c.Duration }),
		optIntColumn("discount_in_months", func(c *lyceum.Coupon) *lyceum.Opt[int32] { return &c.Months }),
		optIntColumn("number_available", func(c *lyceum.Coupon) *lyceum.Opt[int32] { return &c.Available }),
		optTimeColumn("expires_at", func(c *lyceum.Coupon) *lyceum.Opt[time.Time] { return &c.ExpiresAt }),
		optTextColumn("scope_type", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.CouponScope] { return &c.Scope }),
		firstColumn(couponProduct, productType),
		nextColumn(couponProduct, productID),
		optIntColumn("pricing_plan_id", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.PricingPlanID] { return &c.Plan }),
		boolColumn("cap_visible", func(c *lyceum.Coupon) *bool { return &c.CapVisible }),
		optTextColumn("display_priority", func(c *lyceum.Coupon) *lyceum.Opt[lyceum.DisplayPriority] { return &c.Priority }),
		optTextColumn("friendly_url", func(c *lyceum.Coupon) *lyceum.Opt[string] { return &c.FriendlyURL }),
		optTimeColumn("created_at", func(c *lyceum.Coupon) *lyceum.Opt[time.Time] { return &c.CreatedAt }),
		optTimeColumn("updated_at", func(c *lyceum.Coupon) *lyceum.Opt[time.Time] { return &c.UpdatedAt }),
		optTimeColumn("archived_at", func(c *lyceum.Coupon) *lyceum.Opt[time.Time] { return &c.ArchivedAt }),
	},
	narrow: func(w *where, f lyceum.CouponFilter) {
		if f.Code.Present {
			w.equal("code_key", codeKey(f.Code.Value))
		}
		if f.Codes != nil {
			keys := make([]string, len(f.Codes))
			for i, code := range f.Codes {
				keys[i] = codeKey(code)
			}
			oneOf(w, "code_key", keys)
		}
		w.archived(f.IsArchived)
		is(w, "pricing_plan_id", f.Plan)
		if p := f.Product; p.Present {
			w.equal("product_type", string(p.Value.Kind))
			w.equal("product_id", int64(p.Value.ID))
		}
		if f.OfKinds {
			w.and("scope_type IS NOT NULL")
		}
		w.within("created_at", f.Created)
	},
	order: func(f lyceum.CouponFilter) string { // rows without a time are older than those with one
		return strings.NewReplacer("created_at", "COALESCE(created_at, 0)", "updated_at", "COALESCE(updated_at, 0)").
			Replace(ordered(f.Order, "coupon_id"))
	},
})

func couponProduct(c *lyceum.Coupon) *lyceum.Opt[lyceum.Product] { return &c.Product }

// The columns of a product to which another row refers.
var (
	productType = textColumn("product_type", func(p *lyceum.Product) *lyceum.ProductKind { return &p.Kind })
	productID   = intColumn("product_id", func(p *lyceum.Product) *int32 { return &p.ID })
)

// codeKey is the form of a code that is unique regardless of case.
func codeKey(code string) string { return strings.ToLower(code) }
