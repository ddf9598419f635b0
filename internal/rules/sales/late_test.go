package sales_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// delivery is something that a payment system reports, once or repeatedly. It fails if what it
// is about does not exist yet, or no longer allows it.
type delivery struct {
	name string
	deed func(testing.TB, *books) error
}

// deliveries returns those of three sales, with renewals, partial refunds, and disputes that
// are lost, won, and won after they were lost.
func deliveries(r *rand.Rand) []delivery {
	minor := func(most int64) lyceum.Minor { return lyceum.Minor(1 + r.Int64N(most)) }
	var all []delivery
	add := func(name string, deed func(testing.TB, *books) error) { all = append(all, delivery{name, deed}) }
	for sale := range lyceum.SaleID(3) {
		n := sales.NewSale{
			User: 1, Plan: 6, Affiliate: some(lyceum.AffiliateID(1)), Reference: some(fmt.Sprint("ch_", sale)),
			Amounts: sales.Amounts{FinalPrice: some(minor(5000)), TaxCharge: some(minor(900)), AffiliateFees: some(lyceum.Minor(1))},
		}
		add("sale "+n.Reference.Value, func(t testing.TB, b *books) error {
			_, err := b.service.Record(t.Context(), b.by(), n)
			return err
		})
		for i := range 2 {
			renewal := sales.Renewal{Amounts: sales.Amounts{FinalPrice: some(minor(5000)), TaxCharge: some(minor(900))}, Reference: some(fmt.Sprint("ch_", sale, "_", i))}
			add("renewal "+renewal.Reference.Value, func(t testing.TB, b *books) error {
				x, err := b.paidAs(t, n.Reference.Value)
				if renewal.Sale = x.SaleID; err == nil {
					_, err = b.service.Renew(t.Context(), b.by(), renewal)
				}
				return err
			})
		}
		for i := range 4 {
			charge := []string{n.Reference.Value, fmt.Sprint("ch_", sale, "_", r.IntN(2))}[r.IntN(2)]
			refund := sales.Refund{Reference: some(fmt.Sprint("re_", sale, "_", i))}
			switch r.IntN(3) {
			case 0:
				refund.Amount = some(minor(2000))
			case 1:
				refund.Total = some(minor(2000))
			}
			add("refund "+refund.Reference.Value, func(t testing.TB, b *books) error {
				x, err := b.paidAs(t, charge)
				if refund.Transaction = x.ID; err == nil {
					_, err = b.service.Refund(t.Context(), b.by(), refund)
				}
				return err
			})
		}
		for i := range 3 {
			charge := []string{n.Reference.Value, fmt.Sprint("ch_", sale, "_", r.IntN(2))}[r.IntN(2)]
			dispute := sales.NewDispute{Reference: some(fmt.Sprint("dp_", sale, "_", i)), Fee: minor(1500)}
			if r.IntN(2) == 0 {
				dispute.Amount = some(minor(2000))
			}
			add("dispute "+dispute.Reference.Value, func(t testing.TB, b *books) error {
				x, err := b.paidAs(t, charge)
				if dispute.Transaction = x.ID; err == nil {
					_, err = b.service.OpenDispute(t.Context(), b.by(), dispute)
				}
				return err
			})
			for _, state := range [][]lyceum.DisputeState{{lyceum.DisputeLost}, {lyceum.DisputeWon}, {lyceum.DisputeLost, lyceum.DisputeWon}}[r.IntN(3)] {
				add("dispute "+dispute.Reference.Value+" "+string(state), func(t testing.TB, b *books) error {
					v := b.store.In(t.Context(), b.school)
					d, there, err := v.Disputes.First(v, lyceum.DisputeFilter{Reference: dispute.Reference})
					if err != nil || !there {
						return lyceum.Errorf(lyceum.NotFound, "no dispute %s yet: %v", dispute.Reference.Value, err)
					}
					_, err = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: state})
					return err
				})
			}
		}
	}
	return all
}

// paidAs returns the transaction of a payment.
func (b *books) paidAs(t testing.TB, reference string) (lyceum.Transaction, error) {
	t.Helper()
	v := b.store.In(t.Context(), b.school)
	kept, there, err := v.References.First(v, lyceum.ReferenceFilter{Name: some(reference)})
	if err != nil || !there {
		return lyceum.Transaction{}, lyceum.Errorf(lyceum.NotFound, "no payment %s yet: %v", reference, err)
	}
	return v.Transactions.Get(v, kept.Transaction)
}

// TestLateAndRepeatedDeliveries makes each delivery three times, in any order over ten days,
// and checks that the books equal those with only the deliveries that had an effect.
func TestLateAndRepeatedDeliveries(t *testing.T) {
	const histories = 6
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			delivered, refused := 0, 0
			for seed := range uint64(histories) {
				r := rand.New(rand.NewPCG(seed, 14))
				all := deliveries(r)
				thrice := append(append(append([]delivery{}, all...), all...), all...)
				r.Shuffle(len(thrice), func(i, j int) { thrice[i], thrice[j] = thrice[j], thrice[i] })
				again, once := openBooks(t, store), openBooks(t, store)
				begin, done := again.now, map[string]bool{}
				for i, d := range thrice {
					again.now = begin.Add(time.Duration(i) * 10 * 24 * time.Hour / time.Duration(len(thrice)))
					once.now = again.now
					err := d.deed(t, again)
					delivered++
					if err != nil {
						refused++
						if k := lyceum.KindOf(err); k != lyceum.NotFound && k != lyceum.Conflict {
							t.Fatalf("%s: %v", d.name, err)
						}
					}
					if done[d.name] {
						continue
					}
					if other := d.deed(t, once); (other == nil) != (err == nil) {
						t.Fatalf("history %d: %s for the first time: %v; among others: %v", seed, d.name, other, err)
					}
					done[d.name] = err == nil
				}
				if diff := cmp.Diff(once.all(t), again.all(t)); diff != "" {
					t.Fatalf("history %d (-once +thrice):\n%s", seed, diff)
				}
			}
			findings, err := store.Check(t.Context())
			if err != nil || len(findings) > 0 {
				t.Errorf("check finds %v, %v", findings, err)
			}
			t.Logf("%d histories, %d deliveries, %d of them refused or too early: mismatches 0", histories, delivered, refused)
		})
	}
}

// all returns everything that the books say, and what was announced to webhooks.
func (b *books) all(t *testing.T) map[string]any {
	t.Helper()
	v := b.store.In(t.Context(), b.school)
	transactions, e1 := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{Order: lyceum.OldestFirst})
	movements, e2 := lyceum.All(v.Movements, v, lyceum.MovementFilter{})
	disputes, e3 := lyceum.All(v.Disputes, v, lyceum.DisputeFilter{})
	ids := make([]lyceum.SaleID, 50)
	for i := range ids {
		ids[i] = lyceum.SaleID(i)
	}
	sold, e4 := v.Sales.Find(v, ids...)
	statement, e5 := b.service.AffiliateStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AffiliateID]{Of: 1, Limit: sales.MaxStatement})
	for _, err := range []error{e1, e2, e3, e4, e5} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]any{
		"transactions": transactions, "movements": movements, "disputes": disputes, "sales": sold, "statement": statement.Lines,
		"access": b.access(t, 1), "events": b.events(t, 0),
	}
}
