package console

import (
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// billing is what the page of a sale shows about its recurring payments.
type billing struct {
	State mark
	Day   string                 // the billing day; empty if nothing was recorded here
	Since lyceum.Opt[time.Time]  // what its periods are counted from
	Next  string                 // the next payment in words; without Due, that is all
	Due   lyceum.Opt[time.Time]  // when that payment is due
	Fails *lyceum.PaymentFailure // the last failed payment, while the sale is past due
	Ends  string                 // what ends, in words; empty if nothing does
	Until lyceum.Opt[time.Time]  // when it ends
}

// standings are the badges of the statuses that do not depend on why a sale ended.
var standings = map[sales.SaleStatus]mark{
	sales.Trialing:   {"badge-on", "On trial"},
	sales.Active:     {"badge-on", "Active"},
	sales.PastDue:    {"badge-bad", "Past due"},
	sales.PaidInFull: {"badge-on", "Paid in full"},
}

// stateOf returns the badge of a sale.
func stateOf(d *sales.SaleDetail) mark {
	if d.EndedAt.Present {
		return ends[d.EndReason.Value]
	}
	return standings[d.Status.Else(sales.Active)]
}

// billingOf returns the billing of a sale of a plan as of now.
func billingOf(d *sales.SaleDetail, p *lyceum.PricingPlan, zone *time.Location, now time.Time) *billing {
	b := &billing{State: stateOf(d), Since: d.BillingAnchor}
	if b.Since.Present {
		b.Day = dayOf(p.Billing(b.Since.Value.In(zone), zone))
	}
	switch {
	case d.EndedAt.Present:
		b.Next = "None: the sale has ended"
		if d.StopsAt.Present {
			b.Ends, b.Until = "Access until", d.StopsAt
		}
		return b
	case d.PaidInFull:
		b.Next = "None: all payments were made, and access stays"
		return b
	case !d.PaidUntil.Present:
		b.Next = "Nothing is paid for"
		return b
	case !d.PaidUntil.Value.After(now):
		b.Next = "Due since"
	}
	b.Due = d.PaidUntil
	if n := len(d.Failures); n > 0 && d.Status.Value == sales.PastDue {
		last := slices.MaxFunc(d.Failures, func(x, y lyceum.PaymentFailure) int { return x.OccurredAt.Compare(y.OccurredAt) })
		b.Fails = &last
	}
	switch {
	case d.NextPlan.Present: // the change comes before any lapse
	case d.LapsesAt.Present:
		b.Ends, b.Until = "Lapses without a payment", d.LapsesAt
	case d.BilledSince.Present:
		b.Ends = "The school keeps subscriptions that are not paid for"
	default:
		b.Ends = "It was imported, and does not lapse before it is paid for here"
	}
	return b
}

// dayOf returns the day on which periods begin, in words; "" if they are counted in days.
func dayOf(c lyceum.Billing) string {
	switch day := c.Anchor.Day(); {
	case c.Interval == "day":
		return ""
	case c.Interval == "week":
		return c.Anchor.Weekday().String()
	case c.Interval == "year":
		return c.Anchor.Format("2 January")
	case day > 28:
		return fmt.Sprintf("Day %d of the month, or its last day", day)
	default:
		return fmt.Sprintf("Day %d of the month", day)
	}
}
