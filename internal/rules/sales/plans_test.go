package sales_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Plans of the tiers of newClub.
const (
	silver   lyceum.PricingPlanID = 21 // monthly, tier 2: course 1
	gold     lyceum.PricingPlanID = 22 // monthly, tier 1: courses 1 and 2
	goldYear lyceum.PricingPlanID = 23 // yearly, tier 1
	goldEver lyceum.PricingPlanID = 24 // once, tier 1
	freebie  lyceum.PricingPlanID = 25 // free, tier 2
	other    lyceum.PricingPlanID = 26 // monthly, tier 3, of another membership
	oldGold  lyceum.PricingPlanID = 27 // monthly, tier 1, archived
)

// newClub returns a school of books with a membership of two tiers, and another with one tier.
func newClub(t *testing.T, store lyceum.Store) *books {
	t.Helper()
	b := openBooks(t, store)
	month, year, one := lyceum.Some("month"), lyceum.Some("year"), lyceum.Some(int32(1))
	tier := func(id int32) lyceum.Opt[lyceum.Product] {
		return lyceum.Some(lyceum.Product{Kind: lyceum.TierKind, ID: id})
	}
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		_, e1 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club"}, lyceum.Membership{ID: 2, Name: "Choir"})
		_, e2 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1},
			lyceum.MembershipTier{ID: 2, MembershipID: 1, Name: "Silver", Position: 2},
			lyceum.MembershipTier{ID: 3, MembershipID: 2, Name: "Alto", Position: 1})
		_, e3 := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product()},
			lyceum.TierProduct{ID: 2, In: 1, Product: lyceum.CourseID(2).Product()},
			lyceum.TierProduct{ID: 3, In: 2, Product: lyceum.CourseID(1).Product()})
		plan := func(id lyceum.PricingPlanID, tierID int32, price lyceum.Minor, f lyceum.Frequency, interval lyceum.Opt[string]) lyceum.PricingPlan {
			p := lyceum.PricingPlan{ID: id, Other: tier(tierID), Name: "Tier", Price: price, Currency: "USD", Frequency: f, BillingInterval: interval}
			if interval.Present {
				p.BillingIntervalCount = one
			}
			return p
		}
		archived := plan(oldGold, 1, 800, lyceum.Subscription, month)
		archived.Published = lyceum.Some(false)
		_, e4 := tx.PricingPlans.Save(tx, plan(silver, 2, 500, lyceum.Subscription, month), plan(gold, 1, 900, lyceum.Subscription, month),
			plan(goldYear, 1, 9000, lyceum.Subscription, year), plan(goldEver, 1, 20000, lyceum.OneTimePayment, lyceum.None[string]()),
			plan(freebie, 2, 0, lyceum.Free, lyceum.None[string]()), plan(other, 3, 500, lyceum.Subscription, month), archived)
		return errors.Join(e1, e2, e3, e4)
	})
	return b
}

