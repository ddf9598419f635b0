package sales_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// begin sets the school's time zone and its policy.
func (m *union) begin(t *testing.T) {
	name := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"}).Draw(m.r, "zone")
	zone, err := time.LoadLocation(name)
	if err != nil {
		m.r.Fatal(err)
	}
	m.zone, m.policy = zone, lyceum.DefaultSalePolicy()
	m.configure(t)
}

func (m *union) configure(t *testing.T) {
	if err := m.b.configure(t.Context(), m.policy, lyceum.TimeZone(m.zone.String())); err != nil {
		m.r.Fatal(err)
	}
}

// choose changes what happens when sales end.
func (m *union) choose(t *testing.T) {
	end := []lyceum.Consequence{lyceum.Unenroll, lyceum.Unenroll, lyceum.Keep}
	switch rapid.IntRange(0, 4).Draw(m.r, "choice") {
	case 0:
		m.policy.OnRefund = rapid.SampledFrom(end).Draw(m.r, "on refund")
	case 1:
		m.policy.OnChargeback = rapid.SampledFrom(end).Draw(m.r, "on chargeback")
	case 2:
		m.policy.OnCancellation = rapid.SampledFrom(append(end, lyceum.AtPeriodEnd, lyceum.AtPeriodEnd)).Draw(m.r, "on cancellation")
	case 3:
		m.policy.OnLapse = rapid.SampledFrom([]lyceum.Consequence{lyceum.EndSale, lyceum.Keep}).Draw(m.r, "on lapse")
	case 4:
		m.policy.GraceDays = int32(rapid.IntRange(0, lyceum.MaxGraceDays).Draw(m.r, "grace"))
	}
	m.configure(t)
}

// restart creates new services, which only have what the store remembers.
func (m *union) restart() {
	b := m.b
	clock := func() time.Time { return b.now }
	b.learning = learning.New(b.store, clock)
	b.service = sales.New(b.store, clock, b.learning, people.New(b.store, clock))
}

// move moves the clock to or near a time when something is due for a sale.
func (m *union) move() {
	d := m.pickRunning()
	if d == nil || d.until.IsZero() {
		return
	}
	due := d.until
	if rapid.Bool().Draw(m.r, "grace") {
		due = d.graceFrom().Add(time.Duration(m.policy.GraceDays) * 24 * time.Hour)
	}
	away := rapid.SampledFrom([]time.Duration{0, -time.Second, time.Second, -20 * time.Hour, 24 * time.Hour, 25 * time.Hour}).Draw(m.r, "away")
	if to := due.Add(away); to.After(m.b.now) && to.Before(m.b.now.AddDate(0, 3, 0)) {
		m.b.now = to
		m.note()
		m.seen["moves to where something is due"]++
	}
}

// turn does what is due, like the scheduler: changes of plan, the stops of canceled sales, and
// lapses.
func (m *union) turn(t *testing.T) {
	m.noteUpdates()
	m.b.lapse(t)
	for _, d := range slices.Clone(m.deals) {
		if !d.stopsAt.IsZero() {
			d.stop(d.stopsAt, m.b.now)
		}
		switch {
		case d.next == 0 || d.until.After(m.b.now):
		case d.full:
			m.seen["changes of plan dropped by the last payment"]++
			d.next = 0
		default:
			m.follow(t, d)
		}
	}
	m.note()
	m.lapseAll()
}

// noteUpdates records when each sale was last changed.
func (m *union) noteUpdates() {
	v := m.b.store.In(m.r.Context(), m.b.school)
	err := v.Sales.Each(v, lyceum.SaleFilter{}, func(sale *lyceum.Sale) error {
		for _, d := range m.deals {
			if d.id == sale.ID {
				d.updated = sale.UpdatedAt
			}
		}
		return nil
	})
	if err != nil {
		m.r.Fatal(err)
	}
}

// follow records the sale that follows one whose plan changed by itself. It follows immediately
// if nothing is paid for any more, or if it is paid for before.
func (m *union) follow(t *testing.T, d *deal) *deal {
	since := d.until
	if since.IsZero() || since.After(m.b.now) {
		since = m.b.now
	}
	plan := d.next
	kept := m.b.show(t, d.id)
	fresh := m.b.show(t, kept.ReplacedBy.Value)
	if kept.EndedAt != some(since) || fresh.PricingPlanID != some(plan) || fresh.Replaces != some(d.id) || !fresh.CreatedAt.Equal(m.b.now) {
		m.r.Fatalf("due %v: %+v, followed by %+v", since, kept.Sale, fresh.Sale)
	}
	if since.Before(d.until) {
		m.seen["changes of plan by early payments"]++
	}
	fresh.CreatedAt, fresh.Transactions = since, nil // access continues from there
	m.seen["changes of plan by themselves"]++
	next := m.sold(fresh)
	next.updated = m.b.now
	next.begins = since
	if d.until.After(since) { // paid a little early: the billing day stays the same
		next.begins = d.until
	}
	next.until, next.anchor = next.begins, next.begins
	if m.after(next.months, d.anchor, next.begins.Add(-time.Second)).Equal(next.begins) { // its periods end on the same days
		next.anchor = d.anchor
	}
	d.replacedBy, next.replaces = next, d
	m.over(d, lyceum.SaleChanged, m.b.now)
	d.ended = since
	return next
}

// lapseAll ends the sales that lapse. That is announced for a day after it was due, and after
// the sale last changed.
func (m *union) lapseAll() {
	byDue := slices.SortedFunc(slices.Values(m.deals), func(a, b *deal) int { return a.graceFrom().Compare(b.graceFrom()) })
	for _, d := range byDue {
		if !m.lapses(d) {
			continue
		}
		told := d.told
		m.lapse(d)
		if m.b.now.Sub(d.ended) > 24*time.Hour && m.b.now.Sub(d.updated) > 24*time.Hour {
			m.seen["lapses older than a day"]++
			d.told = told
			m.silently = true
		}
		m.note()
		m.silently = false
	}
}

// lapses reports whether a sale was not paid for before its grace was over, and the school's
// policy ends it then.
func (m *union) lapses(d *deal) bool {
	return m.policy.OnLapse == lyceum.EndSale && d.recurring() && !d.billed.IsZero() && d.over == "" && d.next == 0 &&
		!d.full && !d.until.IsZero() && !m.lapseDay(d).After(m.b.now)
}

func (m *union) lapseDay(d *deal) time.Time {
	return d.graceFrom().Add(time.Duration(m.policy.GraceDays) * 24 * time.Hour)
}

func (m *union) lapse(d *deal) {
	due := m.lapseDay(d)
	m.seen["lapses"]++
	m.over(d, lyceum.SaleLapsed, m.b.now)
	d.ended = due
}

// returned ends a sale that lapses because of a payment that was returned, or was returned and
// came back.
func (m *union) returned(d *deal) {
	if m.lapses(d) {
		m.seen["lapses by returned payments"]++
		m.lapse(d)
	}
}
