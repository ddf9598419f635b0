package sales_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestLapses checks lapses: user 1 buys with a plan on 31 January at noon.
func TestLapses(t *testing.T) {
	stores := engines(t)
	at := func(text string) time.Time {
		moment, err := time.Parse(time.DateTime, "2026-"+text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	renew := func(when string) func(*testing.T, *books) {
		return func(t *testing.T, b *books) {
			b.now = at(when)
			if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1, Amounts: charged(2)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name   string
		plan   lyceum.PricingPlanID // 0: monthly
		policy func(*lyceum.SalePolicy)
		acts   []func(*testing.T, *books)
		noted  string // when what is due is processed
		end    string // of the sale: reason and date
		access []string
		events []string // of what is noted
	}{
		{name: "a second before the grace is over", noted: "03-15 11:59:59", access: []string{"course 1"}},
		{
			name: "when the grace is over", noted: "03-15 12:00:00", end: "lapsed 2026-03-15", access: []string{"course 1 ended 2026-03-15"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "a day later", noted: "03-16 12:00:00", end: "lapsed 2026-03-15", access: []string{"course 1 ended 2026-03-15"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{name: "more than a day later", noted: "03-16 12:00:01", end: "lapsed 2026-03-15", access: []string{"course 1 ended 2026-03-15"}},
		{
			name: "the school keeps them", policy: func(p *lyceum.SalePolicy) { p.OnLapse = lyceum.Keep },
			noted: "12-01 12:00:00", access: []string{"course 1"},
		},
		{
			name: "no grace", policy: func(p *lyceum.SalePolicy) { p.GraceDays = 0 },
			noted: "02-28 12:00:00", end: "lapsed 2026-02-28", access: []string{"course 1 ended 2026-02-28"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "the longest grace", policy: func(p *lyceum.SalePolicy) { p.GraceDays = lyceum.MaxGraceDays },
			noted: "04-29 11:59:59", access: []string{"course 1"},
		},
		{name: "paid in its grace", acts: []func(*testing.T, *books){renew("03-15 11:00:00")}, noted: "04-15 11:59:59", access: []string{"course 1"}},
		{
			name: "paid once more", acts: []func(*testing.T, *books){renew("03-15 11:00:00")},
			noted: "04-15 12:00:00", end: "lapsed 2026-04-15", access: []string{"course 1 ended 2026-04-15"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "a trial that nobody paid for", plan: 6, noted: "03-01 12:00:00", end: "lapsed 2026-03-01", access: []string{"course 1 ended 2026-03-01"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{name: "paid once for good", plan: 1, noted: "12-01 12:00:00", access: []string{"course 1"}},
		{
			name: "cancelled", acts: []func(*testing.T, *books){func(t *testing.T, b *books) {
				if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: 1}); err != nil {
					t.Fatal(err)
				}
			}},
			noted: "03-15 12:00:00", end: "canceled 2026-01-31", access: []string{"course 1 until 2026-02-28 ended 2026-02-28"},
			events: []string{"Enrollment.disabled 1", "Sale.subscription_canceled 1"},
		},
		{
			name: "bought a second time", acts: []func(*testing.T, *books){func(t *testing.T, b *books) { b.sell(t, sales.NewSale{User: 1, Plan: 1}) }},
			noted: "03-15 12:00:00", end: "lapsed 2026-03-15", access: []string{"course 1"}, events: []string{"Sale.subscription_canceled 1"},
		},
		{
			name: "also enrolled by hand, for longer", acts: []func(*testing.T, *books){func(t *testing.T, b *books) {
				gift := learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: lyceum.CourseID(1).Product()}, EndsAt: some(at("03-20 12:00:00"))}
				if _, err := b.learning.Give(t.Context(), b.by(), gift); err != nil {
					t.Fatal(err)
				}
			}},
			noted: "04-01 12:00:00", end: "lapsed 2026-03-15", access: []string{"course 1 ended 2026-03-20"},
		},
		{
			name: "paid after it lapsed", acts: []func(*testing.T, *books){func(t *testing.T, b *books) {
				b.now = at("03-15 12:00:00")
				b.lapse(t)
			}, renew("03-20 08:00:00")},
			noted: "04-15 11:59:59", access: []string{"course 1 ended 2026-03-15", "course 1"},
		},
		{
			name: "lapsed again", acts: []func(*testing.T, *books){func(t *testing.T, b *books) {
				b.now = at("03-15 12:00:00")
				b.lapse(t)
			}, renew("03-20 08:00:00")},
			noted: "04-15 12:00:00", end: "lapsed 2026-04-15", access: []string{"course 1 ended 2026-03-15", "course 1 ended 2026-04-15"},
			events: []string{"Enrollment.disabled 2"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for engine, store := range stores {
				b := openBooks(t, store)
				b.lapse(t) // starting now
				policy := lyceum.DefaultSalePolicy()
				if row.policy != nil {
					row.policy(&policy)
				}
				if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
					t.Fatal(err)
				}
				plan := row.plan
				if plan == 0 {
					plan = 2
				}
				b.sell(t, sales.NewSale{User: 1, Plan: plan, Amounts: charged(plan)})
				for _, act := range row.acts {
					act(t, b)
				}
				b.now = at(row.noted)
				last := b.last(t)
				if waits, err := store.FindOverdue(t.Context(), b.now); err != nil || slices.Contains(waits, b.school) != (row.end != "") {
					t.Errorf("%s: overdue: %v, %v", engine, waits, err)
				}
				b.lapse(t)
				events := b.events(t, last)
				b.lapse(t)
				if n := b.last(t); n != last && len(b.events(t, last)) != len(events) {
					t.Errorf("%s: it happens twice", engine)
				}
				d, err := b.service.Show(t.Context(), b.by(), 1)
				if err != nil {
					t.Fatal(err)
				}
				end := ""
				if d.EndedAt.Present {
					end = string(d.EndReason.Value) + " " + d.EndedAt.Value.Format(time.DateOnly)
				}
				if diff := cmp.Diff([]any{row.end, row.access, row.events}, []any{end, b.access(t, 1), events}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", engine, diff)
				}
				b.healthy(t, store)
			}
		})
	}
}

// TestReturnedMoneyMayLapseASale checks money that is returned on 10 April, when the payments
// that are left bought time until the end of February, with a grace until 15 March.
func TestReturnedMoneyMayLapseASale(t *testing.T) {
	on := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC) }
	renewed := func(t *testing.T, b *books) {
		b.now = on(time.February, 28)
		if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1, Amounts: charged(2)}); err != nil {
			t.Fatal(err)
		}
	}
	lost := func(id lyceum.TransactionID) func(*testing.T, *books) {
		return func(t *testing.T, b *books) {
			if id == 2 {
				renewed(t, b)
			}
			b.now = b.now.Add(10 * 24 * time.Hour)
			if _, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	refund := func(r sales.Refund) returning {
		return returning{
			func(b *books) (sales.Preview, error) {
				return b.service.PreviewRefund(t.Context(), b.by(), r, firstPage)
			},
			func(b *books) error {
				_, err := b.service.Refund(t.Context(), b.by(), r)
				return err
			},
		}
	}
	closed := func(state lyceum.DisputeState) returning {
		outcome := sales.DisputeOutcome{Dispute: 1, State: state}
		return returning{
			func(b *books) (sales.Preview, error) {
				return b.service.PreviewCloseDispute(t.Context(), b.by(), outcome, firstPage)
			},
			func(b *books) error {
				_, err := b.service.CloseDispute(t.Context(), b.by(), outcome)
				return err
			},
		}
	}
	for _, row := range []struct {
		name   string
		policy func(*lyceum.SalePolicy)
		before func(*testing.T, *books)
		when   time.Time
		act    returning
		says   string
		ends   bool   // as the preview says
		end    string // of the sale: reason and date
		toStop bool   // at the payment system
		access []string
		events []string
	}{
		{
			name: "a refund", before: renewed, when: on(time.April, 10), act: refund(sales.Refund{Transaction: 2}), says: "course 1 ends",
			ends: true, end: "lapsed 2026-03-15", toStop: true, access: []string{"course 1 ended 2026-03-15"},
			events: []string{"Transaction.refunded 2", "Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "a refund, and nothing charges it any more", before: renewed, when: on(time.April, 10),
			act: refund(sales.Refund{Transaction: 2, ChargingStopped: true}), says: "course 1 ends",
			ends: true, end: "lapsed 2026-03-15", access: []string{"course 1 ended 2026-03-15"},
			events: []string{"Transaction.refunded 2", "Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "a refund in part", before: renewed, when: on(time.April, 10), act: refund(sales.Refund{Transaction: 2, Amount: some(lyceum.Minor(1))}),
			access: []string{"course 1"}, events: []string{"Transaction.refunded 2"},
		},
		{
			name: "a refund in the grace", before: renewed, when: on(time.March, 14), act: refund(sales.Refund{Transaction: 2}),
			access: []string{"course 1"}, events: []string{"Transaction.refunded 2"},
		},
		{
			name: "the school keeps them", policy: func(p *lyceum.SalePolicy) { p.OnLapse = lyceum.Keep },
			before: renewed, when: on(time.April, 10), act: refund(sales.Refund{Transaction: 2}),
			access: []string{"course 1"}, events: []string{"Transaction.refunded 2"},
		},
		{
			name: "a lost dispute of a school that keeps access", policy: func(p *lyceum.SalePolicy) { p.OnChargeback = lyceum.Keep },
			before: lost(2), when: on(time.April, 10), act: closed(lyceum.DisputeLost), says: "course 1 ends",
			ends: true, end: "lapsed 2026-03-15", toStop: true, access: []string{"course 1 ended 2026-03-15"},
			events: []string{"Sale.subscription_canceled 1", "Enrollment.disabled 1"},
		},
		{
			name: "a dispute won after the grace",
			before: func(t *testing.T, b *books) {
				lost(1)(t, b)
				if err := closed(lyceum.DisputeLost).act(b); err != nil {
					t.Fatal(err)
				}
			},
			when: on(time.April, 10), act: closed(lyceum.DisputeWon), end: "lapsed 2026-03-15", toStop: true,
			access: []string{"course 1 ended 2026-02-10", "course 1 ended 2026-03-15"},
			events: []string{"Enrollment.created 2", "Enrollment.disabled 2"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for engine, store := range engines(t) {
				b := openBooks(t, store)
				b.lapse(t) // starting now
				policy := lyceum.DefaultSalePolicy()
				if row.policy != nil {
					row.policy(&policy)
				}
				if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
					t.Fatal(err)
				}
				b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)})
				row.before(t, b)
				b.now = row.when
				last := b.last(t)
				p, err := row.act.preview(b)
				if err != nil || lines(&p.AccessPreview) != row.says || p.EndsSale != row.ends {
					t.Errorf("%s: the preview is %q, ends: %t, %v", engine, lines(&p.AccessPreview), p.EndsSale, err)
				}
				if err := row.act.act(b); err != nil {
					t.Fatal(err)
				}
				events := b.events(t, last)
				b.now = b.now.Add(time.Second)
				last = b.last(t)
				b.lapse(t)
				if n := b.last(t); n != last {
					t.Errorf("%s: the scheduler finds more: %q", engine, b.events(t, last))
				}
				d, err := b.service.Show(t.Context(), b.by(), 1)
				if err != nil {
					t.Fatal(err)
				}
				end := ""
				if d.EndedAt.Present {
					end = string(d.EndReason.Value) + " " + d.EndedAt.Value.Format(time.DateOnly)
				}
				got := []any{end, d.ToStop.Present, b.access(t, 1), events}
				if diff := cmp.Diff([]any{row.end, row.toStop, row.access, row.events}, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", engine, diff)
				}
				b.healthy(t, store)
			}
		})
	}
}

// returning is an act that returns money, and its preview.
type returning struct {
	preview func(*books) (sales.Preview, error)
	act     func(*books) error
}

// lapse does what is due, like the scheduler.
func (b *books) lapse(t *testing.T) {
	t.Helper()
	for _, do := range []func() error{
		func() error { return b.learning.Expire(t.Context(), b.school) },
		func() error { return b.service.EndPeriods(t.Context(), b.school) },
		func() error { return b.service.Lapse(t.Context(), b.school) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
}

// charged returns what a plan is paid with: a price in euros, or nothing for a trial.
func charged(plan lyceum.PricingPlanID) sales.Amounts {
	switch plan {
	case 2:
		return sales.Amounts{Charge: some(lyceum.USDCents(550))}
	case 6:
		return sales.Amounts{FinalPrice: some(lyceum.Minor(0))}
	}
	return sales.Amounts{}
}

// TestImportedSalesDoNotLapse checks that sales that are billed elsewhere do not lapse until
// one of their payments is recorded here.
func TestImportedSalesDoNotLapse(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.lapse(t)
		paid := lyceum.Transaction{
			ID: 1, SaleID: 1, UserID: 1, PricingPlanID: 6, CreatedAt: b.now, PurchasedAt: b.now, Paid: true, FinalPrice: 700, Currency: "USD", Charge: 700,
		}
		bring := func() {
			if _, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{paid}); err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
		}
		bring()
		b.now = b.now.AddDate(3, 0, 0)
		b.lapse(t)
		if d, err := b.service.Show(t.Context(), b.by(), 1); err != nil || d.EndedAt.Present || d.BilledSince.Present {
			t.Errorf("%s: %+v, %v", engine, d.Sale, err)
		}
		if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1}); err != nil {
			t.Fatal(err)
		}
		paid.CreatedAt = paid.CreatedAt.AddDate(0, 0, -1)
		bring() // an imported file does not undo that
		b.now = b.now.AddDate(0, 2, 0)
		b.lapse(t)
		if d, err := b.service.Show(t.Context(), b.by(), 1); err != nil || d.EndReason != some(lyceum.SaleLapsed) {
			t.Errorf("%s: %+v, %v", engine, d.Sale, err)
		}
		b.healthy(t, store)
	}
}

