package sales_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestADisputedSaleComesBack loses the payment of a sale that changed its plan to a dispute,
// wins it after all, and refunds the sale that followed. The buyer has what the first payment
// bought, whatever the order.
func TestADisputedSaleComesBack(t *testing.T) {
	for engine, store := range engines(t) {
		b := newClub(t, store)
		old := b.sell(t, sales.NewSale{User: 1, Plan: silver})
		paid := old.Transactions[0].ID
		dispute, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: paid})
		if err != nil {
			t.Fatal(err)
		}
		fresh := b.change(t, to(old.ID, gold, "ch_2"))
		closed := func(state lyceum.DisputeState) {
			t.Helper()
			if _, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: dispute.ID, State: state}); err != nil {
				t.Fatal(engine, err)
			}
		}
		closed(lyceum.DisputeLost)
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: fresh.Transactions[0].ID}); err != nil {
			t.Fatal(engine, err)
		}
		if got := b.open(t, 1); len(got) > 0 || !b.show(t, old.ID).EndedAt.Present {
			t.Errorf("%s: nothing is paid, and there is access to %v", engine, got)
		}
		closed(lyceum.DisputeWon)
		if diff := cmp.Diff([]string{"course 1"}, b.open(t, 1)); diff != "" || b.show(t, old.ID).EndedAt.Present {
			t.Errorf("%s: the first payment is back: %+v; access (-want +got):\n%s", engine, b.show(t, old.ID).Sale, diff)
		}
		b.healthy(t, b.store)
	}
}

// TestADisputedSaleComesBackAfterTwoChanges loses the payment of a sale to a dispute, wins it after
// all, and refunds the two sales that followed one after the other. The buyer has what the first
// payment bought, whatever the order.
func TestADisputedSaleComesBackAfterTwoChanges(t *testing.T) {
	for _, order := range [][]int{{1, 2, 0}, {2, 1, 0}, {1, 0, 2}, {0, 1, 2}} { // 0: won, 1 and 2: which follower is refunded
		for engine, store := range engines(t) {
			b := newClub(t, store)
			old := b.sell(t, sales.NewSale{User: 1, Plan: silver})
			d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: old.Transactions[0].ID})
			if err != nil {
				t.Fatal(err)
			}
			second := b.change(t, to(old.ID, gold, "ch_2"))
			third := b.change(t, to(second.ID, goldYear, "ch_3"))
			closed := func(state lyceum.DisputeState) {
				t.Helper()
				if _, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: state}); err != nil {
					t.Fatal(engine, err)
				}
			}
			closed(lyceum.DisputeLost)
			for _, step := range order {
				if step == 0 {
					closed(lyceum.DisputeWon)
					continue
				}
				follower := []sales.SaleDetail{second, third}[step-1]
				if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: follower.Transactions[0].ID}); err != nil {
					t.Fatal(engine, err)
				}
			}
			if diff := cmp.Diff([]string{"course 1"}, b.open(t, 1)); diff != "" || b.show(t, old.ID).EndedAt.Present {
				t.Errorf("%s, %v: %+v; access (-want +got):\n%s", engine, order, b.show(t, old.ID).Sale, diff)
			}
			b.healthy(t, b.store)
		}
	}
}

// open lists the courses that a user has access to.
func (b *books) open(t *testing.T, user lyceum.UserID) []string {
	t.Helper()
	return slices.DeleteFunc(b.access(t, user), func(course string) bool { return strings.Contains(course, "ended") })
}

// TestASeatIsTakenMeanwhile reopens a sale for a plan whose last seat was sold in the meantime.
// It keeps its access, and gets a warning.
func TestASeatIsTakenMeanwhile(t *testing.T) {
	for engine, store := range engines(t) {
		b := newClub(t, store)
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			plan, err := tx.PricingPlans.Get(tx, silver)
			if err == nil {
				plan.EnrollmentCap = some(int32(1))
				_, err = tx.PricingPlans.Save(tx, plan)
			}
			return err
		})
		old := b.sell(t, sales.NewSale{User: 1, Plan: silver})
		fresh := b.change(t, to(old.ID, gold, "ch_2"))
		b.sell(t, sales.NewSale{User: 2, Plan: silver})
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: fresh.Transactions[0].ID}); err != nil {
			t.Fatal(engine, err)
		}
		if diff := cmp.Diff([]string{"course 1"}, b.open(t, 1)); diff != "" {
			t.Errorf("%s: access (-want +got):\n%s", engine, diff)
		}
		warnings := b.show(t, old.ID).Warnings
		if !slices.ContainsFunc(warnings, func(w lyceum.SaleWarning) bool { return w.Code == "sold_out" }) {
			t.Errorf("%s: warnings: %s", engine, fmt.Sprint(warnings))
		}
		b.healthy(t, b.store)
	}
}

// TestAFollowerOnAFreePlanHasAPrice checks that the price is set, because no payment will set
// it.
func TestAFollowerOnAFreePlanHasAPrice(t *testing.T) {
	for engine, store := range engines(t) {
		b := newClub(t, store)
		old := b.sell(t, sales.NewSale{User: 1, Plan: gold})
		c := to(old.ID, freebie, "")
		c.AtPeriodEnd = true
		b.change(t, c)
		b.now = old.PaidUntil.Value
		b.endPeriods(t)
		fresh := b.show(t, b.show(t, old.ID).ReplacedBy.Value)
		if fresh.FinalPrice != some(lyceum.Minor(0)) || fresh.Currency != some(lyceum.Currency("USD")) {
			t.Errorf("%s: %+v", engine, fresh.Sale)
		}
		b.healthy(t, b.store)
	}
}