// change makes a change of plan that must succeed.
func (b *books) change(t *testing.T, c sales.PlanChange) sales.SaleDetail {
	t.Helper()
	d, err := b.service.ChangePlan(t.Context(), b.by(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func to(sale lyceum.SaleID, plan lyceum.PricingPlanID, reference string) sales.PlanChange {
	c := sales.PlanChange{Ending: sales.Ending{Sale: sale}, NewSale: sales.NewSale{Plan: plan}}
	if reference != "" {
		c.Reference = some(reference)
	}
	return c
}

func (b *books) pass(days int) { b.now = b.now.AddDate(0, 0, days) }

func (b *books) want(t *testing.T, step string, after int64, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.events(t, after)); diff != "" {
		t.Errorf("%s: events (-want +got):\n%s", step, diff)
	}
}

func (b *books) show(t *testing.T, id lyceum.SaleID) sales.SaleDetail {
	t.Helper()
	d, err := b.service.Show(t.Context(), b.by(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (b *books) endPeriods(t *testing.T) {
	t.Helper()
	if err := b.service.EndPeriods(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
}

func TestAPlanChangesNow(t *testing.T) {
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := newClub(t, store)
			old := b.sell(t, sales.NewSale{User: 1, Plan: silver, Affiliate: some(lyceum.AffiliateID(1))})
			b.pass(10)
			before := b.last(t)
			fresh := b.change(t, to(old.ID, gold, "ch_2"))
			b.want(t, "silver to gold", before, "Sale.created 2", "Transaction.created 2", "Enrollment.created 2", "Sale.subscription_canceled 1")
			if diff := cmp.Diff([]string{"course 1", "course 2"}, b.access(t, 1)); diff != "" {
				t.Errorf("course 1 goes on (-want +got):\n%s", diff)
			}
			if fresh.Replaces != some(old.ID) || fresh.FinalPrice != some(lyceum.Minor(900)) || len(fresh.Warnings) > 0 ||
				fresh.AffiliateID != some(lyceum.AffiliateID(1)) {
				t.Errorf("%+v", fresh)
			}
			if s := b.show(t, old.ID); s.EndReason != some(lyceum.SaleChanged) || s.ReplacedBy != some(fresh.ID) || s.EndedAt != some(b.now) {
				t.Errorf("%+v", s.Sale)
			}
			before = b.last(t)
			if again := b.change(t, to(old.ID, gold, "ch_2")); again.ID != fresh.ID || b.last(t) != before {
				t.Errorf("the same payment again: sale %d", again.ID)
			}
			for _, wrong := range []sales.PlanChange{to(old.ID, goldYear, "ch_2"), to(fresh.ID, gold, "ch_2"), to(old.ID, gold, "CH_2")} {
				if _, err := b.service.ChangePlan(t.Context(), b.by(), wrong); lyceum.Public(err).Code != "reference_taken" {
					t.Errorf("%+v: %v", wrong, err)
				}
			}
			if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: old.ID}); !strings.Contains(fmt.Sprint(err), "sale 1 has ended: changed, and sale 2 followed") {
				t.Errorf("a renewal of what was changed: %v", err)
			}
			if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: fresh.Transactions[0].ID, Amount: some(lyceum.Minor(100))}); err != nil {
				t.Fatal(err)
			}
			if s := b.show(t, old.ID); !s.EndedAt.Present {
				t.Error("a part opens the old sale")
			}
			before = b.last(t)
			if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: fresh.Transactions[0].ID}); err != nil {
				t.Fatal(err)
			}
			b.want(t, "gold refunded", before, "Transaction.refunded 2", "Sale.subscription_canceled 2", "Enrollment.disabled 2")
			if s := b.show(t, old.ID); s.EndedAt.Present || s.EndReason.Present || s.ReplacedBy.Present {
				t.Errorf("it is not open again: %+v", s.Sale)
			}
			if diff := cmp.Diff([]string{"course 1", "course 2 ended 2026-02-10"}, b.access(t, 1)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			before = b.last(t)
			if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: old.ID}); err != nil {
				t.Fatal(err)
			}
			b.pass(40)
			b.endPeriods(t)
			b.want(t, "once for a sale", before)
			b.healthy(t, b.store)
		})
	}
}

