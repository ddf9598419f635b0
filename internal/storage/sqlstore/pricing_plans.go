package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var pricingPlans = define(&tables.PricingPlans, noun[lyceum.PricingPlanID, lyceum.PricingPlan,
	lyceum.PricingPlanFilter]{
	table:   table[lyceum.PricingPlan]{name: "pricing_plans", lasting: true},
	entries: "pricing_plan",
	key:     idKey("pricing_plan_id", func(p *lyceum.PricingPlan) *lyceum.PricingPlanID { return &p.ID }),
	rest: []column[lyceum.PricingPlan]{
		optIntColumn("course_id", func(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.CourseID] { return &p.CourseID }),
		textColumn("name", func(p *lyceum.PricingPlan) *string { return &p.Name }),
		intColumn("price", func(p *lyceum.PricingPlan) *lyceum.Minor { return &p.Price }),
		textColumn("currency", func(p *lyceum.PricingPlan) *lyceum.Currency { return &p.Currency }),
		textColumn("frequency", func(p *lyceum.PricingPlan) *lyceum.Frequency { return &p.Frequency }),
		optTextColumn("billing_interval", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.BillingInterval }),
		optIntColumn(
			"billing_interval_count", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.BillingIntervalCount },
		),
		timeColumn("created_at", func(p *lyceum.PricingPlan) *time.Time { return &p.CreatedAt }),
		timeColumn("updated_at", func(p *lyceum.PricingPlan) *time.Time { return &p.UpdatedAt }),
		optTextColumn("description", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.Description }),
		optIntColumn("free_trial_length", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.FreeTrialLength }),
		optIntColumn("enrollment_cap", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.EnrollmentCap }),
		optTimeColumn("access_limit_date", func(p *lyceum.PricingPlan) *lyceum.Opt[time.Time] { return &p.AccessLimitDate }),
		optTextColumn(
			"access_limit_interval", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.AccessLimitInterval },
		),
		optIntColumn(
			"access_limit_duration", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.AccessLimitDuration },
		),
		firstColumn(otherProduct, productType),
		nextColumn(otherProduct, productID),
		optIntColumn("num_payments_required", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.Payments }),
		optBoolColumn("is_published", func(p *lyceum.PricingPlan) *lyceum.Opt[bool] { return &p.Published }),
		optIntColumn("position", func(p *lyceum.PricingPlan) *lyceum.Opt[int32] { return &p.Position }),
		optTextColumn(
			"detailed_description", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.DetailedDescription },
		),
		optTextColumn(
			"cc_statement_description", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.StatementText },
		),
		optTimeColumn(
			"enrollment_cap_expires_at", func(p *lyceum.PricingPlan) *lyceum.Opt[time.Time] { return &p.CapExpiresAt },
		),
		optTextColumn(
			"enrollment_cap_display_priority", func(p *lyceum.PricingPlan) *lyceum.Opt[string] { return &p.CapPriority },
		),
		optBoolColumn("enrollment_cap_visible", func(p *lyceum.PricingPlan) *lyceum.Opt[bool] { return &p.CapVisible }),
		optFloatColumn("author_revenue_share", func(p *lyceum.PricingPlan) *lyceum.Opt[float64] { return &p.AuthorShare }),
		optTextColumn(
			"earlier_terms", func(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.EarlierTerms] { return &p.EarlierTerms },
		),
	},
	largest: 256 << 10,
	order:   func(f lyceum.PricingPlanFilter) string { return ordered(f.Order, "pricing_plan_id") },
	narrow: func(w *where, f lyceum.PricingPlanFilter) {
		if f.OfCourses {
			w.and("course_id IS NOT NULL")
		}
		ofProduct(w, f.Product)
		switch f.Published {
		case lyceum.Some(true):
			w.and("(is_published IS NULL OR is_published = 1)")
		case lyceum.Some(false):
			w.and("is_published = 0")
		}
	},
})

