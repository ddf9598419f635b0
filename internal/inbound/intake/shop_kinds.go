package intake

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Coupons returns the kind of coupons. A file must have every column; all but id and
// cap_visible may be null.
func Coupons() Kind[lyceum.Coupon] {
	type row = lyceum.Coupon
	columns := []column[row]{
		idColumn("id", func(c *row) *lyceum.CouponID { return &c.ID }),
		optTextColumn("code", func(c *row) *lyceum.Opt[string] { return &c.Code }).always(),
		optTextColumn("name", func(c *row) *lyceum.Opt[string] { return &c.Name }).always(),
		optPartColumn("discount_percent", func(c *row) *lyceum.Opt[float64] { return &c.Percent }).always(),
		optAmountColumn("discount_amount", func(c *row) *lyceum.Opt[lyceum.Minor] { return &c.Amount }).always(),
		nullable(
			func(c *row) *lyceum.Opt[lyceum.Currency] { return &c.Currency },
			func(at func(*row) *lyceum.Currency) column[row] { return currencyColumn("discount_currency", at) },
		).always(),
		optWordColumn(
			"duration_kind", []lyceum.CouponDuration{lyceum.ForOnce, lyceum.ForMonths, lyceum.ForForever},
			func(c *row) *lyceum.Opt[lyceum.CouponDuration] { return &c.Duration },
		).always(),
		optIDColumn("discount_in_months", func(c *row) *lyceum.Opt[int32] { return &c.Months }).always(),
		optIDColumn("number_available", func(c *row) *lyceum.Opt[int32] { return &c.Available }).always(),
		optTimeColumn("expiration_date", func(c *row) *lyceum.Opt[time.Time] { return &c.ExpiresAt }).always(),
		optWordColumn(
			"scope_type", lyceum.CouponScopes(), func(c *row) *lyceum.Opt[lyceum.CouponScope] { return &c.Scope },
		).always(),
	}
	product := func(c *row) *lyceum.Opt[lyceum.Product] { return &c.Product }
	for _, k := range productColumns(lyceum.CouponWords(), lyceum.KindOfCoupon, product) {
		columns = append(columns, k.always())
	}
	return Kind[row]{
		name: "coupons", list: "coupons",
		id: func(c *row) int32 { return int32(c.ID) },
		keys: []key[row]{hashed(inColumn("code"), func(c *row) (string, bool) {
			return strings.ToLower(c.Code.Value), c.Code.Present && !c.ArchivedAt.Present
		})},
		columns: append(
			columns,
			optIDColumn("pricing_plan_id", func(c *row) *lyceum.Opt[lyceum.PricingPlanID] { return &c.Plan }).always(),
			booleanColumn("cap_visible", func(c *row) *bool { return &c.CapVisible }),
			optWordColumn(
				"display_priority", []lyceum.DisplayPriority{lyceum.ShowTime, lyceum.ShowUses},
				func(c *row) *lyceum.Opt[lyceum.DisplayPriority] { return &c.Priority },
			).always(),
			optTextColumn("friendly_url", func(c *row) *lyceum.Opt[string] { return &c.FriendlyURL }).always(),
			optTimeColumn("created_at", func(c *row) *lyceum.Opt[time.Time] { return &c.CreatedAt }).always(),
			optTimeColumn("updated_at", func(c *row) *lyceum.Opt[time.Time] { return &c.UpdatedAt }).always(),
			optTimeColumn("archived_at", func(c *row) *lyceum.Opt[time.Time] { return &c.ArchivedAt }).always(),
		),
	}
}

// productColumns returns the columns of a product: its kind, which is one of the given words, and
// its id. The rules reject a row that has only one of them.
func productColumns[T any](
	words []string, kind func(word string) lyceum.ProductKind, at func(*T) *lyceum.Opt[lyceum.Product],
) []column[T] {
	named := func(v *T) *lyceum.Product {
		at(v).Present = true
		return &at(v).Value
	}
	first := wordColumn("product_type", words, func(*T) *string { return new(string) })
	isWord := first.read
	first.read = func(m *memo, c cell, v *T) string {
		if problem := isWord(m, c, v); problem != "" {
			return problem
		}
		named(v).Kind = kind(string(c.text))
		return ""
	}
	first.write = func(e *encoder, v *T) { e.word(string(at(v).Value.Kind)) }
	second := idColumn("product_id", func(v *T) *int32 { return &named(v).ID })
	second.write = func(e *encoder, v *T) { e.integer(int64(at(v).Value.ID)) }
	there := func(v *T) bool { return at(v).Present }
	return []column[T]{within(first, there).optional(), within(second, there).optional()}
}

// Affiliates returns the kind of affiliates. A file must have every column; all but id may be
// null.
func Affiliates() Kind[lyceum.AffiliatePartner] {
	type row = lyceum.AffiliatePartner
	return Kind[row]{
		name: "affiliates", list: "affiliates",
		id: func(a *row) int32 { return int32(a.ID) },
		columns: []column[row]{
			idColumn("id", func(a *row) *lyceum.AffiliateID { return &a.ID }),
			optTextColumn("name", func(a *row) *lyceum.Opt[string] { return &a.Name }).always(),
			optIDColumn("user_id", func(a *row) *lyceum.Opt[lyceum.UserID] { return &a.UserID }).always(),
			optPartColumn("share", func(a *row) *lyceum.Opt[float64] { return &a.Share }).always(),
			optCountColumn("cookie_days", func(a *row) *lyceum.Opt[int32] { return &a.CookieDays }).always(),
			optTimeColumn("archived_at", func(a *row) *lyceum.Opt[time.Time] { return &a.ArchivedAt }).always(),
		},
	}
}
