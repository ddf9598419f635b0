package sales_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestStatus checks the status and lapse of a sale: user 1 buys with a plan on 31 January at
// noon.
func TestStatus(t *testing.T) {
	stores := engines(t)
	type act = func(*testing.T, *books)
	fail := func(n sales.NewFailure) act {
		return func(t *testing.T, b *books) {
			n.Sale = 1
			if _, err := b.service.FailPayment(t.Context(), b.by(), n); err != nil {
				t.Fatal(err)
			}
		}
	}
	renew := func(t *testing.T, b *books) {
		if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1, Amounts: charged(2)}); err != nil {
			t.Fatal(err)
		}
	}
	renewInParts := func(t *testing.T, b *books) { b.renew(t, 1, "") }
	cancel := func(t *testing.T, b *books) {
		if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: 1}); err != nil {
			t.Fatal(err)
		}
	}
	end := func(t *testing.T, b *books) {
		if _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: 1}); err != nil {
			t.Fatal(err)
		}
	}
	at := func(date string) act {
		return func(t *testing.T, b *books) {
			b.now = day(t, date)
			b.lapse(t)
		}
	}
	for _, row := range []struct {
		name   string
		plan   lyceum.PricingPlanID // 0: monthly
		policy func(*lyceum.SalePolicy)
		acts   []act
		want   string // status and lapse
	}{
		{name: "new", want: "active 2026-03-15"},
		{name: "paid once", plan: 1, want: "null null"},
		{name: "paid once, and over", plan: 1, acts: []act{end}, want: "ended null"},
		{name: "a trial", plan: 6, want: "trialing 2026-03-01"},
		{name: "a trial that is over", plan: 6, acts: []act{at("2026-02-20")}, want: "past_due 2026-03-01"},
		{name: "not paid", acts: []act{at("2026-03-01")}, want: "past_due 2026-03-15"},
		{name: "lapsed", acts: []act{at("2026-03-16")}, want: "ended null"},
		{name: "paid after it lapsed", acts: []act{at("2026-03-16"), renew}, want: "active 2026-04-15"},
		{
			name: "the school keeps them", policy: func(p *lyceum.SalePolicy) { p.OnLapse = lyceum.Keep },
			acts: []act{at("2026-03-16")}, want: "past_due null",
		},
		{name: "failed", acts: []act{at("2026-02-27"), fail(sales.NewFailure{})}, want: "past_due 2026-03-15"},
		{name: "failed, and paid", acts: []act{at("2026-02-27"), fail(sales.NewFailure{}), at("2026-02-28"), renew}, want: "active 2026-04-15"},
		{
			name: "paid, and told late of a failure before", want: "active 2026-04-15",
			acts: []act{at("2026-02-28"), renew, fail(sales.NewFailure{OccurredAt: some(day(t, "2026-02-27"))})},
		},
		{
			name: "told late of an earlier failure", want: "past_due 2026-04-15",
			acts: []act{at("2026-02-27"), renew, at("2026-02-28"), fail(sales.NewFailure{}), fail(sales.NewFailure{OccurredAt: some(day(t, "2026-02-20"))})},
		},
		{
			name: "failed, and told late of a payment before", want: "past_due 2026-04-15",
			acts: []act{at("2026-02-27"), fail(sales.NewFailure{}), func(t *testing.T, b *books) {
				r := sales.Renewal{Sale: 1, Reference: some("ch_late"), Amounts: charged(2)}
				r.OccurredAt = some(day(t, "2026-02-20"))
				if _, err := b.service.Renew(t.Context(), b.by(), r); err != nil {
					t.Fatal(err)
				}
			}},
		},
		{name: "failed in the second in which it is paid", acts: []act{at("2026-02-28"), renew, fail(sales.NewFailure{})}, want: "active 2026-04-15"},
		{name: "cancelled", acts: []act{cancel}, want: "canceled null"},
		{name: "cancelled, and used up", acts: []act{cancel, at("2026-03-01")}, want: "ended null"},
		{name: "paid in full", plan: inParts, acts: []act{renewInParts, renewInParts}, want: "paid_in_full null"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for engine, store := range stores {
				b := openBooks(t, store)
				policy := lyceum.DefaultSalePolicy()
				if row.policy != nil {
					row.policy(&policy)
				}
				if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
					t.Fatal(err)
				}
				plan := max(row.plan, 1)
				if row.plan == 0 {
					plan = 2
				}
				if plan == inParts {
					b.sellInParts(t)
				} else {
					b.sell(t, sales.NewSale{User: 1, Plan: plan, Amounts: charged(plan)})
				}
				for _, act := range row.acts {
					act(t, b)
				}
				d, err := b.service.Show(t.Context(), b.by(), 1)
				if err != nil {
					t.Fatal(err)
				}
				lapses := "null"
				if d.LapsesAt.Present {
					lapses = d.LapsesAt.Value.Format(time.DateOnly)
				}
				if got := fmt.Sprint(d.Status.Else("null"), " ", lapses); got != row.want {
					t.Errorf("%s: it is %s, want %s", engine, got, row.want)
				}
				b.healthy(t, store)
			}
		})
	}
}

