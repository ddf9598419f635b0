package sales_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// fail records that an attempt to charge a sale failed.
func (m *union) fail(t *testing.T) {
	d := m.pickRunning()
	if d == nil {
		return
	}
	n, at := sales.NewFailure{Sale: d.id}, lyceum.Second(m.b.now)
	if rapid.Bool().Draw(m.r, "once more") {
		n.NextAttemptAt = some(at.AddDate(0, 0, 3))
	}
	if rapid.IntRange(0, 3).Draw(m.r, "told late") == 0 {
		at = at.AddDate(0, 0, -rapid.IntRange(1, 70).Draw(m.r, "days late"))
		n.OccurredAt = some(at)
	}
	_, err := m.b.service.FailPayment(t.Context(), m.b.by(), n)
	if allowed := d.recurring() && d.over == "" && !d.full; (err == nil) != allowed {
		m.r.Fatalf("a failure of %+v: %v", d, err)
	}
	if err != nil {
		return
	}
	m.seen["failed payments"]++
	if at.After(d.failed) {
		d.failed = at
	}
	if d.bill(m.b.now); !d.known {
		m.count(d)
	}
	if d.billed.After(d.until) {
		m.seen["failed payments that begin a grace"]++
	}
}

// bill makes the sale billed here from now on, unless it is already.
func (d *deal) bill(now time.Time) {
	if d.billed.IsZero() {
		d.billed = lyceum.Second(now)
	}
}

// graceFrom returns when the grace of a sale that is billed here starts: when it is due, or
// when it was first billed here, if it was due before that.
func (d *deal) graceFrom() time.Time {
	if d.billed.After(d.until) {
		return d.billed
	}
	return d.until
}

// failing reports whether an attempt to charge the sale has failed since it was last paid.
func (d *deal) failing() bool {
	return !d.failed.IsZero() && !slices.ContainsFunc(d.payments, func(p *installment) bool { return !p.at.Before(d.failed) })
}

// status returns the expected status of a sale.
func (m *union) status(d *deal) lyceum.Opt[sales.SaleStatus] {
	now := *d
	if !d.known {
		m.count(&now)
	}
	switch {
	case d.over == lyceum.SaleCanceled && d.stopsAt.After(m.b.now):
		return some(sales.Canceled)
	case d.over != "":
		return some(sales.Ended)
	case now.full:
		return some(sales.PaidInFull)
	case d.failing(), !now.until.IsZero() && !now.until.After(m.b.now):
		return some(sales.PastDue)
	case d.recurring() && d.known && d.anchor.After(m.b.now) && len(d.payments) > 0 && d.payments[0].paid == 0:
		return some(sales.Trialing)
	case d.recurring() && (d.known || !now.until.IsZero()):
		return some(sales.Active)
	}
	return lyceum.None[sales.SaleStatus]()
}

// compareStatus compares a sale's status and lapse with the model.
func (m *union) compareStatus(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	s := m.b.show(t, d.id)
	if want := m.status(d); s.Status != want {
		m.r.Fatalf("%+v is %v, the model says %v: %+v", d, s.Status, want, s.Sale)
	} else if want.Present {
		m.seen["shown as "+string(want.Value)]++
	}
	lapses := time.Time{}
	if !d.billed.IsZero() && d.over == "" && d.next == 0 && !d.until.IsZero() && m.policy.OnLapse == lyceum.EndSale {
		lapses = d.graceFrom().Add(time.Duration(m.policy.GraceDays) * 24 * time.Hour)
	}
	if !s.LapsesAt.Value.Equal(lapses) {
		m.r.Fatalf("%+v lapses %v, the model says %v", d, s.LapsesAt.Value, lapses)
	}
}