// ofProduct narrows pricing plans to those that sell a product.
func ofProduct(w *where, product lyceum.Opt[lyceum.Product]) {
	switch p := product.Value; {
	case !product.Present:
	case p.Kind == lyceum.CourseKind:
		w.equal("course_id", int64(p.ID))
	default:
		w.equal("product_type", string(p.Kind))
		w.equal("product_id", int64(p.ID))
	}
}

func otherProduct(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.Product] { return &p.Other }

// FindOffer reads each row with a separate query, because the plan and the course are mostly
// known or guessed.
func (t *tx) FindOffer(plan lyceum.PricingPlanID, user lyceum.UserID) (offer lyceum.Offer, err error) {
	if offer.Plan.Value, offer.Plan.Present, err = pricingPlans.get(&t.view, plan); err != nil {
		return lyceum.Offer{}, err
	}
	if !offer.Plan.Present {
		_, offer.UserKnown, err = users.get(&t.view, user)
		return offer, err
	}
	if offer.UserKnown, err = t.knows(user, false); err == nil && !offer.UserKnown {
		offer.UserKnown, err = t.knows(user, true)
		offer.UserErased = offer.UserKnown
	}
	if of := offer.Plan.Value.CourseID; err == nil && of.Present {
		var archived lyceum.Opt[time.Time]
		_, err = t.findColumn(courses.name, "course_id", "archived_at", int32(of.Value), scanOptTime(&archived))
		offer.CourseArchived = archived.Present
	}
	if err != nil {
		return lyceum.Offer{}, fmt.Errorf("find offer: %w", err)
	}
	return offer, nil
}

// productTables are the table and the id column of each kind of product.
var productTables = map[lyceum.ProductKind]struct{ name, id string }{
	lyceum.CourseKind:     {"courses", "course_id"},
	lyceum.DownloadKind:   {"digital_downloads", "digital_download_id"},
	lyceum.CollectionKind: {"product_collections", "product_collection_id"},
	lyceum.TierKind:       {"membership_tiers", "membership_tier_id"},
	lyceum.CoachingKind:   {"coaching", "coaching_id"},
}

func (t *tx) FindProductName(p lyceum.Product) (name string, err error) {
	of := productTables[p.Kind]
	if _, err = t.findColumn(of.name, of.id, "name", p.ID, scanText(&name)); err != nil {
		err = t.public(fmt.Errorf("find product name: %w", err))
	}
	return name, err
}

// findColumn reads one column of the row with an id, and reports whether the row exists. Its
// guess is what it found in an earlier group.
func (t *tx) findColumn(table, key, column string, id int32, dest any) (bool, error) {
	args := []any{int64(t.stamp.School), int64(id)}
	in := scope{tables: []string{table}, equals: []equal{{key, args[1:]}}, likely: likely{by: args}}
	return t.q.oneIn(in, "SELECT "+column+" FROM "+table+" WHERE school_id = $1 AND "+key+" = $2", args, dest)
}

// knows reports whether a user exists; erasedToo includes erased users.
func (t *tx) knows(user lyceum.UserID, erasedToo bool) (bool, error) {
	tests, only := []test{absent(erased)}, " AND "+notErased
	if erasedToo {
		tests, only = nil, ""
	}
	args := []any{int64(t.stamp.School), int64(user)}
	in := scope{
		tables: []string{users.name}, equals: []equal{{"user_id", args[1:]}}, likely: likely{rows: [][]any{{int64(1)}}},
	}
	in.tallies = []tally{{users.name, in.equals, tests}}
	var n int64
	_, err := t.q.oneIn(in, "SELECT CASE WHEN EXISTS (SELECT 1 FROM users"+byPrimaryKey+
		" WHERE school_id = $1 AND user_id = $2"+only+") THEN 1 ELSE 0 END", args, scanInt(&n))
	return n > 0, err
}
