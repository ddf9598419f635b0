package sales_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// linesOf formats a statement as "day kind transaction amount currency", reading it in pages of
// limit lines.
func (b *books) linesOf(t *testing.T, limit int, from, until lyceum.Opt[time.Time]) []string {
	t.Helper()
	q := sales.StatementQuery[lyceum.AffiliateID]{Of: 1, From: from, Until: until, Limit: limit}
	var told []string
	for {
		s, err := b.service.AffiliateStatement(t.Context(), b.by(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Lines) > limit {
			t.Fatalf("%d lines, of %d at most", len(s.Lines), limit)
		}
		for _, l := range s.Lines {
			told = append(told, fmt.Sprint(l.At.Format(time.DateOnly), " ", l.Kind, " ", l.Transaction, " ", l.Amount, " ", l.Currency))
		}
		if !s.Next.Present {
			return told
		}
		if q.After, err = sales.ParseStatementPlace(s.Next.Value.String()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatements(t *testing.T) {
	stores := engines(t)
	indexed := salesindex.Over(openStore(t), salesindex.Options{Memory: 1 << 30})
	t.Cleanup(func() { _ = indexed.Close() })
	stores["in memory"] = indexed
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			if store == lyceum.Store(indexed) {
				if err := indexed.Prepare(b.school); err != nil {
					t.Fatal(err)
				}
			}
			day := func(d int) time.Time { return time.Date(2026, 2, d, 9, 0, 0, 0, time.UTC) }
			minor := func(n lyceum.Minor) lyceum.Opt[lyceum.Minor] { return some(n) }
			must := func(_ any, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			sell := func(at int, currency lyceum.Currency, fees lyceum.Minor) lyceum.TransactionID {
				b.now = day(at)
				return b.sell(t, sales.NewSale{User: 1, Plan: 1, Affiliate: some(lyceum.AffiliateID(1)), Author: some(lyceum.AuthorID(1)), Reference: some(fmt.Sprint("ch_", at, currency)), Amounts: sales.Amounts{
					FinalPrice: minor(10000), TaxCharge: minor(2000), Currency: some(currency), Charge: some(lyceum.USDCents(12000)), AffiliateFees: minor(fees), AuthorFees: minor(3),
				}}).Transactions[0].ID
			}
			parts, lost, none := sell(1, "USD", 333), sell(2, "EUR", 1000), sell(2, "USD", 0)
			for i := range 3 { // a third of 333 each, which adds up to all of it
				b.now = day(3 + i)
				must(b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: parts, Total: minor(4000)}))
			}
			b.now = day(6)
			d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: lost, Amount: minor(6000), Fee: 9})
			must(d, err)
			must(b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: lost, Amount: minor(1)})) // too little to be a line
			must(b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: none}))
			b.now = day(7)
			must(b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: lyceum.DisputeLost}))
			b.now = day(8)
			must(b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: lyceum.DisputeWon}))
			// From an imported file, partly refunded; the rest is refunded here.
			imported := lyceum.Transaction{
				ID: 90, UserID: 1, PricingPlanID: 1, SaleID: 90, CreatedAt: day(1), PurchasedAt: day(1), Charge: 1000, FinalPrice: 1000, Currency: "USD", Paid: true,
				AffiliateID: some(lyceum.AffiliateID(1)), AffiliateFees: 100, RefundedAt: some(day(4)), AmountRefunded: 500, HasChargeback: some(false),
			}
			charged := imported
			charged.ID, charged.SaleID, charged.RefundedAt, charged.AmountRefunded, charged.HasChargeback = 91, 91, lyceum.None[time.Time](), 0, some(true)
			rest := imported // half of it refunded, half charged back
			rest.ID, rest.SaleID, rest.RefundedAt, rest.HasChargeback = 93, 93, some(day(6)), some(true)
			undated := imported // refunded, and the file does not say when
			undated.ID, undated.SaleID, undated.RefundedAt, undated.AmountRefunded = 92, 92, lyceum.None[time.Time](), 1000
			err = b.store.Write(t.Context(), lyceum.Stamp{School: b.school, At: b.now, Actor: "import"}, func(tx lyceum.Tx) error {
				for _, x := range []lyceum.Transaction{imported, charged, undated, rest} {
					if _, err := tx.Sales.Save(tx, lyceum.SaleOf(&x)); err != nil {
						return err
					}
					if _, err := tx.Transactions.Save(tx, x); err != nil {
						return err
					}
				}
				return nil
			})
			must(nil, err)
			want := []string{
				"2026-02-01 sale 1 333 USD", "2026-02-01 sale 90 100 USD", "2026-02-01 sale 91 100 USD", "2026-02-01 dispute_lost 91 -100 USD",
				"2026-02-01 sale 92 100 USD", "2026-02-01 refund 92 -100 USD", "2026-02-01 sale 93 100 USD", "2026-02-01 dispute_lost 93 -50 USD", "2026-02-02 sale 2 1000 EUR",
				"2026-02-03 refund 1 -111 USD", "2026-02-04 refund 1 -111 USD", "2026-02-04 refund 90 -50 USD", "2026-02-05 refund 1 -111 USD",
				"2026-02-06 refund 93 -50 USD",
				"2026-02-07 dispute_lost 2 -500 EUR", "2026-02-08 dispute_won 2 500 EUR",
			}
			for _, limit := range []int{1, 2, 3, sales.MaxStatement} {
				if diff := cmp.Diff(want, b.linesOf(t, limit, lyceum.None[time.Time](), lyceum.None[time.Time]())); diff != "" {
					t.Errorf("in parts of %d (-want +got):\n%s", limit, diff)
				}
			}
			if diff := cmp.Diff(want[9:14], b.linesOf(t, 3, some(day(3)), some(day(7)))); diff != "" {
				t.Errorf("of some days (-want +got):\n%s", diff)
			}
			b.now = day(9)
			must(b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 90}))
			// The date of the imported refund is no longer known.
			want = append(append(append([]string{}, want[:11]...), want[12:]...), "2026-02-09 refund 90 -100 USD")
			if diff := cmp.Diff(want, b.linesOf(t, 4, lyceum.None[time.Time](), lyceum.None[time.Time]())); diff != "" {
				t.Errorf("refunded here, too (-want +got):\n%s", diff)
			}
			s, err := b.service.AuthorStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AuthorID]{Of: 1, Limit: 100})
			if diff := cmp.Diff([]sales.StatementSum{{Currency: "EUR", Amount: 3}, {Currency: "USD", Amount: 0}}, s.Sums()); diff != "" || err != nil {
				t.Errorf("the author's sums (-want +got):\n%s%v", diff, err)
			}
			if _, err := b.service.AuthorStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AuthorID]{Of: 9, Limit: 1}); lyceum.KindOf(err) != lyceum.NotFound {
				t.Errorf("of nobody: %v", err)
			}
			if _, err := b.service.AuthorStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AuthorID]{Of: 1, From: some(day(2)), Until: some(day(2)), Limit: 1}); lyceum.KindOf(err) != lyceum.Invalid {
				t.Errorf("of no time: %v", err)
			}
		})
	}
}

