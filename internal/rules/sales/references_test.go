package sales_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// A payment, refund or dispute repeated with its reference returns what it created the first
// time; with other content it is rejected.
func TestReferencesAreForGood(t *testing.T) {
	minor := func(n lyceum.Minor) lyceum.Opt[lyceum.Minor] { return some(n) }
	ref := some("Ref_1")
	b := newBooks(t)
	bought := sales.NewSale{User: 1, Plan: 6, Reference: ref, Amounts: sales.Amounts{FinalPrice: minor(700), TaxCharge: minor(70)}}
	sale := b.sell(t, bought)
	renewal := sales.Renewal{Sale: sale.ID, Reference: some("Ref_2"), Amounts: sales.Amounts{TaxCharge: minor(70)}}
	renewed, err := b.service.Renew(t.Context(), b.by(), renewal)
	if err != nil {
		t.Fatal(err)
	}
	order, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "new@example.com", Plan: 1})
	if err != nil {
		t.Fatal(err)
	}
	completion := sales.OrderPayment{Order: order.ID, Reference: some("Ref_3")}
	completed, err := b.service.CompleteOrder(t.Context(), b.by(), completion)
	if err != nil {
		t.Fatal(err)
	}
	refund := sales.Refund{Transaction: sale.Transactions[0].ID, Amount: minor(100), Reference: ref} // used by a payment, too
	refunded, err := b.service.Refund(t.Context(), b.by(), refund)
	if err != nil {
		t.Fatal(err)
	}
	dispute := sales.NewDispute{Transaction: renewed.ID, Amount: minor(330), Fee: 15, Reference: ref}
	disputed, err := b.service.OpenDispute(t.Context(), b.by(), dispute)
	if err != nil {
		t.Fatal(err)
	}
	record := func(n sales.NewSale, change func(*sales.NewSale)) func() (string, error) {
		change(&n)
		return func() (string, error) {
			d, err := b.service.Record(t.Context(), b.by(), n)
			return fmt.Sprint("sale ", d.ID), err
		}
	}
	renew := func(n sales.Renewal, change func(*sales.Renewal)) func() (string, error) {
		change(&n)
		return func() (string, error) {
			d, err := b.service.Renew(t.Context(), b.by(), n)
			return fmt.Sprint("transaction ", d.ID), err
		}
	}
	complete := func(n sales.OrderPayment, change func(*sales.OrderPayment)) func() (string, error) {
		change(&n)
		return func() (string, error) {
			d, err := b.service.CompleteOrder(t.Context(), b.by(), n)
			return fmt.Sprint("sale ", d.ID), err
		}
	}
	back := func(n sales.Refund, change func(*sales.Refund)) func() (string, error) {
		change(&n)
		return func() (string, error) {
			d, err := b.service.Refund(t.Context(), b.by(), n)
			if err != nil {
				return "", err
			}
			return fmt.Sprint("movement ", d.Movements[0].ID), nil
		}
	}
	open := func(n sales.NewDispute, change func(*sales.NewDispute)) func() (string, error) {
		change(&n)
		return func() (string, error) {
			d, err := b.service.OpenDispute(t.Context(), b.by(), n)
			return fmt.Sprint("dispute ", d.ID), err
		}
	}
	before := b.last(t)
	firstSale, firstRenewal, orderSale := fmt.Sprint("sale ", sale.ID), fmt.Sprint("transaction ", renewed.ID), fmt.Sprint("sale ", completed.ID)
	firstRefund, firstDispute := fmt.Sprint("movement ", refunded.Movements[0].ID), fmt.Sprint("dispute ", disputed.ID)
	for _, tc := range []struct {
		name  string
		again func() (string, error)
		want  string // what it returns, or the code it is rejected with
	}{
		{"a sale", record(bought, func(*sales.NewSale) {}), firstSale},
		{"its price follows from the plan", record(bought, func(n *sales.NewSale) { n.FinalPrice = lyceum.None[lyceum.Minor]() }), firstSale},
		{"another user", record(bought, func(n *sales.NewSale) { n.User = 2 }), `the reference "Ref_1" is recorded already, as transaction 1, with another user_id (1)`},
		{"an unknown user", record(bought, func(n *sales.NewSale) { n.User = 99 }), "with another user_id (1)"},
		{"another plan and price", record(bought, func(n *sales.NewSale) { n.Plan, n.FinalPrice = 1, minor(800) }), "with another pricing_plan_id (6), final_price (700)"},
		{"without tax", record(bought, func(n *sales.NewSale) { n.TaxCharge = lyceum.None[lyceum.Minor]() }), "with another tax_charge (70)"},
		{"another currency", record(bought, func(n *sales.NewSale) {
			n.Currency, n.Charge = some(lyceum.Currency("EUR")), some(lyceum.USDCents(770))
		}), "with another currency (USD)"},
		{"another letter case", record(bought, func(n *sales.NewSale) { n.Reference = some("rEF_1") }), `the reference "rEF_1" is recorded already, in another letter case ("Ref_1"), as transaction 1`},
		{"a renewal", renew(renewal, func(*sales.Renewal) {}), firstRenewal},
		{"of another sale", renew(renewal, func(n *sales.Renewal) { n.Sale = completed.ID }), "as transaction 2, with another sale (1)"},
		{"of another price", renew(renewal, func(n *sales.Renewal) { n.FinalPrice = minor(1) }), "with another final_price (700)"},
		{"the first payment as a renewal", renew(renewal, func(n *sales.Renewal) { n.Reference = ref }), "transaction 1"},
		{"a completed order", complete(completion, func(*sales.OrderPayment) {}), orderSale},
		{"with another sale's payment", complete(completion, func(n *sales.OrderPayment) { n.Reference = ref }), "with another sale (1), final_price (700), tax_charge (70)"},
		{"for another price", complete(completion, func(n *sales.OrderPayment) { n.FinalPrice = minor(5) }), "with another final_price (1999)"},
		{"a refund", back(refund, func(*sales.Refund) {}), firstRefund},
		{"a refund by total", back(refund, func(n *sales.Refund) { n.Amount, n.Total = n.Total, minor(110) }), firstRefund},
		{"all that is left", back(refund, func(n *sales.Refund) { n.Amount = lyceum.None[lyceum.Minor]() }), firstRefund},
		{"another amount", back(refund, func(n *sales.Refund) { n.Amount = minor(101) }), `the reference "Ref_1" is recorded already, as refund 1 of transaction 1, with another amount (100)`},
		{"another total", back(refund, func(n *sales.Refund) { n.Amount, n.Total = n.Total, minor(100) }), "with another total (110)"},
		{"of another transaction", back(refund, func(n *sales.Refund) { n.Transaction = renewed.ID }), "with another transaction (1)"},
		{"a refund in another letter case", back(refund, func(n *sales.Refund) { n.Reference = some("ref_1") }), `in another letter case ("Ref_1")`},
		{"a dispute", open(dispute, func(*sales.NewDispute) {}), firstDispute},
		{"a dispute of another amount and fee", open(dispute, func(n *sales.NewDispute) { n.Amount, n.Fee = minor(331), 16 }), "as dispute 1 of transaction 2, with another amount (330), fee (15)"},
		{"a dispute in another letter case", open(dispute, func(n *sales.NewDispute) { n.Reference = some("REF_1") }), `in another letter case ("Ref_1")`},
	} {
		got, err := tc.again()
		if err != nil {
			got = err.Error()
			if lyceum.Public(err).Code != "reference_taken" || lyceum.KindOf(err) != lyceum.Conflict {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
		if err == nil && got != tc.want || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if last := b.last(t); last != before {
		t.Errorf("%d entries more than before", last-before)
	}
	b.healthy(t, b.store)
}

// Of any number of concurrent requests with the same reference, only one creates something.
func TestOneReferenceAtOnce(t *testing.T) {
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			at := func(attempt func() (int32, error)) {
				t.Helper()
				var all sync.WaitGroup
				made := [20]struct {
					id  int32
					err error
				}{}
				for i := range made {
					all.Go(func() { made[i].id, made[i].err = attempt() })
				}
				all.Wait()
				for _, m := range made {
					if m.err != nil || m.id != made[0].id {
						t.Errorf("%d, %v; want %d", m.id, m.err, made[0].id)
					}
				}
			}
			at(func() (int32, error) {
				d, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 1, Plan: 7, Reference: some("ch_1")}) // one seat
				return int32(d.ID), err
			})
			at(func() (int32, error) {
				d, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1, Amount: some(lyceum.Minor(60)), Reference: some("re_1")})
				if err != nil {
					return 0, err
				}
				return int32(d.Movements[0].ID), nil
			})
			at(func() (int32, error) {
				d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1, Reference: some("dp_1")})
				return int32(d.ID), err
			})
			shown, err := b.service.ShowTransaction(t.Context(), b.by(), 1)
			if err != nil || shown.AmountRefunded != 60 || len(shown.Movements) != 2 {
				t.Errorf("%+v, %v", shown, err)
			}
			b.healthy(t, b.store)
		})
	}
}
