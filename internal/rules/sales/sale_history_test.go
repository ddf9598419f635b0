package sales_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// deal is a sale as the model knows it.
type deal struct {
	id          lyceum.SaleID
	transaction lyceum.TransactionID
	user        lyceum.UserID
	plan        lyceum.PricingPlanID
	paid        lyceum.Minor
	back        lyceum.Minor
	bank        lyceum.DisputeState
	dispute     lyceum.DisputeID
	anchor      time.Time
	until       time.Time // paid until
	over        lyceum.SaleEnd
	follower
}

func (d *deal) course() lyceum.CourseID {
	return map[lyceum.PricingPlanID]lyceum.CourseID{1: 1, 2: 1, 3: 2, 4: 2, 6: 1}[d.plan]
}

func (d *deal) recurring() bool { return d.plan == 2 || d.plan == 6 || d.plan >= 9 }

func (d *deal) good() bool {
	return !d.unpaid && (d.paid == 0 || d.back < d.paid) && d.bank != lyceum.DisputeOpen && d.bank != lyceum.DisputeLost
}

func (m *union) sell(t *testing.T, user lyceum.UserID) {
	plan := lyceum.PricingPlanID(rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 9}).Draw(m.r, "plan"))
	d, err := m.b.service.Record(t.Context(), m.b.by(), m.purchase(user, plan))
	if err != nil {
		m.r.Fatal(err)
	}
	m.sold(d)
}

// sold keeps a sale that was recorded now, or since a moment that has passed.
func (m *union) sold(d sales.SaleDetail) *deal {
	user, plan := d.UserID.Value, d.PricingPlanID.Value
	kept := &deal{id: d.ID, user: user, plan: plan, until: d.PaidUntil.Value, anchor: d.CreatedAt}
	kept.unpaid = len(d.Transactions) == 0
	for _, x := range d.Transactions {
		kept.transaction, kept.paid = x.ID, x.FinalPrice+x.TaxCharge
	}
	m.deals = append(m.deals, kept)
	why := &reason{user: user, course: kept.course(), sale: d.ID, start: d.CreatedAt}
	switch plan {
	case 3:
		why.end = later(m.b.now, 6)
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

// later is a number of months later, at the end of a month that is shorter.
func later(from time.Time, months int) time.Time {
	to := from.AddDate(0, months, 0)
	for to.Day() != from.Day() && to.Day() < 4 {
		to = to.AddDate(0, 0, -1)
	}
	return to
}

// over ends what a sale gave.
func (m *union) over(d *deal, why lyceum.SaleEnd, at time.Time) {
	if d.over == "" {
		d.over = why
	}
	d.stop(!at.After(m.b.now))
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

func (m *union) pick() *deal {
	if len(m.deals) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.deals).Draw(m.r, "sale")
}

func (m *union) refund(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	amount := d.paid - d.back
	if amount > 1 && rapid.Bool().Draw(m.r, "part") {
		amount /= 2
	}
	end := rapid.SampledFrom([]lyceum.Opt[bool]{{}, {}, {}, some(true), some(false)}).Draw(m.r, "end access")
	q := sales.Refund{Transaction: d.transaction, Amount: some(amount), EndAccess: end}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewRefund(t.Context(), m.b.by(), q, firstPage) })
	_, err := m.b.service.Refund(t.Context(), m.b.by(), q)
	if allowed := amount > 0 && d.bank != lyceum.DisputeOpen && d.bank != lyceum.DisputeLost; (err == nil) != allowed {
		m.r.Fatalf("refund of %d of %+v: %v", amount, d, err)
	}
	if err == nil {
		d.back += amount
		switch full := d.back == d.paid; {
		case full && !end.Present || end.Value:
			if full {
				m.reopen(d)
			}
			m.over(d, lyceum.SaleRefunded, m.b.now)
		case full: // it buys no time any more
			d.until = time.Time{}
		}
	}
	m.happened("refund", said, err, was)
}

// void ends a sale by hand.
func (m *union) void(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) {
		return m.b.service.PreviewEndNow(t.Context(), m.b.by(), sales.Ending{Sale: d.id}, firstPage)
	})
	_, err := m.b.service.EndNow(t.Context(), m.b.by(), sales.Ending{Sale: d.id})
	if (err == nil) != (d.over == "") {
		m.r.Fatalf("end %+v: %v", d, err)
	}
	if err == nil {
		m.over(d, lyceum.SaleVoided, m.b.now)
	}
	m.happened("end", said, err, was)
}

// bank opens a dispute, closes it, or wins what was lost.
func (m *union) bank(t *testing.T) {
	d := m.pick()
	if d == nil || d.paid == 0 || d.back == d.paid {
		return
	}
	ctx, by := t.Context(), m.b.by()
	was := m.spans()
	switch d.bank {
	case lyceum.DisputeOpen:
		d.bank = rapid.SampledFrom([]lyceum.DisputeState{lyceum.DisputeWon, lyceum.DisputeLost}).Draw(m.r, "outcome")
		q := sales.Outcome{Transaction: d.transaction, State: d.bank}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewCloseChargeback(ctx, by, q, firstPage) })
		if _, err := m.b.service.CloseChargeback(ctx, by, q); err != nil {
			m.r.Fatal(err)
		}
		if d.bank == lyceum.DisputeLost {
			m.over(d, lyceum.SaleChargedBack, m.b.now)
		}
		m.happened("close chargeback", said, nil, was)
	case lyceum.DisputeLost:
		q := sales.DisputeOutcome{Dispute: d.dispute, State: lyceum.DisputeWon}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewCloseDispute(ctx, by, q, firstPage) })
		if _, err := m.b.service.CloseDispute(ctx, by, q); err != nil {
			m.r.Fatal(err)
		}
		if d.bank = lyceum.DisputeWon; d.over == lyceum.SaleChargedBack {
			d.over = ""
		}
		for _, x := range m.reasons {
			if x.sale == d.id && x.ended == lyceum.EndedByChargeback {
				x.ended = ""
			}
		}
		if next := d.replacedBy; next != nil && next.over == lyceum.SaleRefunded && next.paid > 0 && next.back == next.paid {
			m.reopen(next)
		}
		m.happened("win dispute", said, nil, was)
	default:
		q := sales.NewDispute{Transaction: d.transaction}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewOpenDispute(ctx, by, q, firstPage) })
		opened, err := m.b.service.OpenDispute(ctx, by, q)
		if err != nil {
			m.r.Fatal(err)
		}
		d.bank, d.dispute = lyceum.DisputeOpen, opened.ID
		m.happened("open dispute", said, nil, was)
	}
}

func (m *union) cancel(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) {
		return m.b.service.PreviewCancel(t.Context(), m.b.by(), sales.Ending{Sale: d.id}, firstPage)
	})
	_, err := m.b.service.Cancel(t.Context(), m.b.by(), sales.Ending{Sale: d.id})
	if allowed := d.recurring() && d.over == ""; (err == nil) != allowed {
		m.r.Fatalf("cancel %+v: %v", d, err)
	}
	if err == nil {
		m.over(d, lyceum.SaleCanceled, d.until)
	}
	m.happened("cancel", said, err, was)
}
