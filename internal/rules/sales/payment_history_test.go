package sales_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// installment is a payment of a sale in the model.
type installment struct {
	id       lyceum.TransactionID
	at       time.Time
	paid     lyceum.Minor
	back     lyceum.Minor // refunded
	disputes []*quarrel
}

// quarrel is a dispute of a payment.
type quarrel struct {
	id     lyceum.DisputeID
	amount lyceum.Minor
	state  lyceum.DisputeState
}

// held returns what banks took in disputes with the given states.
func (p *installment) held(states ...lyceum.DisputeState) (sum lyceum.Minor) {
	for _, q := range p.disputes {
		if slices.Contains(states, q.state) {
			sum += q.amount
		}
	}
	return sum
}

func (p *installment) left() lyceum.Minor {
	return p.paid - p.back - p.held(lyceum.DisputeOpen, lyceum.DisputeLost)
}

// gone reports whether nothing of the payment is left to the school for good.
func (p *installment) gone() bool { return p.paid > 0 && p.back+p.held(lyceum.DisputeLost) >= p.paid }

// lost reports whether a bank took the last of it.
func (p *installment) lost() bool { return p.gone() && p.held(lyceum.DisputeLost) > 0 }

// partPayments is the number of payments of plan 12.
const partPayments = 3

// refundedWhole reports whether every payment of the sale was returned.
func (d *deal) refundedWhole() bool {
	some := false
	for _, p := range d.payments {
		if p.paid == 0 {
			continue
		}
		if some = true; !p.gone() {
			return false
		}
	}
	return some
}

func (d *deal) lostAny() bool { return slices.ContainsFunc(d.payments, (*installment).lost) }

// count computes what the payments bought. Each buys the period that it is in, or the next one
// that is not paid; payments that were returned buy nothing, nor do payments after the sale had
// ended. A payment in the last day of a period whose payment was returned buys the next one.
func (m *union) count(d *deal) {
	if !d.recurring() {
		return
	}
	bought, returned := 0, map[int64]bool{} // periods, by their ends
	d.until, d.full, d.known = time.Time{}, false, true
	for n, p := range d.payments {
		switch {
		case d.over != "" && p.at.After(d.ended):
		case n == 0 && p.paid == 0: // a trial
			d.until = d.anchor
		default:
			from := p.at
			if end := m.after(d.months, d.anchor, from); returned[end.Unix()] && m.justBefore(d, from, end) {
				m.seen["early payments after a returned one"]++
				from = end
			}
			if d.until.After(from) {
				from = d.until
			}
			if d.begins.After(from) {
				from = d.begins
			}
			end := m.after(d.months, d.anchor, from)
			if p.gone() {
				returned[end.Unix()] = true
				continue
			}
			bought++
			d.until = end
		}
	}
	if d.full = d.plan == 12 && bought >= partPayments; d.full {
		d.until = time.Time{}
	}
}

// justBefore reports whether a payment was made in the last day of the period with the given end,
// and not when it began.
func (m *union) justBefore(d *deal, paid, end time.Time) bool {
	return end.Sub(paid) <= 24*time.Hour && !m.after(d.months, d.anchor, paid.Add(-time.Second)).Equal(paid)
}

// months returns how many months a period of a sale that begins now has.
func (m *union) months(plan lyceum.PricingPlanID) int {
	if plan == 11 || m.yearly[plan] {
		return 12
	}
	return 1
}

// changeTerms makes a monthly plan yearly, or monthly again. Its sales keep their periods.
func (m *union) changeTerms(t *testing.T) {
	plan, interval := rapid.SampledFrom([]lyceum.PricingPlanID{2, 9, 10}).Draw(m.r, "plan with other terms"), "month"
	if m.yearly[plan] = !m.yearly[plan]; m.yearly[plan] {
		interval = "year"
	}
	change := learning.PricingPlanChange{ID: plan, BillingInterval: some(some(interval))}
	if _, err := m.b.learning.UpdatePricingPlan(t.Context(), m.b.by(), change); err != nil {
		m.r.Fatal(err)
	}
	for _, d := range m.deals {
		if d.plan == plan && d.over == "" && d.months != m.months(plan) {
			m.seen["subscriptions with earlier terms"]++
		}
	}
}

// after returns the first billing day after a given time, counted from an anchor in the
// school's time zone.
func (m *union) after(months int, anchor, at time.Time) time.Time {
	begin := anchor
	for n := 0; !begin.After(at); n++ {
		begin = m.monthsLater(anchor, n*months)
	}
	return begin
}