// TestAReplacedSaleStaysEnded checks which acts on the new sale reopen the old one.
func TestAReplacedSaleStaysEnded(t *testing.T) {
	refund := func(t *testing.T, b *books, r sales.Refund) {
		t.Helper()
		if _, err := b.service.Refund(t.Context(), b.by(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		act  func(*testing.T, *books, sales.SaleDetail)
		open bool
	}{
		{"refunded in full", func(t *testing.T, b *books, d sales.SaleDetail) {
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, true},
		{"first access, then the rest of the money", func(t *testing.T, b *books, d sales.SaleDetail) {
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID, Amount: some(lyceum.Minor(1)), EndAccess: some(true)})
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, true},
		{"when its own period is over", func(t *testing.T, b *books, d sales.SaleDetail) {
			b.pass(40)
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, false},
		{"when its own payment went back", func(t *testing.T, b *books, d sales.SaleDetail) {
			refund(t, b, sales.Refund{Transaction: 1})
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, false},
		{"access is kept", func(t *testing.T, b *books, d sales.SaleDetail) {
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID, EndAccess: some(false)})
		}, false},
		{"cancelled before", func(t *testing.T, b *books, d sales.SaleDetail) {
			if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: d.ID}); err != nil {
				t.Fatal(err)
			}
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, false},
		{"lost to the bank", func(t *testing.T, b *books, d sales.SaleDetail) {
			n, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: d.Transactions[0].ID})
			if err == nil {
				_, err = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: n.ID, State: lyceum.DisputeLost})
			}
			if err != nil {
				t.Fatal(err)
			}
		}, false},
		{"changed once more", func(t *testing.T, b *books, d sales.SaleDetail) {
			b.change(t, to(d.ID, goldYear, ""))
			refund(t, b, sales.Refund{Transaction: d.Transactions[0].ID})
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newClub(t, openStore(t))
			old := b.sell(t, sales.NewSale{User: 1, Plan: silver})
			tc.act(t, b, b.change(t, to(old.ID, gold, "")))
			if s := b.show(t, old.ID); s.EndedAt.Present == tc.open || (s.EndReason == some(lyceum.SaleChanged)) == tc.open {
				t.Errorf("open is not %v: %+v", tc.open, s.Sale)
			}
			b.healthy(t, b.store)
		})
	}
}

func TestAPlanChangesAtPeriodEnd(t *testing.T) {
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := newClub(t, store)
			if err := b.learning.Expire(t.Context(), b.school); err != nil { // start announcing
				t.Fatal(err)
			}
			old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
			until := old.PaidUntil.Value
			before := b.last(t)
			c := to(old.ID, goldYear, "")
			c.AtPeriodEnd = true
			b.change(t, c)
			c.Plan = silver
			if s := b.change(t, c); s.ID != old.ID || s.NextPlan != some(silver) || s.EndedAt.Present {
				t.Errorf("%+v", s.Sale)
			}
			b.want(t, "nothing happens yet", before)
			if err := b.service.DropChange(t.Context(), b.by(), old.ID); err != nil || b.show(t, old.ID).NextPlan.Present {
				t.Errorf("taken back: %+v, %v", b.show(t, old.ID), err)
			}
			b.change(t, c)
			b.now = until.Add(-time.Second)
			if overdue, err := b.store.FindOverdue(t.Context(), b.now); err != nil || slices.Contains(overdue, b.school) {
				t.Errorf("overdue: %v, %v", overdue, err)
			}
			b.endPeriods(t)
			b.want(t, "nor a second before", before)

			b.now = until.AddDate(0, 0, 5) // no server was running
			if overdue, err := b.store.FindOverdue(t.Context(), b.now); err != nil || !slices.Contains(overdue, b.school) {
				t.Errorf("not overdue: %v, %v", overdue, err)
			}
			b.endPeriods(t)
			b.want(t, "due", before, "Sale.created 2", "Sale.subscription_canceled 1", "Enrollment.disabled 2")
			if overdue, err := b.store.FindOverdue(t.Context(), b.now); err != nil || slices.Contains(overdue, b.school) {
				t.Errorf("still overdue: %v, %v", overdue, err)
			}
			fresh := b.show(t, 2)
			if s := b.show(t, old.ID); s.EndedAt != some(until) || s.EndReason != some(lyceum.SaleChanged) || s.ReplacedBy != some(fresh.ID) || s.NextPlan.Present {
				t.Errorf("%+v", s.Sale)
			}
			if !fresh.CreatedAt.Equal(b.now) || fresh.PaidUntil != some(until) || fresh.Replaces != some(old.ID) || fresh.FinalPrice.Present || len(fresh.Transactions) > 0 {
				t.Errorf("%+v", fresh)
			}
			r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: fresh.ID, Reference: some("ch_2")})
			if err != nil || r.FinalPrice != 500 {
				t.Errorf("%+v, %v", r, err)
			}
			if s := b.show(t, fresh.ID); s.FinalPrice != some(lyceum.Minor(500)) || s.PaidUntil != some(later(old.CreatedAt, 2)) {
				t.Errorf("%+v", s.Sale)
			}
			b.healthy(t, b.store)
		})
	}
}

