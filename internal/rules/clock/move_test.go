package clock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// BenchmarkMove moves the clock by 400 days, with monthly subscriptions that began at different
// seconds.
func BenchmarkMove(b *testing.B) {
	const subscriptions = 2000
	for b.Loop() {
		b.StopTimer()
		s := openSandbox(b, openStore(b))
		for range subscriptions {
			s.sell(b, 1, 1)
			s.move(b, clock.Distance{By: lyceum.Some(clock.Span{Count: 7, Unit: "second"})})
		}
		b.StartTimer()
		m := s.move(b, days(400))
		b.ReportMetric(float64(m.Payments), "payments/op")
	}
}

// TestMove checks that everything that becomes due during a move happens at its own time.
func TestMove(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		b := openSandbox(t, store)
		monthly, limited, plan := b.sell(t, 1, 1)[0], b.sell(t, 2, 1)[0], b.sell(t, 3, 1)[0]
		order, err := b.sales.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "new@example.com", Plan: 2})
		if err != nil {
			t.Fatal(err)
		}
		m := b.move(t, clock.Distance{To: lyceum.Some(time.Date(2026, 8, 15, 0, 0, 0, 0, time.UTC))})
		if want := begin; m.From != want || m.At != m.To || !b.clock.Now().Equal(m.To) {
			t.Errorf("moved from %v to %v, and is at %v", m.From, m.To, m.At)
		}
		var paid []string
		for _, id := range []lyceum.SaleID{monthly, plan, limited} {
			d, err := b.sales.Show(t.Context(), b.by(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range d.Transactions {
				paid = append(paid, fmt.Sprintf("%d %s", id, p.CreatedAt.Format(time.DateTime)))
			}
		}
		want := []string{
			"1 2026-01-31 12:00:00", "1 2026-02-28 12:00:00", "1 2026-03-31 12:00:00", "1 2026-04-30 12:00:00",
			"1 2026-05-31 12:00:00", "1 2026-06-30 12:00:00", "1 2026-07-31 12:00:00",
			"3 2026-01-31 12:00:00", "3 2026-02-28 12:00:00", "3 2026-03-31 12:00:00",
			"2 2026-01-31 12:00:00",
		}
		if diff := cmp.Diff(want, paid); diff != "" {
			t.Errorf("payments (-want +got):\n%s", diff)
		}
		if m.Payments != 8 || m.FailedPayments != 0 {
			t.Errorf("%d payments, %d failed", m.Payments, m.FailedPayments)
		}
		wantEvents := map[lyceum.EventName]int64{
			lyceum.TransactionCreatedEvent: 8, lyceum.EnrollmentDisabledEvent: 1, lyceum.AbandonedOrderEvent: 1,
		}
		if diff := cmp.Diff(wantEvents, m.Events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if o, err := b.sales.ShowOrder(t.Context(), b.by(), order.ID); err != nil ||
			o.ClosedAt != lyceum.Some(begin.Add(time.Hour)) {
			t.Errorf("the order was closed at %v: %v", o.ClosedAt, err)
		}
		wantInOrder(t, b, begin, m.To)
		if found, err := store.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("check: %v, %v", found, err)
		}
	})
}

// wantInOrder fails unless the entries of the journal are ordered by time and between from and to.
func wantInOrder(t *testing.T, b *sandbox, from, to time.Time) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), b.store, b.school, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.At.Before(from) || e.At.After(to) {
			t.Fatalf("entry %d (%s) is of %v, want from %v to %v", e.Number, e.Type, e.At, from, to)
		}
		from = e.At
	}
}

// wantSameFeed fails unless the journals of two sandboxes are the same.
func wantSameFeed(t *testing.T, a, b *sandbox) {
	t.Helper()
	var feeds [2][]lyceum.Entry
	for i, s := range []*sandbox{a, b} {
		var err error
		if feeds[i], err = storetest.FindEntries(t.Context(), s.store, s.school, 0, 100_000); err != nil {
			t.Fatal(err)
		}
	}
	if len(feeds[0]) == 0 {
		t.Fatal("there are no entries")
	}
	if diff := cmp.Diff(feeds[0], feeds[1]); diff != "" {
		t.Errorf("the journals differ:\n%s", diff)
	}
}

// TestPaymentThatCannotBeRecorded checks that the payments that are due in the same second are made
// all the same.
func TestPaymentThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		b := openSandbox(t, store)
		ids := b.sell(t, 1, 3)
		b.refused = ids[0]
		if m := b.move(t, days(28)); m.Payments != 2 || m.FailedPayments != 0 {
			t.Errorf("%d payments, %d failed: %v", m.Payments, m.FailedPayments, b.log)
		}
		for i, want := range []int{1, 2, 2} {
			d, err := b.sales.Show(t.Context(), b.by(), ids[i])
			if err != nil || len(d.Transactions) != want {
				t.Errorf("sale %d has %d payments, want %d: %v", ids[i], len(d.Transactions), want, err)
			}
		}
	})
}

// TestSameMoves checks that with the same seed the same things happen, however far each move
// goes.
func TestSameMoves(t *testing.T) {
	t.Parallel()
	all, parts := openSandbox(t, openStore(t)), openSandbox(t, openStore(t))
	for _, b := range []*sandbox{all, parts} {
		b.sell(t, 1, 100)
	}
	m := all.move(t, days(400))
	for range 8 {
		parts.move(t, days(50))
	}
	if m.FailedPayments == 0 {
		t.Error("no payment failed")
	}
	wantSameFeed(t, all, parts)
	if diff := cmp.Diff(all.log, parts.log); diff != "" {
		t.Errorf("the payments differ:\n%s", diff)
	}
}
