package sales

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// bought is what the payments of a recurring sale bought; for any other sale it is the zero
// value.
type bought struct {
	anchor lyceum.Opt[time.Time]
	until  lyceum.Opt[time.Time] // when the next payment is due; absent if none was made, or no more are due
	inFull bool
	paid   map[lyceum.TransactionID]PaidPeriod
}

// PaidPeriod is the time that a payment bought: a billing period, or the trial.
type PaidPeriod struct{ Start, End time.Time }

// apply stores on the sale what was bought.
func (b bought) apply(sale *lyceum.Sale) {
	sale.BillingAnchor, sale.PaidUntil, sale.PaidInFull = b.anchor, b.until, b.inFull
}

// boughtBy returns what a sale's payments bought; accounts has them oldest first.
func boughtBy(tx lyceum.Tx, sale *lyceum.Sale, plan *lyceum.PricingPlan, accounts []account) (bought, error) {
	if !plan.Recurring() {
		return bought{}, nil
	}
	zone, err := zoneOf(tx)
	if err != nil {
		return bought{}, err
	}
	return periodsOf(sale, plan, zone, accounts), nil
}

// paidPeriods returns the time that each payment of a recurring sale bought.
func paidPeriods(
	tables *lyceum.Tables, from lyceum.Reads, id lyceum.SaleID,
) (map[lyceum.TransactionID]PaidPeriod, error) {
	sale, err := tables.Sales.Get(from, id)
	if err != nil || !sale.PricingPlanID.Present {
		return nil, err
	}
	plans, err := tables.PricingPlans.Find(from, sale.PricingPlanID.Value)
	plan := plans[sale.PricingPlanID.Value].For(&sale)
	if err != nil || !plan.Recurring() {
		return nil, err
	}
	accounts, err := accountsOf(tables, from, id)
	if err != nil {
		return nil, err
	}
	zone, err := zoneOf(from)
	if err != nil {
		return nil, err
	}
	return periodsOf(&sale, &plan, zone, accounts).paid, nil
}

// periodIn returns the time that one payment bought, if any.
func periodIn(periods map[lyceum.TransactionID]PaidPeriod, id lyceum.TransactionID) lyceum.Opt[PaidPeriod] {
	p, bought := periods[id]
	return lyceum.Opt[PaidPeriod]{Value: p, Present: bought}
}

func zoneOf(from lyceum.Reads) (*time.Location, error) {
	school, err := from.GetSchool()
	if err != nil {
		return nil, err
	}
	return school.TimeZone.Location()
}

// nextAnchor returns the anchor of a sale that follows another one at the end of its period.
// The billing day stays the same, unless the new periods cannot end on it.
func nextAnchor(tx lyceum.Tx, old *lyceum.Sale, plan *lyceum.PricingPlan, due time.Time) (time.Time, error) {
	zone, err := zoneOf(tx)
	if err != nil {
		return due, err
	}
	billing := plan.Billing(old.BillingAnchor.Else(due), zone)
	if billing.Begin(billing.Period(due)).Equal(due) {
		return billing.Anchor, nil
	}
	return due, nil
}

// periodsOf computes the periods that payments bought. Each buys the period in which it was
// made, or the next one that is not paid. Payments that were returned buy nothing, nor do
// payments recorded after the sale had ended. A payment made shortly before a period still buys
// that one if the payment for the period before it is returned.
func periodsOf(sale *lyceum.Sale, plan *lyceum.PricingPlan, zone *time.Location, accounts []account) bought {
	var b bought
	b.anchor = anchorOf(sale, plan, zone, accounts)
	billing := plan.Billing(b.anchor.Value, zone)
	b.paid = map[lyceum.TransactionID]PaidPeriod{}
	returned := map[int]bool{} // periods of payments that were returned
	next, made := lyceum.None[int](), 0
	for i := range accounts {
		a := &accounts[i]
		switch {
		case !a.Paid || sale.EndedAt.Present && a.CreatedAt.After(sale.EndedAt.Value):
		case plan.Payments.Present && made >= int(plan.Payments.Value): // one too many
		case i == 0 && !a.gone() && onTrial(sale, plan, a, billing):
			end := trialEnd(sale, plan, a, billing)
			next = lyceum.Some(billing.Period(end))
			b.paid[a.ID] = PaidPeriod{a.at, end}
		default:
			period := billing.Period(a.at)
			if i == 0 && followedEarly(sale, a.at, billing) || returned[period] && early(a.at, billing) {
				period++
			}
			if period = max(period, next.Else(period)); a.gone() {
				returned[period] = true
				continue
			}
			next = lyceum.Some(period + 1)
			b.paid[a.ID] = PaidPeriod{billing.Begin(period), billing.Begin(period + 1)}
			made++
		}
	}
	switch {
	case plan.Payments.Present && made >= int(plan.Payments.Value):
		b.inFull = true
	case next.Present && made == 0: // on trial
		b.until = b.anchor
	case next.Present:
		b.until = lyceum.Some(billing.Begin(next.Value))
	}
	return b
}

