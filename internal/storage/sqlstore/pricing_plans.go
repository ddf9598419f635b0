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
		firstColumn(otherProduct, textColumn("product_type", func(p *lyceum.Product) *lyceum.ProductKind { return &p.Kind })),
		nextColumn(otherProduct, intColumn("product_id", func(p *lyceum.Product) *int32 { return &p.ID })),
	},
	largest: 256 << 10,
	narrow: func(w *where, f lyceum.PricingPlanFilter) {
		if f.OfCourses {
			w.and("course_id IS NOT NULL")
		}
	},
})

func otherProduct(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.Product] { return &p.Other }

func (t *tx) FindOffer(plan lyceum.PricingPlanID, user lyceum.UserID) (lyceum.Opt[lyceum.PricingPlan], bool, error) {
	var offer lyceum.PricingPlan
	var id lyceum.Opt[lyceum.UserID]
	there, err := t.q.one("SELECT "+pricingPlans.of("p")+", u.user_id FROM pricing_plans p LEFT JOIN users u ON "+
		"u.school_id = p.school_id AND u.user_id = $1 WHERE p.school_id = $2 AND p.pricing_plan_id = $3",
		[]any{int64(user), int64(t.stamp.School), int64(plan)}, append(pricingPlans.scan(&offer), scanOptInt(&id))...)
	if err != nil {
		return lyceum.None[lyceum.PricingPlan](), false, fmt.Errorf("find offer: %w", err)
	}
	if there {
		return lyceum.Some(offer), id.Present, nil
	}
	_, known, err := users.get(&t.view, user)
	return lyceum.None[lyceum.PricingPlan](), known, err
}
