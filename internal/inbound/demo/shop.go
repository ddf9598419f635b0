package demo

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// shop is the catalogue in the form that the till uses.
type shop struct {
	plans  []lyceum.PricingPlan // by id
	terms  []terms              // of the same plans
	offers []onSale             // in the order of the table
}

// terms are what a payment needs from a pricing plan besides its price.
type terms struct {
	rate   rate
	author lyceum.AuthorID // 0: none
	months int             // between payments; 0 if it does not recur
	// payments is the total number of payments of a payment plan; 0 for a subscription.
	payments int
}

// onSale is an offer with its plans, by index in rates. Currencies without a price have
// the plan in US dollars.
type onSale struct {
	opens, closes moment
	frequency     lyceum.Frequency
	plans         [len(rates)]int16 // indexes in shop.plans
}

func newShop(cal calendar) *shop {
	s := &shop{offers: make([]onSale, len(offers))}
	type entry struct {
		offer int
		price price
		made  moment
	}
	var entries []entry
	for i, o := range offers {
		s.offers[i] = onSale{opens: o.opens(), closes: o.closes(), frequency: o.frequency}
		for _, p := range o.prices {
			entries = append(entries, entry{i, p, o.made()})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return int(a.made - b.made) })

	for place, e := range entries {
		currency := rateIndex(e.price.currency)
		onSale := &s.offers[e.offer]
		onSale.plans[currency] = int16(place)
		if currency == 0 { // US dollars, always the first price
			for i := range onSale.plans {
				onSale.plans[i] = int16(place)
			}
		}
		s.plans = append(s.plans, offers[e.offer].plan(cal, lyceum.PricingPlanID(place+1), e.price, e.made))
		s.terms = append(s.terms, offers[e.offer].terms(rates[currency]))
	}
	return s
}

// opens returns the moment from which an offer is sold; closing for a draft.
func (o *offer) opens() moment {
	switch {
	case o.course == 0:
		return 0
	case courses[o.course-1].draft:
		return closing
	}
	return courses[o.course-1].launched
}

// closes returns the moment from which an offer is no longer sold.
func (o *offer) closes() moment {
	if o.course == 0 || courses[o.course-1].retired == 0 {
		return closing
	}
	return courses[o.course-1].retired
}

// made returns the moment at which an offer's plans were created: in the week before it is
// sold, or soon after the course for a draft.
func (o *offer) made() moment {
	if o.opens() == closing {
		return courses[o.course-1].made + 3*day
	}
	return o.opens() - 6*day + 10*hour + 40*moment(o.course)
}

func (o *offer) plan(cal calendar, id lyceum.PricingPlanID, p price, made moment) lyceum.PricingPlan {
	plan := lyceum.PricingPlan{
		ID: id, Name: o.name, Price: p.amount, Currency: p.currency, Frequency: o.frequency,
		CreatedAt: cal.time(made), UpdatedAt: cal.time(made),
	}
	if o.course != 0 {
		plan.CourseID = lyceum.Some(o.course)
	} else {
		plan.Other = lyceum.Some(studio)
	}
	if o.interval != "" {
		plan.BillingInterval, plan.BillingIntervalCount = lyceum.Some(o.interval), lyceum.Some[int32](1)
	}
	switch o.frequency {
	case subscription:
		plan.FreeTrialLength = trialOf(id)
	case free:
		plan.AccessLimitInterval, plan.AccessLimitDuration = lyceum.Some("month"), lyceum.Some[int32](3)
	case once:
		plan.Description = lyceum.Some("Everything in the course, for as long as there is one.")
		if id%9 == 0 {
			plan.EnrollmentCap = lyceum.Some[int32](500)
		}
	case instalments:
		plan.Payments = lyceum.Some(int32(o.payments))
		plan.AccessLimitDate = lyceum.Some(cal.time(closing + 365*day))
	}
	// The prices in other currencies were revised in January 2025.
	if looked := on(2025, time.January, 13) + 11*hour; p.currency != rates[0].currency && made < looked {
		plan.UpdatedAt = cal.time(looked)
	}
	return plan
}

// trialOf gives every other subscription a free trial of two weeks.
func trialOf(id lyceum.PricingPlanID) lyceum.Opt[int32] {
	if id%2 == 0 {
		return lyceum.None[int32]()
	}
	return lyceum.Some[int32](14)
}

func (o *offer) terms(r rate) terms {
	t := terms{rate: r, payments: o.payments}
	if o.course != 0 {
		t.author = courses[o.course-1].author
	}
	switch o.interval {
	case "month":
		t.months = 1
	case "year":
		t.months = 12
	}
	return t
}

// draw returns a random offer that is sold at a moment, popular ones more often. With
// onlyOnce it does not recur.
func (s *shop) draw(popular *rand.Zipf, at moment, onlyOnce bool) *onSale {
	for {
		o := &s.offers[popular.Uint64()]
		recurs := o.frequency == subscription || o.frequency == instalments
		if o.opens <= at && at < o.closes && (!onlyOnce || !recurs) {
			return o
		}
	}
}