// followedEarly reports whether the first payment of a sale that followed another one was made
// shortly before the other one's period ended. Such a payment buys the next period. The sale is
// then billed since that payment was recorded; any other follower is billed since the period
// ended, even if that was only noticed when its first payment came.
func followedEarly(sale *lyceum.Sale, paid time.Time, billing lyceum.Billing) bool {
	return sale.Replaces.Present && !paid.After(sale.BilledSince.Value) && early(paid, billing)
}

// early reports whether a payment was made shortly before a period, and not when one began.
func early(paid time.Time, billing lyceum.Billing) bool {
	period := billing.Period(paid)
	return !paid.Equal(billing.Begin(period)) && billing.Begin(period+1).Sub(paid) <= renewedEarly
}

// startsTrial reports whether a first payment starts a free trial by what its plan offers now.
func startsTrial(a *account, plan *lyceum.PricingPlan) bool {
	return a.FinalPrice == 0 && plan.FreeTrialLength.Value > 0
}

// onTrial reports whether a first payment started a free trial. A sale that is billed here from
// the beginning had one if its first period began later, whatever its plan offers now.
func onTrial(sale *lyceum.Sale, plan *lyceum.PricingPlan, a *account, billing lyceum.Billing) bool {
	offered := startsTrial(a, plan)
	if a.FinalPrice != 0 || !sale.BillingAnchor.Present || !billedFrom(sale, a) {
		return offered
	}
	return a.at.Before(billing.Anchor) && (offered || !followedEarly(sale, a.at, billing))
}

// billedFrom reports whether a sale is billed here since its first payment, so that its billing
// day never moved.
func billedFrom(sale *lyceum.Sale, first *account) bool {
	return sale.BilledSince.Present && !sale.BilledSince.Value.After(first.CreatedAt)
}

// trialEnd returns when the free trial ended that a first payment started: when the first period
// began, or before that if the sale is imported and its billing day moved since.
func trialEnd(sale *lyceum.Sale, plan *lyceum.PricingPlan, first *account, billing lyceum.Billing) time.Time {
	end := trialOf(plan, first.at, billing.Zone)
	if billedFrom(sale, first) || end.After(billing.Anchor) {
		return billing.Anchor
	}
	return end
}

// trialOf returns the end of a trial that starts at the given time.
func trialOf(plan *lyceum.PricingPlan, at time.Time, zone *time.Location) time.Time {
	days := lyceum.Billing{Anchor: at, Interval: "day", Count: int(plan.FreeTrialLength.Value), Zone: zone}
	return days.Begin(1)
}

// nearAnchor is how far a payment may be from a billing day and still count for that day: the
// last days of months differ by that much.
const nearAnchor = 3 * 24 * time.Hour

// anchorOf returns when the first paid period of a sale began: at the first payment, or after
// the trial. If the sale has no stored anchor and was last paid on another day than its first
// payment's, it is the time of that last payment.
func anchorOf(
	sale *lyceum.Sale, plan *lyceum.PricingPlan, zone *time.Location, accounts []account,
) lyceum.Opt[time.Time] {
	switch {
	case sale.BillingAnchor.Present:
		return sale.BillingAnchor
	case len(accounts) == 0:
		return sale.PaidUntil
	}
	first := accounts[0].at
	if startsTrial(&accounts[0], plan) {
		first = trialOf(plan, first, zone)
	}
	last := sale.PaidUntil
	for _, a := range slices.Backward(accounts) {
		if !last.Present && a.Paid {
			last = lyceum.Some(a.at)
		}
	}
	billing := plan.Billing(first, zone)
	period := billing.Period(last.Else(first))
	since, left := last.Else(first).Sub(billing.Begin(period)), billing.Begin(period+1).Sub(last.Else(first))
	if last.Present && last.Value.After(first) && min(since, left) > nearAnchor {
		return last
	}
	return lyceum.Some(first)
}