// TestTheFirstPaymentAfterAComingChange checks that the first payment buys the period in which
// it was made, or the first one of the new plan if it was made at most 24 hours before it, no
// matter when the change was made and the payment recorded.
func TestTheFirstPaymentAfterAComingChange(t *testing.T) {
	const day = 24 * time.Hour
	first, second := [2]string{"02-28", "03-31"}, [2]string{"03-31", "04-30"}
	for _, tc := range []struct {
		name           string
		turned         time.Duration // when the clock made the change, relative to the end of the old period; 0: the payment makes it
		paid, recorded time.Duration // relative to the same moment
		want           [2]string
	}{
		{"a day before", 0, -day, -day, first},
		{"a minute before", 0, -time.Minute, -time.Minute, first},
		{"a minute before, recorded in the last hours of the period", 0, -time.Minute, 31*day - time.Hour, first},
		{"a minute before, after the change was made", time.Second, -time.Minute, time.Hour, first},
		{"an hour later", 0, time.Hour, time.Hour, first},
		{"in the last hours of the period", 0, 31*day - time.Hour, 31*day - time.Hour, first},
		{"in the last hours, after the change was made", time.Second, 31*day - time.Hour, 31*day - time.Hour, first},
		{"in the last hours, before the change was made", 31*day - time.Minute, 31*day - time.Hour, 31*day - time.Second, first},
		{"in the next period", 0, 31*day + time.Hour, 31*day + time.Hour, second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newClub(t, openStore(t)) // on 31 January
			old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
			c := to(old.ID, silver, "")
			c.AtPeriodEnd = true
			b.change(t, c)
			begin := old.PaidUntil.Value
			if tc.turned > 0 {
				b.now = begin.Add(tc.turned)
				b.endPeriods(t)
			}
			b.now = begin.Add(tc.recorded)
			r := sales.Renewal{Sale: old.ID, Reference: some("ch_next")}
			if fresh := b.show(t, old.ID).ReplacedBy; fresh.Present {
				r.Sale = fresh.Value
			}
			r.OccurredAt = some(begin.Add(tc.paid))
			x, err := b.service.Renew(t.Context(), b.by(), r)
			if err != nil {
				t.Fatal(err)
			}
			want := some(sales.PaidPeriod{Start: noon(t, tc.want[0]).Value, End: noon(t, tc.want[1]).Value})
			if s := b.show(t, x.SaleID); s.Replaces != some(old.ID) || x.Period != want || s.PaidUntil != some(want.Value.End) {
				t.Errorf("bought %v, paid until %v; want %v", x.Period, s.PaidUntil, want)
			}
			b.healthy(t, b.store)
		})
	}
}

