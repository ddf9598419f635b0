package sales_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestAPurchaseWithoutAPayment changes a plan at the end of the period, to one that is still to
// be paid or to a free one. The sale that follows is among the buyer's purchases, and somebody
// who is about to be charged cannot be erased.
func TestAPurchaseWithoutAPayment(t *testing.T) {
	for _, next := range []lyceum.PricingPlanID{gold, freebie} {
		for engine, store := range engines(t) {
			b := newClub(t, store)
			b.sell(t, sales.NewSale{User: 2, Plan: 1})
			from := silver
			if next == freebie {
				from = gold
			}
			old := b.sell(t, sales.NewSale{User: 1, Plan: from})
			c := to(old.ID, next, "")
			c.AtPeriodEnd = true
			b.change(t, c)
			b.now = old.PaidUntil.Value
			b.endPeriods(t)
			fresh := b.show(t, old.ID).ReplacedBy.Value
			learner := b.by()
			learner.Learner = some(lyceum.UserID(1))
			var got, own []lyceum.SaleID
			for _, active := range []lyceum.Opt[bool]{{}, some(true), some(false)} {
				of := lyceum.PurchaseFilter{User: some(lyceum.UserID(1)), Active: active}
				all, err := b.service.PurchasesOf(t.Context(), b.by(), of, firstPage)
				if err != nil || all.Total != int64(len(all.Rows)) {
					t.Fatal(engine, all.Total, err)
				}
				for i := range all.Rows {
					got = append(got, all.Rows[i].ID)
				}
			}
			mine, err := b.service.OwnPurchases(t.Context(), learner, lyceum.PurchaseFilter{}, firstPage)
			if err != nil {
				t.Fatal(engine, err)
			}
			for i := range mine.Rows {
				own = append(own, mine.Rows[i].ID)
			}
			both := []lyceum.SaleID{fresh, old.ID}
			if diff := cmp.Diff(slices.Concat(both, both), got); diff != "" {
				t.Errorf("%s, plan %d: purchases, active ones, others (-want +got):\n%s", engine, next, diff)
			}
			if diff := cmp.Diff(both, own); diff != "" {
				t.Errorf("%s, plan %d: the buyer sees (-want +got):\n%s", engine, next, diff)
			}
			_, err = people.New(store, func() time.Time { return b.now }).Erase(t.Context(), b.by(), 1, people.Doors{
				Close: b.learning.Close,
				Left:  func(lyceum.SchoolID, string) {},
			})
			if refused := lyceum.KindOf(err) == lyceum.Invalid; refused != (next == gold) || !refused && err != nil {
				t.Errorf("%s, plan %d: erased: %v", engine, next, err)
			}
		}
	}
}

// TestAPaymentBeforeAFreePlan checks that a payment is never one of a free plan. Until the change
// it buys another period of the old plan, which postpones the change; after that it buys nothing.
func TestAPaymentBeforeAFreePlan(t *testing.T) {
	for _, tc := range []struct {
		name           string
		paid, recorded time.Duration // relative to the end of the period
		reference      string
		code           string // with which it is refused
		buys           bool
	}{
		{"an hour before", -time.Hour, -time.Hour, "ch_2", "", true},
		{"an hour before, without a reference", -time.Hour, -time.Hour, "", "", true},
		{"an hour before, recorded after it", -time.Hour, time.Hour, "ch_2", "", true},
		{"an hour after", time.Hour, time.Hour, "ch_2", "", false},
		{"an hour after, without a reference", time.Hour, time.Hour, "", "sale_ended", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newClub(t, openStore(t))
			old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
			c := to(old.ID, freebie, "")
			c.AtPeriodEnd = true
			b.change(t, c)
			until := old.PaidUntil.Value
			b.now = until.Add(tc.recorded)
			r := sales.Renewal{Sale: old.ID}
			if tc.reference != "" {
				r.Reference, r.OccurredAt = some(tc.reference), some(until.Add(tc.paid))
			}
			x, err := b.service.Renew(t.Context(), b.by(), r)
			if tc.code != "" {
				if lyceum.Public(err).Code != tc.code {
					t.Errorf("recorded: %v", err)
				}
				return
			}
			if err != nil || x.SaleID != old.ID || x.FinalPrice != 900 || x.Period.Present != tc.buys {
				t.Fatalf("%+v, %v", x, err)
			}
			b.endPeriods(t)
			s := b.show(t, old.ID)
			if s.EndedAt.Present == tc.buys || s.ReplacedBy.Present == tc.buys || tc.buys == (len(s.Warnings) > 0) {
				t.Errorf("%+v", s)
			}
			want := []string{"course 1", "course 2"}
			if tc.buys {
				b.now = s.PaidUntil.Value
				if b.endPeriods(t); !b.now.Equal(later(old.CreatedAt, 2)) {
					t.Errorf("paid until %v", b.now)
				}
			}
			want[1] += " ended " + b.now.Format(time.DateOnly)
			if !tc.buys {
				want[1] = "course 2 ended " + until.Format(time.DateOnly)
			}
			if diff := cmp.Diff(want, b.access(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if fresh := b.show(t, b.show(t, old.ID).ReplacedBy.Value); fresh.PricingPlanID != some(freebie) || len(fresh.Transactions) > 0 {
				t.Errorf("%+v", fresh)
			}
			b.healthy(t, b.store)
		})
	}
}

// TestRefundsOfFollowersInAnyOrder changes a plan twice and refunds both sales that followed.
// The first one, which is still paid for, opens again with the second refund, as the preview
// says.
func TestRefundsOfFollowersInAnyOrder(t *testing.T) {
	for engine, store := range engines(t) {
		for _, order := range [][]int{{1, 2}, {2, 1}} {
			b := openBooks(t, store)
			chain := []sales.SaleDetail{b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)})}
			for _, plan := range []lyceum.PricingPlanID{6, 2} {
				b.now = b.now.AddDate(0, 0, 3)
				d, err := b.service.ChangePlan(t.Context(), b.by(), sales.PlanChange{
					NewSale: sales.NewSale{Plan: plan, Amounts: sales.Amounts{Charge: charged(plan).Charge}},
					Ending:  sales.Ending{Sale: chain[len(chain)-1].ID},
				})
				if err != nil {
					t.Fatal(engine, err)
				}
				chain = append(chain, d)
			}
			last := sales.Refund{Transaction: chain[order[1]].Transactions[0].ID}
			_, e1 := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: chain[order[0]].Transactions[0].ID})
			p, e2 := b.service.PreviewRefund(t.Context(), b.by(), last, firstPage)
			_, e3 := b.service.Refund(t.Context(), b.by(), last)
			if err := errors.Join(e1, e2, e3); err != nil {
				t.Fatal(engine, err)
			}
			if p.Reopens != some(chain[0].ID) || p.People.Losing > 0 {
				t.Errorf("%s, refunds of %v: the preview reopens %v, and %+v", engine, order, p.Reopens, p.People)
			}
			if first := b.show(t, chain[0].ID); first.EndedAt.Present || !slices.Equal(b.open(t, 1), []string{"course 1"}) {
				t.Errorf("%s, refunds of %v: the first sale %v, and the buyer has %q", engine, order, first.EndReason, b.open(t, 1))
			}
			b.healthy(t, store)
		}
	}
}
