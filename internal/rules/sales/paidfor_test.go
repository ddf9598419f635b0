package sales_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestWhatIsPaidFor makes sale 1 on 31 January at noon. After the acts it is paid for until a
// given day, and user 1 has the given access.
func TestWhatIsPaidFor(t *testing.T) {
	stores := engines(t)
	type act struct {
		day int // after the first day
		do  func(*testing.T, *books) error
	}
	monthly := act{0, func(t *testing.T, b *books) error {
		_, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 1, Plan: 2, Amounts: charged(2)})
		return err
	}}
	imported := act{0, func(t *testing.T, b *books) error {
		paid := lyceum.Transaction{
			ID: 1, SaleID: 1, UserID: 1, PricingPlanID: 6, CreatedAt: b.now, PurchasedAt: b.now, Paid: true, FinalPrice: 700, Currency: "USD", Charge: 700,
		}
		_, _, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{paid})
		return err
	}}
	renew := func(day int, a sales.Amounts) act {
		return act{day, func(t *testing.T, b *books) error {
			_, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1, Reference: some(fmt.Sprint("ch_", day)), Amounts: a})
			return err
		}}
	}
	cancel := func(day int) act {
		return act{day, func(t *testing.T, b *books) error {
			_, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: 1})
			return err
		}}
	}
	refund := func(day int, id lyceum.TransactionID) act {
		return act{day, func(t *testing.T, b *books) error {
			_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id})
			return err
		}}
	}
	policy := func(day int, choose func(*lyceum.SalePolicy)) act {
		return act{day, func(t *testing.T, b *books) error {
			p := lyceum.DefaultSalePolicy()
			choose(&p)
			return b.configure(t.Context(), p, lyceum.UTC)
		}}
	}
	change := act{2, func(t *testing.T, b *books) error {
		_, err := b.service.ChangePlan(t.Context(), b.by(), to(1, 6, "ch_new"))
		return err
	}}
	for _, row := range []struct {
		name   string
		acts   []act
		until  string // a day, or nothing
		access []string
	}{
		{
			"imported, and paid late here",
			[]act{imported, renew(45, sales.Amounts{})},
			"2026-03-31", nil,
		},
		{
			"cancelled, and paid again: what was paid before goes back",
			[]act{monthly, cancel(3), renew(4, charged(2)), refund(5, 1)},
			"",
			[]string{"course 1 until 2026-02-28 ended 2026-02-05"},
		},
		{
			"cancelled, and the last of two payments goes back",
			[]act{monthly, renew(1, charged(2)), cancel(3), refund(5, 2)},
			"2026-02-28",
			[]string{"course 1 until 2026-02-28"},
		},
		{
			"the same, after another choice for cancellations",
			[]act{monthly, renew(1, charged(2)), cancel(3), policy(4, func(p *lyceum.SalePolicy) { p.OnCancellation = lyceum.Unenroll }), refund(5, 2)},
			"2026-02-28",
			[]string{"course 1 until 2026-02-28"},
		},
		{
			"cancelled for good, and chosen later that access lasts for the period",
			[]act{
				policy(0, func(p *lyceum.SalePolicy) { p.OnCancellation = lyceum.Keep }), monthly, renew(1, charged(2)), cancel(3),
				policy(4, func(*lyceum.SalePolicy) {}), refund(5, 2),
			},
			"2026-02-28",
			[]string{"course 1"},
		},
		{
			"cancelled, all goes back, and the school keeps access then",
			[]act{policy(0, func(p *lyceum.SalePolicy) { p.OnRefund = lyceum.Keep }), monthly, cancel(3), refund(5, 1)},
			"",
			[]string{"course 1 until 2026-02-28"},
		},
		{
			"paid again after its plan was changed, which goes back",
			[]act{monthly, change, renew(3, charged(2)), refund(4, 2)},
			"2026-03-31",
			[]string{"course 1"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for engine, store := range stores {
				b := openBooks(t, store)
				begin := b.now
				for i, a := range row.acts {
					b.now = begin.AddDate(0, 0, a.day)
					if err := a.do(t, b); err != nil {
						t.Fatal(engine, i, err)
					}
				}
				until := ""
				if s := b.show(t, 1); s.PaidUntil.Present {
					until = s.PaidUntil.Value.Format(time.DateOnly)
				}
				if diff := cmp.Diff([]any{row.until, row.access}, []any{until, b.access(t, 1)}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", engine, diff)
				}
				b.healthy(t, store)
			}
		})
	}
}