// TestAComingChangeGivesWay checks that a renewal postpones a scheduled change, that an end
// drops it, and that one that can no longer be made needs attention.
func TestAComingChangeGivesWay(t *testing.T) {
	coming := func(t *testing.T) (*books, sales.SaleDetail) {
		t.Helper()
		b := newClub(t, openStore(t))
		old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
		c := to(old.ID, silver, "")
		c.AtPeriodEnd = true
		return b, b.change(t, c)
	}
	t.Run("renewed before", func(t *testing.T) {
		b, old := coming(t)
		if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: old.ID}); err != nil {
			t.Fatal(err)
		}
		b.now = old.PaidUntil.Value.Add(time.Hour)
		b.endPeriods(t)
		if s := b.show(t, old.ID); s.EndedAt.Present || s.NextPlan != some(silver) {
			t.Errorf("%+v", s.Sale)
		}
	})
	for name, early := range map[string]time.Duration{
		"renewed a little early": time.Minute, "renewed before the clock came": -time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			b, old := coming(t)
			b.now = old.PaidUntil.Value.Add(-early)
			due := old.PaidUntil.Value
			if due.After(b.now) {
				due = b.now
			}
			renewal := sales.Renewal{Sale: old.ID, Reference: some("ch_next")}
			for range 2 { // the second delivery returns the first payment
				r, err := b.service.Renew(t.Context(), b.by(), renewal)
				if err != nil || r.SaleID == old.ID || r.PricingPlanID != silver {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			b.endPeriods(t)
			replaced := b.show(t, old.ID)
			fresh := b.show(t, replaced.ReplacedBy.Value)
			if replaced.EndedAt != some(due) || len(fresh.Transactions) != 1 || fresh.Status != some(sales.Active) {
				t.Errorf("%+v, followed by %+v", replaced.Sale, fresh)
			}
			begin := old.PaidUntil.Value // the billing day stays the same
			if p := fresh.Period(fresh.Transactions[0].ID).Value; !p.Start.Equal(begin) || !fresh.PaidUntil.Value.Equal(p.End) || p.End.Day() != old.BillingAnchor.Value.Day() {
				t.Errorf("the first period is %v, paid until %v, and the old one was paid until %v", p, fresh.PaidUntil, begin)
			}
			if err := b.service.DropChange(t.Context(), b.by(), old.ID); lyceum.Public(err).Code != "sale_ended" {
				t.Errorf("dropped too late: %v", err)
			}
			b.healthy(t, b.store)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		b, old := coming(t)
		if s, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: old.ID}); err != nil || s.NextPlan.Present {
			t.Errorf("%+v, %v", s, err)
		}
		b.now = old.PaidUntil.Value.Add(time.Hour)
		b.endPeriods(t)
		if s := b.show(t, old.ID); s.ReplacedBy.Present {
			t.Errorf("%+v", s.Sale)
		}
		b.healthy(t, b.store)
	})
	t.Run("changed now", func(t *testing.T) {
		b, old := coming(t)
		b.change(t, to(old.ID, goldYear, "ch_9"))
		b.now = old.PaidUntil.Value.Add(time.Hour)
		before := b.last(t)
		b.endPeriods(t)
		b.want(t, "nothing is left to do", before)
		b.healthy(t, b.store)
	})
	t.Run("archived by then", func(t *testing.T) {
		b, old := coming(t)
		if _, err := b.learning.ArchivePricingPlan(t.Context(), b.by(), silver); err != nil {
			t.Fatal(err)
		}
		b.now = old.PaidUntil.Value.Add(time.Hour)
		b.endPeriods(t)
		if s := b.show(t, 2); len(s.Warnings) != 1 || s.Warnings[0].Code != "plan_archived" {
			t.Errorf("%+v", s)
		}
		b.healthy(t, b.store)
	})
	t.Run("of another product by then", func(t *testing.T) {
		b, old := coming(t)
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			plan, err := tx.PricingPlans.Get(tx, silver)
			plan.Other = lyceum.Some(lyceum.Product{Kind: lyceum.TierKind, ID: 3})
			return errors.Join(err, tx.PricingPlans.Update(tx, plan))
		})
		b.now = old.PaidUntil.Value.Add(time.Hour)
		b.endPeriods(t)
		s := b.show(t, old.ID)
		if s.EndedAt.Present || s.NextPlan.Present || len(s.Warnings) != 1 || s.Warnings[0].Code != "plan_not_changed" {
			t.Errorf("%+v", s)
		}
		if diff := cmp.Diff([]string{"course 1", "course 2"}, b.access(t, 1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.healthy(t, b.store)
	})
}