// monthsLater returns the anchor plus a number of months in the school's time zone, on the last
// day of a month that is shorter.
func (m *union) monthsLater(anchor time.Time, months int) time.Time {
	if months == 0 {
		return anchor
	}
	local := anchor.In(m.zone)
	month := time.Date(local.Year(), local.Month(), 1, local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
	month = month.AddDate(0, months, 0)
	shown := month
	for range local.Day() - 1 {
		if next := shown.AddDate(0, 0, 1); next.Month() == month.Month() {
			shown = next
		}
	}
	return m.shown(shown)
}

// clocks returns the local time of the school at a given time, as a UTC time, which has no hour
// that a clock skips.
func (m *union) clocks(at time.Time) time.Time {
	local := at.In(m.zone)
	_, east := local.Zone()
	return local.UTC().Add(time.Duration(east) * time.Second)
}

// shown returns the first time at which the school's clocks show a given local time, or else
// the time before they skipped it.
func (m *union) shown(clocks time.Time) time.Time {
	want := time.Date(clocks.Year(), clocks.Month(), clocks.Day(), clocks.Hour(), clocks.Minute(), clocks.Second(), 0, time.UTC)
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(m.zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	for east := 15 * time.Hour; east >= -13*time.Hour; east -= 15 * time.Minute {
		if t := want.Add(-east); offset(t) == east {
			return t
		}
	}
	return want.Add(-offset(want.Add(-24 * time.Hour)))
}

// pay adds a payment.
func (d *deal) pay(x *lyceum.Transaction) {
	d.payments = append(d.payments, &installment{id: x.ID, at: x.CreatedAt, paid: x.FinalPrice + x.TaxCharge})
}

// pickRunning picks a sale that more is to be paid for, or that lapsed; sometimes any.
func (m *union) pickRunning() *deal {
	some := slices.DeleteFunc(slices.Clone(m.deals), func(d *deal) bool {
		return !d.recurring() || d.over != "" && d.over != lyceum.SaleLapsed
	})
	if len(some) == 0 || rapid.IntRange(0, 3).Draw(m.r, "any") == 0 {
		return m.pick()
	}
	return some[rapid.IntRange(0, len(some)-1).Draw(m.r, "running")]
}

// renew records the next payment of a sale: in time, early, late, a second one for a period, or
// an unexpected one.
func (m *union) renew(t *testing.T) {
	d := m.pickRunning()
	if d == nil {
		return
	}
	r := sales.Renewal{Sale: d.id}
	if rapid.Bool().Draw(m.r, "with a reference") {
		r.Reference = m.reference()
	}
	follows := d.recurring() && d.next != 0 && !d.full && !d.until.After(m.b.now.Add(24*time.Hour))
	if follows {
		r.Charge = euros(d.next)
	} else {
		r.Charge = euros(d.plan)
	}
	x, err := m.b.service.Renew(t.Context(), m.b.by(), r)
	running := d.over == "" || d.over == lyceum.SaleLapsed
	if allowed := d.recurring() && (r.Reference.Present || running && !d.full); (err == nil) != allowed {
		m.r.Fatalf("renew %+v, reference %v: %v", d, r.Reference.Present, err)
	}
	if err != nil {
		return
	}
	switch {
	case follows:
		d = m.follow(t, d)
	case d.full:
		d.next = 0
	}
	if x.SaleID != d.id {
		m.r.Fatalf("the payment of sale %d is of sale %d", d.id, x.SaleID)
	}
	m.seen["renewals"]++
	switch d.over {
	case lyceum.SaleLapsed:
		m.seen["late payments that revive"]++
		m.comeBack(d, lyceum.EndedByLapse)
	case "":
	default:
		m.seen["payments of sales that ended"]++
	}
	if d.full {
		m.seen["payments of payment plans that ended"]++
	}
	if d.until.After(m.b.now.Add(31 * 24 * time.Hour)) {
		m.seen["second payments of a period"]++
	}
	d.pay(&x.Transaction)
	if m.count(d); d.full && d.over == "" {
		m.seen["payment plans paid in full"]++
	}
	d.bill(m.b.now)
}

// comeBack reopens a sale, and the access it gave that ended for the given reason.
func (m *union) comeBack(d *deal, ended lyceum.EntitlementEnd) {
	d.over, d.ended, d.replacedBy, d.stopsAt, d.toStop = "", time.Time{}, nil, time.Time{}, false
	m.giveBack(d, ended)
}

func (m *union) giveBack(d *deal, ended lyceum.EntitlementEnd) {
	for _, x := range m.reasons {
		if x.sale == d.id && x.ended == ended {
			x.ended = ""
		}
	}
}

// euros returns what was charged in US cents for a plan in euros.
func euros(plan lyceum.PricingPlanID) lyceum.Opt[lyceum.USDCents] {
	if plan == 2 {
		return some(lyceum.USDCents(540))
	}
	return lyceum.None[lyceum.USDCents]()
}

// String shows the sale with its payments.
func (d *deal) String() string {
	type plain deal
	text := fmt.Sprintf("%+v", *(*plain)(d))
	for _, p := range d.payments {
		text += fmt.Sprintf("\n\tpayment %d at %v: %d, back %d, held %d", p.id, p.at, p.paid, p.back, p.held(lyceum.DisputeOpen, lyceum.DisputeLost))
	}
	return text
}