// day returns noon of a date.
func day(t *testing.T, date string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return moment.Add(12 * time.Hour)
}

// A failure is recorded once, for a sale that more is to be paid for.
func TestFailuresAreRecorded(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)})
		b.now = day(t, "2026-03-01")
		failure := sales.NewFailure{
			Sale: 1, Reason: some("card_declined"), NextAttemptAt: some(day(t, "2026-03-04")), Reference: some("in_1"),
		}
		last := b.last(t)
		want := lyceum.PaymentFailure{
			ID: 1, SaleID: 1, OccurredAt: b.now, Reason: some("card_declined"), NextAttemptAt: some(day(t, "2026-03-04")),
			Reference: some("in_1"),
		}
		for range 2 {
			got, err := b.service.FailPayment(t.Context(), b.by(), failure)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", engine, err, diff)
			}
		}
		if events := b.events(t, last); len(events) > 0 {
			t.Errorf("%s: webhooks are told of %v", engine, events)
		}
		for range 101 {
			if _, err := b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: 1}); err != nil {
				t.Fatal(err)
			}
		}
		d, err := b.service.Show(t.Context(), b.by(), 1)
		if err != nil || len(d.Failures) != 100 || d.Failures[0].ID != 3 || d.Failures[99].ID != 102 {
			t.Errorf("%s: the sale has %d failures, %v", engine, len(d.Failures), err)
		}
		if !slices.Equal(b.access(t, 1), []string{"course 1"}) {
			t.Errorf("%s: access is %v", engine, b.access(t, 1))
		}
		b.now = day(t, "2026-03-15")
		b.lapse(t)
		if _, err := b.service.FailPayment(t.Context(), b.by(), failure); err != nil { // delivered again
			t.Errorf("%s: %v", engine, err)
		}
		_, err = b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: 1})
		if got := lyceum.Public(err); got.Code != "sale_ended" || got.Detail != "sale 1 has ended: lapsed" {
			t.Errorf("%s: %v", engine, got)
		}
		b.healthy(t, store)
	}
}

// An imported sale shows when it is due according to its payments. It can only lapse once a
// failure is recorded here, and its grace starts then.
func TestFailuresOfImportedSales(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.lapse(t) // starting now
		paid := lyceum.Transaction{
			ID: 1, SaleID: 1, UserID: 1, PricingPlanID: 6, CreatedAt: b.now, PurchasedAt: b.now, Paid: true, FinalPrice: 700, Currency: "USD", Charge: 700,
		}
		once := paid
		once.ID, once.SaleID, once.PricingPlanID = 2, 2, 1
		back := paid
		back.ID, back.SaleID, back.RefundedAt, back.AmountRefunded = 3, 3, some(b.now), 700
		if _, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{paid, once, back}); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		var got []string
		show := func(id lyceum.SaleID) {
			d, err := b.service.Show(t.Context(), b.by(), id)
			if err != nil {
				t.Fatal(err)
			}
			due, lapses := "", ""
			if d.PaidUntil.Present {
				due = d.PaidUntil.Value.Format(time.DateOnly)
			}
			if d.LapsesAt.Present {
				lapses = d.LapsesAt.Value.Format(time.DateOnly)
			}
			got = append(got, fmt.Sprint(d.Status.Else(""), " ", due, " ", lapses))
		}
		show(1)
		show(2)
		show(3)
		b.now = day(t, "2026-03-01")
		show(1)
		if _, err := b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: 1}); err != nil {
			t.Fatal(err)
		}
		show(1)
		b.now = day(t, "2026-03-15") // another one does not postpone it
		if _, err := b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: 1}); err != nil {
			t.Fatal(err)
		}
		b.lapse(t)
		show(1)
		b.now = day(t, "2026-03-16")
		b.lapse(t)
		show(1)
		want := []string{"active 2026-02-28 ", "  ", "  ", "past_due 2026-02-28 ", "past_due 2026-02-28 2026-03-16", "past_due 2026-02-28 2026-03-16", "ended 2026-02-28 "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", engine, diff)
		}
		b.healthy(t, store)
	}
}
