package sales_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// deal is a sale as the model knows it.
type deal struct {
	id       lyceum.SaleID
	user     lyceum.UserID
	plan     lyceum.PricingPlanID
	months   int // of a period
	payments []*installment
	anchor   time.Time
	begins   time.Time // first period of a sale that follows another
	until    time.Time // paid until
	full     bool      // nothing more is to be paid
	billed   time.Time // since when it is billed here, not elsewhere
	failed   time.Time // when the last attempt to charge it failed
	known    bool      // paid periods are known, as they are not if only a file brought the sale
	over     lyceum.SaleEnd
	ended    time.Time
	updated  time.Time // before the last turn
	follower
}

func (d *deal) course() lyceum.CourseID {
	return map[lyceum.PricingPlanID]lyceum.CourseID{1: 1, 2: 1, 3: 2, 4: 2, 6: 1, 12: 1}[d.plan]
}

func (d *deal) recurring() bool { return d.plan == 2 || d.plan == 6 || d.plan >= 9 }

// good reports whether somebody paid for the sale and has not got it back.
func (d *deal) good() bool {
	return (d.over == "" || d.over == lyceum.SaleCanceled) && slices.ContainsFunc(d.payments, func(p *installment) bool {
		return (p.paid == 0 || p.back < p.paid) && p.held(lyceum.DisputeOpen, lyceum.DisputeLost) == 0
	})
}

func (m *union) sell(t *testing.T, user lyceum.UserID) {
	plan := lyceum.PricingPlanID(rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 9, 12}).Draw(m.r, "plan"))
	d, err := m.b.service.Record(t.Context(), m.b.by(), m.purchase(user, plan))
	if err != nil {
		m.r.Fatal(err)
	}
	m.sold(d)
}

// sold adds a sale to the model that was recorded now, or backdated.
func (m *union) sold(d sales.SaleDetail) *deal {
	user, plan := d.UserID.Value, d.PricingPlanID.Value
	kept := &deal{id: d.ID, user: user, plan: plan, months: m.months(plan), anchor: d.CreatedAt, billed: d.CreatedAt, known: true}
	for i := range d.Transactions {
		kept.pay(&d.Transactions[i])
	}
	if plan == 6 && len(kept.payments) > 0 && kept.payments[0].paid == 0 { // on trial for 14 days
		kept.anchor = m.shown(m.clocks(kept.anchor).AddDate(0, 0, 14))
	}
	m.count(kept)
	m.deals = append(m.deals, kept)
	why := &reason{user: user, course: kept.course(), sale: d.ID, start: d.CreatedAt}
	switch plan {
	case 3:
		why.end = m.monthsLater(m.b.now, 6)
	case 8:
		why.bundle = true
	case 9, 11:
		why.tier = true
	case 10:
		why.silver = true
	}
	m.reasons = append(m.reasons, why)
	m.unblockAll(why)
	return kept
}

// later adds months to a date; in a shorter month the result is its last day.
func later(from time.Time, months int) time.Time {
	to := from.AddDate(0, months, 0)
	for to.Day() != from.Day() && to.Day() < 4 {
		to = to.AddDate(0, 0, -1)
	}
	return to
}

// over ends a sale, and the access it gave at a given time.
func (m *union) over(d *deal, why lyceum.SaleEnd, at time.Time) {
	m.ends(d, why, at)
	for _, x := range m.reasons {
		switch {
		case x.sale != d.id || !x.open(m.b.now):
		case !at.After(m.b.now):
			x.ended = why.Entitlement()
		case x.end.IsZero() || at.Before(x.end):
			x.end = at
		}
	}
}

// ends ends a sale, but not the access it gave.
func (m *union) ends(d *deal, why lyceum.SaleEnd, at time.Time) {
	if d.over == "" {
		d.over, d.ended = why, m.b.now
		d.toStop = d.recurring() && !d.full
	}
	d.stop(at, m.b.now)
}

func (m *union) pick() *deal {
	if len(m.deals) == 0 {
		return nil
	}
	return m.deals[rapid.IntRange(0, len(m.deals)-1).Draw(m.r, "sale")]
}

// pickPayment picks a payment of a sale that has one.
func (m *union) pickPayment() (*deal, *installment) {
	d := m.pick()
	if d == nil || len(d.payments) == 0 {
		return nil, nil
	}
	return d, d.payments[rapid.IntRange(0, len(d.payments)-1).Draw(m.r, "payment")]
}

func (m *union) refund(t *testing.T) {
	d, p := m.pickPayment()
	if d == nil {
		return
	}
	amount := max(p.left(), 1)
	if amount > 1 && rapid.Bool().Draw(m.r, "part") {
		amount /= 2
	}
	end := rapid.SampledFrom([]lyceum.Opt[bool]{{}, {}, {}, some(true), some(false)}).Draw(m.r, "end access")
	q := sales.Refund{Transaction: p.id, Amount: some(amount), EndAccess: end}
	try(m, t, "refund", q, m.b.service.PreviewRefund, m.b.service.Refund, func(_ sales.TransactionDetail, err error) {
		if allowed := amount <= p.left(); (err == nil) != allowed {
			m.r.Fatalf("refund of %d of %+v of %+v: %v", amount, p, d, err)
		}
		if err == nil {
			p.back += amount
			m.refunded(d, p, end)
		}
	})
}

