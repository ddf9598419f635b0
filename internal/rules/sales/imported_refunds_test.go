package sales_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// TestImportedRefundsOfTax compares what a report, a statement and a user's profile say about
// payments that were refunded here, and about the same ones from a file whose refunds include
// the tax.
func TestImportedRefundsOfTax(t *testing.T) {
	stores := engines(t)
	indexed := salesindex.Over(openStore(t), salesindex.Options{Memory: 1 << 30})
	t.Cleanup(func() { _ = indexed.Close() })
	stores["in memory"] = indexed
	for engine, store := range stores {
		for _, currency := range []lyceum.Currency{"USD", "EUR"} {
			here, imported := openBooks(t, store), openBooks(t, store)
			var rows []lyceum.Transaction
			for n, price := range []lyceum.Minor{10000, 1, 333} {
				sold := here.sell(t, sales.NewSale{
					User: 1, Plan: 1, Affiliate: some(lyceum.AffiliateID(1)), Reference: some(fmt.Sprint("ch_", currency, n)),
					Amounts: sales.Amounts{
						FinalPrice: some(price), Currency: some(currency), TaxCharge: some(lyceum.Minor(2000)),
						Charge: some(lyceum.USDCents(price + 2000)), AffiliateFees: some(price / 10),
					},
				}).Transactions[0]
				back, err := here.service.Refund(t.Context(), here.by(), sales.Refund{Transaction: sold.ID})
				if err != nil {
					t.Fatal(err)
				}
				row := back.Transaction
				row.AmountRefunded += back.TaxRefunded
				rows = append(rows, row)
			}
			file := imported.service.Import(imported.by(), lyceum.CreateMissing)
			if _, problems, err := file.Save(t.Context(), rows); err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
			said := func(b *books) []string {
				if store == lyceum.Store(indexed) {
					if err := indexed.Prepare(b.school); err != nil {
						t.Fatal(err)
					}
				}
				service := reports.Service{Store: store, Clock: func() time.Time { return b.now }}
				var lines []string
				for _, by := range []reports.By{reports.ByDay, reports.ByPlan} {
					day := lyceum.DayAt(b.now, time.UTC)
					r, err := service.Sales(t.Context(), b.by(), reports.Query{By: some(by), From: some(day), Until: some(day)})
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range r.Groups {
						lines = append(lines, fmt.Sprintf("%s %+v net %d", by, g.Figures[0], g.Figures[0].Net()))
					}
				}
				return append(lines, b.linesOf(t, sales.MaxStatement, lyceum.None[time.Time](), lyceum.None[time.Time]())...)
			}
			sums := func(b *books) map[string]int {
				all := map[string]int{}
				for _, line := range said(b) {
					all[line]++
				}
				return all
			}
			if diff := cmp.Diff(sums(here), sums(imported)); diff != "" {
				t.Errorf("%s, %s (-recorded here +imported):\n%s", engine, currency, diff)
			}
			here.spent(t, engine+", here", 0)
			imported.spent(t, engine+", imported", 0)
		}
	}
}