func TestWhatPlansCannotChangeTo(t *testing.T) {
	for _, tc := range []struct {
		name       string
		sold       lyceum.PricingPlanID
		change     func(*sales.PlanChange)
		code, says string
	}{
		{"an unknown plan", gold, func(c *sales.PlanChange) { c.Plan = 99 }, "", "pricing_plan_id 99 matches no pricing plan of this school"},
		{"an archived plan", silver, func(c *sales.PlanChange) { c.Plan = oldGold }, "plan_archived", "pricing plan 27 is archived"},
		{"an archived plan, paid", silver, func(c *sales.PlanChange) { c.Plan, c.Reference = oldGold, some("ch_2") }, "", ""},
		{"an archived plan later", silver, func(c *sales.PlanChange) { c.Plan, c.AtPeriodEnd = oldGold, true }, "plan_archived", "pricing plan 27 is archived"},
		{"another kind of product", gold, func(c *sales.PlanChange) { c.Plan = 6 }, "other_product", "pricing plan 6 sells course 1, and sale 1 is of membership tier 1: only another plan of that, or of another tier of its membership, can follow"},
		{"another membership, paid", gold, func(c *sales.PlanChange) { c.Plan, c.Reference = other, some("ch_2") }, "other_product", "pricing plan 26 sells membership tier 3, and"},
		{"the same plan", gold, func(c *sales.PlanChange) { c.Plan = gold }, "same_plan", "sale 1 has pricing plan 22 already"},
		{"of what is paid once", goldEver, func(*sales.PlanChange) {}, "not_recurring", "sale 1 is a single payment"},
		{"of a sale that is not there", gold, func(c *sales.PlanChange) { c.Sale = 9 }, "", "there is no sale 9"},
		{"to what is paid once", gold, func(c *sales.PlanChange) { c.Plan = goldEver }, "", ""},
		{"to what is paid once, later", gold, func(c *sales.PlanChange) { c.Plan, c.AtPeriodEnd = goldEver, true }, "paid_once", "pricing plan 24 is paid once"},
		{"to what is free, later", gold, func(c *sales.PlanChange) { c.Plan, c.AtPeriodEnd = freebie, true }, "", ""},
		{"paid, later", gold, func(c *sales.PlanChange) {
			c.AtPeriodEnd, c.Reference, c.FinalPrice = true, some("ch_2"), some(lyceum.Minor(1))
		}, "", "final_price must not be sent with at_period_end: the payment comes later, as a renewal of the sale that follows; reference must not"},
		{"with a coupon, later", gold, func(c *sales.PlanChange) { c.AtPeriodEnd, c.Coupon = true, some(lyceum.CouponID(1)) }, "", "coupon_id must not be sent with at_period_end"},
		{"another price", gold, func(c *sales.PlanChange) { c.FinalPrice = some(lyceum.Minor(1)) }, "price_differs", "the payment is 0.01, and the price is 5.00 USD"},
		{"a payment that is recorded already", gold, func(c *sales.PlanChange) { c.Reference = some("ch_1") }, "reference_taken", "as transaction 1, with another replaces_sale_id (null), pricing_plan_id (22)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newClub(t, openStore(t))
			old := b.sell(t, sales.NewSale{User: 1, Plan: tc.sold, Reference: some("ch_1")})
			c := to(old.ID, silver, "")
			tc.change(&c)
			before := b.last(t)
			_, err := b.service.ChangePlan(t.Context(), b.by(), c)
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !strings.Contains(fmt.Sprint(err), tc.says) || tc.code != "" && lyceum.Public(err).Code != tc.code {
				t.Errorf("%v, want %s: %s", err, tc.code, tc.says)
			}
			if b.last(t) != before {
				t.Error("something was kept")
			}
		})
	}
	b := newClub(t, openStore(t))
	old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1}); err != nil {
		t.Fatal(err)
	}
	c := to(old.ID, silver, "ch_2")
	if _, err := b.service.ChangePlan(t.Context(), b.by(), c); !strings.Contains(fmt.Sprint(err), "sale 1 has ended: refunded") {
		t.Errorf("of a sale that is refunded: %v", err)
	}
	second := b.sell(t, sales.NewSale{User: 1, Plan: gold})
	b.pass(60)
	c = to(second.ID, silver, "")
	c.AtPeriodEnd = true
	if _, err := b.service.ChangePlan(t.Context(), b.by(), c); lyceum.Public(err).Code != "no_period" {
		t.Errorf("at the end of a period that is over: %v", err)
	}
	if err := b.service.DropChange(t.Context(), b.by(), 99); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("dropped of no sale: %v", err)
	}
}