// refunded updates the model with what the refund of a payment ends.
func (m *union) refunded(d *deal, p *installment, end lyceum.Opt[bool]) {
	if p.gone() || end.Value {
		m.count(d)
	}
	whole := d.refundedWhole()
	switch ends := whole && m.policy.OnRefund == lyceum.Unenroll; {
	case end.Value, !end.Present && p.gone() && ends:
		if whole {
			m.reopen(d)
		}
		m.over(d, lyceum.SaleRefunded, m.b.now)
	case p.gone() && !end.Present && !whole:
		m.sooner(d)
		m.returned(d)
	case p.gone():
		m.returned(d)
	}
}

// sooner makes the access from a cancelled sale end when its remaining payments do, without
// those that were refunded.
func (m *union) sooner(d *deal) {
	if d.over == lyceum.SaleCanceled && !d.stopsAt.IsZero() {
		m.over(d, lyceum.SaleCanceled, d.until)
	}
}

// void ends a sale by hand.
func (m *union) void(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	q := m.ending(d)
	try(m, t, "end", q, m.b.service.PreviewEndNow, m.b.service.EndNow, func(_ lyceum.Sale, err error) {
		if (err == nil) != (d.over == "") {
			m.r.Fatalf("end %+v: %v", d, err)
		}
		if err == nil {
			m.over(d, lyceum.SaleVoided, m.b.now)
			d.toStop = d.toStop && !q.ChargingStopped
		}
	})
}

// bank opens a dispute, closes it, or wins one that was lost.
func (m *union) bank(t *testing.T) {
	d, p := m.pickPayment()
	if d == nil {
		return
	}
	for _, q := range p.disputes {
		if q.state != lyceum.DisputeWon && rapid.IntRange(0, 3).Draw(m.r, "another") > 0 {
			m.close(t, d, p, q)
			return
		}
	}
	amount := p.left()
	if amount < 1 {
		return
	}
	if amount > 1 && rapid.Bool().Draw(m.r, "part") {
		amount /= 2
	}
	q := sales.NewDispute{Transaction: p.id, Amount: some(amount)}
	try(m, t, "open dispute", q, m.b.service.PreviewOpenDispute, m.b.service.OpenDispute, func(opened lyceum.Dispute, err error) {
		if err != nil {
			m.r.Fatal(err)
		}
		p.disputes = append(p.disputes, &quarrel{opened.ID, amount, lyceum.DisputeOpen})
	})
}

// close closes a dispute.
func (m *union) close(t *testing.T, d *deal, p *installment, q *quarrel) {
	wasLost := q.state == lyceum.DisputeLost
	q.state = lyceum.DisputeWon
	if !wasLost && rapid.Bool().Draw(m.r, "lost") {
		q.state = lyceum.DisputeLost
	}
	o := sales.DisputeOutcome{Dispute: q.id, State: q.state}
	try(m, t, "close dispute", o, m.b.service.PreviewCloseDispute, m.b.service.CloseDispute, func(_ lyceum.Dispute, err error) {
		if err != nil {
			m.r.Fatal(err)
		}
		switch {
		case wasLost:
			m.won(d)
		case q.state == lyceum.DisputeLost && p.gone():
			if m.count(d); m.policy.OnChargeback == lyceum.Unenroll && d.lostAny() {
				m.over(d, lyceum.SaleChargedBack, m.b.now)
			} else {
				if !d.refundedWhole() {
					m.sooner(d)
				}
				m.returned(d)
			}
		}
	})
}

// won brings back a sale that ended because of a lost payment that has now come back.
func (m *union) won(d *deal) {
	if d.lostAny() {
		m.count(d)
		return
	}
	if d.over == lyceum.SaleChargedBack {
		m.comeBack(d, lyceum.EndedByChargeback)
	}
	m.count(d)
	if d.over == lyceum.SaleCanceled {
		m.runAgain(d)
	}
	m.giveBack(d, lyceum.EndedByChargeback)
	m.returned(d)
	if next := d.replacedBy; next != nil && next.over == lyceum.SaleRefunded && next.refundedWhole() {
		m.reopen(next)
	}
}

// runAgain lets the access from a cancelled sale that comes back run until the end of what is paid
// for.
func (m *union) runAgain(d *deal) {
	for _, x := range m.reasons {
		if x.sale != d.id || x.ended != lyceum.EndedByChargeback || x.end.IsZero() {
			continue
		}
		if x.end.After(d.until) {
			x.end = d.until
		}
		if x.end.After(m.b.now) {
			m.seen["canceled sales that run again"]++
			d.stopsAt = x.end
		}
	}
}

func (m *union) cancel(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	q := m.ending(d)
	try(m, t, "cancel", q, m.b.service.PreviewCancel, m.b.service.Cancel, func(_ lyceum.Sale, err error) {
		if allowed := d.recurring() && d.over == "" && !d.full; (err == nil) != allowed {
			m.r.Fatalf("cancel %+v: %v", d, err)
		}
		if err == nil {
			m.canceled(d)
			d.toStop = d.toStop && !q.ChargingStopped
		}
	})
}

// canceled ends a cancelled sale according to the school's policy.
func (m *union) canceled(d *deal) {
	switch m.policy.OnCancellation {
	case lyceum.AtPeriodEnd:
		m.over(d, lyceum.SaleCanceled, d.until)
	case lyceum.Keep:
		m.ends(d, lyceum.SaleCanceled, m.b.now)
	default:
		m.over(d, lyceum.SaleCanceled, m.b.now)
	}
}
