package console

import (
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// billing is what a page says of a sale that is paid for again and again.
type billing struct {
	State mark
	Since lyceum.Opt[time.Time] // its periods are counted from it
	// Next is in which words its next payment is shown, and Due the moment in it;
	// without one, Next says all.
	Next string
	Due  lyceum.Opt[time.Time]
	// Ends is what ends when, Until the moment in it; Ends is empty if nothing does.
	Ends  string
	Until lyceum.Opt[time.Time]
}

// billingOf returns how a sale stands at a moment, under the policy of its school.
func billingOf(d *sales.SaleDetail, policy lyceum.SalePolicy, now time.Time) billing {
	b := billing{State: mark{"badge-on", "Active"}, Since: d.BillingAnchor}
	switch unpaid := d.PaidUntil.Present && !d.PaidUntil.Value.After(now); {
	case d.EndedAt.Present:
		b.State, b.Next = ends[d.EndReason.Value], "None: the sale has ended"
		if d.StopsAt.Present {
			b.Ends, b.Until = "Access until", d.StopsAt
		}
		return b
	case d.PaidInFull:
		b.State, b.Next = mark{"badge-on", "Paid in full"}, "None: each payment was made, and access stays"
		return b
	case !d.PaidUntil.Present:
		b.Next = "Nothing is paid for"
		return b
	case unpaid:
		b.State, b.Next = mark{"badge-bad", "Payment due"}, "Due since"
	case onTrial(d):
		b.State = mark{"badge-on", "On trial"}
	}
	b.Due = d.PaidUntil
	switch lapses := d.Sale.LapsesAt(policy); {
	case lapses.Present:
		b.Ends, b.Until = "Lapses without a payment", lapses
	case d.Billed:
		b.Ends = "The school keeps subscriptions that are not paid for"
	default:
		b.Ends = "It came by an import, and does not lapse before it is paid for here"
	}
	return b
}

// onTrial reports whether nothing but the trial of a sale has begun.
func onTrial(d *sales.SaleDetail) bool {
	first := d.Transactions
	if len(first) != 1 || first[0].FinalPrice > 0 || !d.BillingAnchor.Present {
		return false
	}
	return d.PaidUntil == d.BillingAnchor && d.BillingAnchor.Value.After(first[0].CreatedAt)
}
