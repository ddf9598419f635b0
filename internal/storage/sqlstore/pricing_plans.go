package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var pricingPlans = define(&tables.PricingPlans, noun[lyceum.PricingPlanID, lyceum.PricingPlan,
	lyceum.PricingPlanFilter]{
	table:   table[lyceum.PricingPlan]{name: "pricing_plans"},
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

// ofProduct narrows plans to those that sell a product.
func ofProduct(w *where, product lyceum.Opt[lyceum.Product]) {
	switch p := product.Value; {
	case !product.Present:
	case p.Kind == lyceum.CourseKind:
		w.and("course_id = ?", int64(p.ID))
	default:
		w.and("product_type = ?", string(p.Kind))
		w.and("product_id = ?", int64(p.ID))
	}
}

func otherProduct(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.Product] { return &p.Other }

var offerText = "SELECT " + pricingPlans.of("p") + ", u.user_id, k.archived_at FROM pricing_plans p " +
	"LEFT JOIN users u ON u.school_id = p.school_id AND u.user_id = $1 " +
	"LEFT JOIN courses k ON k.school_id = p.school_id AND k.course_id = p.course_id " +
	"WHERE p.school_id = $2 AND p.pricing_plan_id = $3"

func (t *tx) FindOffer(plan lyceum.PricingPlanID, user lyceum.UserID) (lyceum.Offer, error) {
	if !t.q.pool.dialect.pipelined {
		return t.offerOf(plan, user)
	}
	var offer lyceum.Offer
	var id lyceum.Opt[lyceum.UserID]
	var archived lyceum.Opt[time.Time]
	args := []any{int64(user), int64(t.stamp.School), int64(plan)}
	in := scope{likely: likely{by: args[1:], fit: func(row []any) { row[len(row)-2] = args[0] }}}
	there, err := t.q.oneIn(in, offerText, args,
		append(pricingPlans.scan(&offer.Plan.Value), scanOptInt(&id), scanOptTime(&archived))...)
	if err != nil {
		return lyceum.Offer{}, fmt.Errorf("find offer: %w", err)
	}
	if offer.Plan.Present = there; there {
		offer.UserKnown, offer.CourseArchived = id.Present, archived.Present
		return offer, nil
	}
	_, offer.UserKnown, err = users.get(&t.view, user)
	return offer, err
}

// offerOf finds an offer by a query for each row. Those of the plan and the course are
// mostly known, and one for the user alone takes less than one for all.
func (t *tx) offerOf(plan lyceum.PricingPlanID, user lyceum.UserID) (offer lyceum.Offer, err error) {
	if offer.Plan.Value, offer.Plan.Present, err = pricingPlans.get(&t.view, plan); err != nil {
		return lyceum.Offer{}, err
	}
	if !offer.Plan.Present {
		_, offer.UserKnown, err = users.get(&t.view, user)
		return offer, err
	}
	one := func(table, column string, id int64, shown string, dest any) (bool, error) {
		args := []any{int64(t.stamp.School), id}
		in := scope{tables: []string{table}, equals: []equal{{column, args[1:]}}}
		return t.q.oneIn(in, "SELECT "+shown+" FROM "+table+" WHERE school_id = $1 AND "+column+" = $2", args, dest)
	}
	var found int64
	offer.UserKnown, err = one(users.name, "user_id", int64(user), "1", scanInt(&found))
	if of := offer.Plan.Value.CourseID; err == nil && of.Present {
		var archived lyceum.Opt[time.Time]
		_, err = one(courses.name, "course_id", int64(of.Value), "archived_at", scanOptTime(&archived))
		offer.CourseArchived = archived.Present
	}
	if err != nil {
		return lyceum.Offer{}, fmt.Errorf("find offer: %w", err)
	}
	return offer, nil
}
