package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestACanceledSaleThatHadStopped cancels a subscription whose end webhooks were already told. It
// is canceled for as long as it gives access, and ended after that.
func TestACanceledSaleThatHadStopped(t *testing.T) {
	type act = func(t *testing.T, b *books, sale sales.SaleDetail)
	cancel := func(t *testing.T, b *books, sale sales.SaleDetail) {
		t.Helper()
		if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: sale.ID}); err != nil {
			t.Fatal(err)
		}
	}
	closed := func(t *testing.T, b *books, sale sales.SaleDetail, state lyceum.DisputeState) {
		t.Helper()
		b.pass(1)
		if _, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: 1, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	lose := func(t *testing.T, b *books, sale sales.SaleDetail) {
		t.Helper()
		if _, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: sale.Transactions[0].ID}); err != nil {
			t.Fatal(err)
		}
		closed(t, b, sale, lyceum.DisputeLost)
	}
	win := func(t *testing.T, b *books, sale sales.SaleDetail) { closed(t, b, sale, lyceum.DisputeWon) }
	renew := func(t *testing.T, b *books, sale sales.SaleDetail) { b.renew(t, sale.ID, "next") }
	refund := func(t *testing.T, b *books, sale sales.SaleDetail) {
		t.Helper()
		paid := b.show(t, sale.ID).Transactions
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: paid[len(paid)-1].ID}); err != nil {
			t.Fatal(err)
		}
	}
	lapse := func(t *testing.T, b *books, sale sales.SaleDetail) {
		t.Helper()
		b.pass(50)
		b.lapse(t)
		b.renew(t, sale.ID, "late")
	}
	for name, acts := range map[string][]act{
		"canceled, lost, won":                  {cancel, lose, win},
		"canceled, lost, a part refunded, won": {renew, cancel, lose, refund, win},
		"lost, won, canceled":                  {lose, win, cancel},
		"lost, won, canceled, a part refunded": {lose, win, renew, cancel, refund},
		"lapsed, paid late, canceled":          {lapse, cancel},
	} {
		for engine, store := range engines(t) {
			t.Run(name+" "+engine, func(t *testing.T) {
				b := newClub(t, store)
				if err := b.learning.Expire(t.Context(), b.school); err != nil {
					t.Fatal(err)
				}
				sale := b.sell(t, sales.NewSale{User: 1, Plan: silver})
				b.pass(3)
				for _, do := range acts {
					do(t, b, sale)
				}
				got, before := b.show(t, sale.ID), b.last(t)
				ended := 0
				b.service.Notifying(func(_ lyceum.Tx, kind lyceum.EmailKind, _ lyceum.Opt[lyceum.UserID], _ int32) error {
					if kind == lyceum.AccessEndedEmail {
						ended++
					}
					return nil
				})
				if got.Status != some(sales.Canceled) || got.StopsAt != got.PaidUntil || len(b.open(t, 1)) != 1 {
					t.Errorf("%v until %v, paid until %v, access to %v", got.Status, got.StopsAt, got.PaidUntil, b.open(t, 1))
				}
				b.now = got.PaidUntil.Value.Add(time.Hour)
				b.lapse(t)
				if got := b.show(t, sale.ID); got.Status != some(sales.Ended) || got.StopsAt.Present || len(b.open(t, 1)) != 0 {
					t.Errorf("after that: %v until %v, access to %v", got.Status, got.StopsAt, b.open(t, 1))
				}
				b.want(t, "the end", before, "Enrollment.disabled 2")
				if ended != 1 {
					t.Errorf("%d emails that access has ended, want 1", ended)
				}
				b.healthy(t, store)
			})
		}
	}
}