// TestPreviewLapse checks that the immediate effects of a policy are computed by applying it.
func TestPreviewLapse(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.lapse(t)
		policy := lyceum.DefaultSalePolicy()
		policy.OnLapse = lyceum.Keep
		if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
			t.Fatal(err)
		}
		b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)}) // loses access
		b.sell(t, sales.NewSale{User: 2, Plan: 2, Amounts: charged(2)}) // bought it twice by subscription, and once for good
		b.sell(t, sales.NewSale{User: 2, Plan: 2, Amounts: charged(2)})
		b.sell(t, sales.NewSale{User: 2, Plan: 1})
		b.now = b.now.AddDate(0, 0, 40)
		b.sell(t, sales.NewSale{User: 3, Plan: 2, Amounts: charged(2)}) // still in time
		b.now = b.now.AddDate(0, 0, 10)
		b.lapse(t)
		last := b.last(t)
		asked := func(onLapse lyceum.Consequence, days int32, page lyceum.Page) lyceum.AccessPreview {
			policy.OnLapse, policy.GraceDays = onLapse, days
			p, err := b.service.PreviewLapse(t.Context(), b.by(), policy, page)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		first, second := lyceum.Page{Number: 1, Size: 1}, lyceum.Page{Number: 2, Size: 1}
		for _, none := range []lyceum.AccessPreview{asked(lyceum.Keep, 0, first), asked(lyceum.EndSale, 60, first)} {
			if len(none.Ends)+len(none.Products)+len(none.Changes.Rows) > 0 || none.People != (lyceum.AccessCount{}) {
				t.Errorf("%s: %+v, want nothing", engine, none)
			}
		}
		course := lyceum.CourseID(1).Product()
		count := lyceum.AccessCount{Losing: 1, Keeping: 1}
		for page, of := range map[lyceum.Page]struct {
			user   lyceum.UserID
			effect lyceum.AccessEffect
		}{first: {1, lyceum.AccessEnds}, second: {2, lyceum.AccessStays}} {
			got := asked(lyceum.EndSale, 0, page)
			if got.People != count || !slices.Equal(got.Ends, []lyceum.SaleID{1, 2, 3}) || got.Changes.Total != 2 || len(got.Changes.Rows) != 1 ||
				!slices.Equal(got.Products, []lyceum.ProductAccess{{Product: course, AccessCount: count}}) {
				t.Fatalf("%s: %+v", engine, got)
			}
			row := got.Changes.Rows[0]
			if row.User != of.user || row.Effect() != of.effect || got.Users[of.user].ID != of.user || got.Names[course].Name == "" {
				t.Errorf("%s: row %+v of %+v, want %+v", engine, row, got, of)
			}
		}
		if b.last(t) != last {
			t.Errorf("%s: the question changed something", engine)
		}
		if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
			t.Fatal(err)
		}
		b.lapse(t)
		v := b.store.In(t.Context(), b.school)
		all, err := lyceum.All(v.Sales, v, lyceum.SaleFilter{})
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		for i := range all {
			if all[i].EndedAt.Present {
				ended++
			}
		}
		if events := b.events(t, last); ended != 3 || len(events) != 0 {
			t.Errorf("%s: %d sales ended, and %v was announced", engine, ended, events)
		}
		b.healthy(t, store)
	}
}