func TestStatementPlaces(t *testing.T) {
	for text, good := range map[string]bool{
		"1706976000.52.9": true, "0.1.0": true, "-5.1.0": true,
		"": false, "1": false, "1.2": false, "1.2.3.4": false, "a.b.c": false, "01.2.3": false, "1.2.99999999999": false, "99999999999999999.1.1": false, "1.+2.3": false,
	} {
		if p, err := sales.ParseStatementPlace(text); (err == nil) != good || good && p.String() != text {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

// However the money of a payment moves back and forth, its lines add up to the fee's share of
// what stayed, and to 0 if all of it was returned.
func TestStatementsAddUp(t *testing.T) {
	store := openStore(t)
	rapid.Check(t, func(r *rapid.T) {
		b := openBooks(t, store)
		amount := func(name string, least, most int64) lyceum.Minor {
			return lyceum.Minor(rapid.Int64Range(least, most).Draw(r, name))
		}
		price, tax := amount("price", 1, 3000), amount("tax", 0, 600)
		fee := amount("fee", 0, int64(price))
		id := b.sell(t, sales.NewSale{User: 1, Plan: 1, Affiliate: some(lyceum.AffiliateID(1)), Reference: some("ch_1"), Amounts: sales.Amounts{FinalPrice: some(price), TaxCharge: some(tax), AffiliateFees: some(fee)}}).Transactions[0].ID
		var lost []lyceum.DisputeID
		for range rapid.IntRange(0, 12).Draw(r, "steps") {
			b.now = b.now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(r, "seconds")) * time.Second)
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0:
				_, _ = b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Total: some(amount("total", 1, 1500))})
			case 1:
				_, _ = b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Amount: some(amount("amount", 1, 1500))})
			case 2:
				if d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: id, Amount: some(amount("dispute", 1, 1500))}); err == nil {
					_, _ = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: lyceum.DisputeLost})
					lost = append(lost, d.ID)
				}
			case 3:
				if len(lost) > 0 {
					_, _ = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: rapid.SampledFrom(lost).Draw(r, "won"), State: lyceum.DisputeWon})
				}
			}
		}
		s, err := b.service.AffiliateStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AffiliateID]{Of: 1, Limit: 100})
		if err != nil {
			r.Fatal(err)
		}
		var owed, stayed lyceum.Minor
		for _, l := range s.Lines {
			owed += l.Amount
		}
		detail, err := b.service.Show(t.Context(), b.by(), 1)
		if err != nil {
			r.Fatal(err)
		}
		stayed = price - detail.Transactions[0].AmountRefunded
		for i := range detail.Disputes {
			if detail.Disputes[i].State == lyceum.DisputeLost {
				stayed -= detail.Disputes[i].Amount - detail.Disputes[i].Tax
			}
		}
		if off := 2 * (owed*price - fee*stayed); off > price || off < -price || stayed == 0 && owed != 0 {
			r.Fatalf("%d of a fee of %d is owed, and %d of %d stayed: %+v", owed, fee, stayed, price, s.Lines)
		}
	})
}