// TestTwoChangesAtOnce checks that one of several concurrent changes wins and the others are
// rejected.
func TestTwoChangesAtOnce(t *testing.T) {
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := newClub(t, store)
			old := b.sell(t, sales.NewSale{User: 1, Plan: silver})
			var group sync.WaitGroup
			codes := make([]string, 8)
			for i := range codes {
				group.Go(func() {
					_, err := b.service.ChangePlan(t.Context(), b.by(), to(old.ID, []lyceum.PricingPlanID{gold, goldYear}[i%2], fmt.Sprint("ch_", i)))
					codes[i] = lyceum.Public(err).Code
					if err == nil {
						codes[i] = "made"
					}
				})
			}
			group.Wait()
			slices.Sort(codes)
			want := append([]string{"made"}, slices.Repeat([]string{"sale_ended"}, 7)...)
			if diff := cmp.Diff(want, codes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			b.healthy(t, b.store)
		})
	}
}

func TestASecondTierNeedsALook(t *testing.T) {
	b := newClub(t, openStore(t))
	first := b.sell(t, sales.NewSale{User: 1, Plan: silver})
	if _, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 1, Plan: gold}); lyceum.Public(err).Code != "second_tier" ||
		!strings.Contains(err.Error(), "user 1 already has membership tier 2 of the same membership, by sale 1; to replace it, change its plan") {
		t.Errorf("without a reference: %v", err)
	}
	second := b.sell(t, sales.NewSale{User: 1, Plan: gold, Reference: some("ch_2")})
	if len(second.Warnings) != 1 || second.Warnings[0].Code != "second_tier" {
		t.Errorf("%+v", second.Warnings)
	}
	list, err := b.service.Attention(t.Context(), b.by(), false, lyceum.Page{Number: 1, Size: 5})
	if err != nil || len(list.Rows) != 1 || list.Rows[0].Sale.ID != second.ID {
		t.Errorf("%+v, %v", list, err)
	}
	for _, fine := range []sales.NewSale{
		{User: 2, Plan: gold},     // another user
		{User: 1, Plan: other},    // another membership
		{User: 2, Plan: goldYear}, // the same tier again
	} {
		if d := b.sell(t, fine); len(d.Warnings) > 0 {
			t.Errorf("%+v: %+v", fine, d.Warnings)
		}
	}
	if _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: second.ID}); err != nil {
		t.Fatal(err)
	}
	fresh := b.change(t, to(first.ID, gold, ""))
	if len(fresh.Warnings) > 0 {
		t.Errorf("the tier that is left behind does not count: %+v", fresh.Warnings)
	}
	if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: fresh.ID}); err != nil {
		t.Fatal(err)
	}
	if d := b.sell(t, sales.NewSale{User: 1, Plan: silver}); len(d.Warnings) > 0 {
		t.Errorf("nor does one that runs out: %+v", d.Warnings)
	}
	b.healthy(t, b.store)
}
