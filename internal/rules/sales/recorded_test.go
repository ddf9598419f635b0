package sales_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestImportsKeepWhatWasRecorded checks that a file that is older than a refund or a dispute
// does not undo it, but that everything else in its rows is imported.
func TestImportsKeepWhatWasRecorded(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		at := b.now.Add(-24 * time.Hour)
		sold := func(id lyceum.TransactionID) lyceum.Transaction {
			return lyceum.Transaction{
				ID: id, SaleID: lyceum.SaleID(id), UserID: 1, PricingPlanID: 1, CreatedAt: at, PurchasedAt: at,
				FinalPrice: 1999, Charge: 1999, Revenue: 1999, Currency: "USD", Paid: true,
			}
		}
		before := []lyceum.Transaction{sold(1), sold(2), sold(3), sold(4)}
		before[3].AmountRefunded, before[3].RefundedAt = 100, lyceum.Some(at.Add(1500*time.Millisecond)) // as a mirror may have it
		take := func(missing lyceum.Missing, rows ...lyceum.Transaction) []string {
			t.Helper()
			file := b.service.Import(b.by(), missing)
			checked, err := file.Check(t.Context(), rows)
			if err != nil {
				t.Fatal(engine, err)
			}
			_, problems, err := file.Save(t.Context(), rows)
			if err != nil {
				t.Fatal(engine, err)
			}
			if diff := cmp.Diff(checked, problems); diff != "" {
				t.Errorf("%s: checked and saved differ:\n%s", engine, diff)
			}
			var fields []string
			for _, p := range problems {
				fields = append(fields, p.Field)
				if !strings.Contains(p.Message, "was refunded or disputed") {
					t.Errorf("%s: %s: %s", engine, p.Field, p.Message)
				}
			}
			return fields
		}
		if problems := take(lyceum.RefuseMissing, before...); len(problems) > 0 {
			t.Fatal(engine, problems)
		}
		if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1, Amount: lyceum.Some(lyceum.Minor(500))}); err != nil {
			t.Fatal(engine, err)
		}
		if _, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: 2, Fee: 1500}); err != nil {
			t.Fatal(engine, err)
		}
		if _, err := b.service.OpenChargeback(t.Context(), b.by(), sales.Chargeback{Transaction: 4}); err != nil {
			t.Fatal(engine, err)
		}
		now := b.transactions(t)
		now[3].RefundedAt = lyceum.Some(lyceum.Second(now[3].RefundedAt.Value)) // as it is exported
		problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Check(t.Context(), before[:1])
		if want := fmt.Sprintf("must be 500 and refunded_at %s, as in Lyceum, where transaction 1 was refunded or disputed; an "+
			"import leaves that as it is", b.now.Format(time.RFC3339)); err != nil || len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%s: %v, %v, want %q", engine, problems, err, want)
		}
		for name, c := range map[string]struct {
			change func(refunded, disputed, other *lyceum.Transaction)
			want   []string
		}{
			"as exported": {func(_, _, _ *lyceum.Transaction) {}, nil},
			"as before": {
				func(refunded, disputed, _ *lyceum.Transaction) { *refunded, *disputed = before[0], before[1] },
				[]string{"amount_refunded", "has_chargeback"},
			},
			"refunded more":    {func(refunded, _, _ *lyceum.Transaction) { refunded.AmountRefunded = 1999 }, []string{"amount_refunded"}},
			"refunded earlier": {func(refunded, _, _ *lyceum.Transaction) { refunded.RefundedAt = lyceum.Some(at) }, []string{"refunded_at"}},
			"another sale":     {func(refunded, _, _ *lyceum.Transaction) { refunded.SaleID = 9 }, []string{"sale_id"}},
			"another price": {
				func(refunded, disputed, _ *lyceum.Transaction) { refunded.FinalPrice, disputed.TaxCharge = 400, 7 },
				[]string{"final_price", "tax_charge"},
			},
			"unpaid":           {func(refunded, _, _ *lyceum.Transaction) { refunded.Paid = false }, []string{"status"}},
			"another currency": {func(_, disputed, _ *lyceum.Transaction) { disputed.Currency = "EUR" }, []string{"currency"}},
			"a smaller fee": {
				func(_, disputed, _ *lyceum.Transaction) { disputed.ChargebackFee = lyceum.Some(lyceum.Minor(2)) },
				[]string{"chargeback_fee"},
			},
			"other fields": {func(refunded, disputed, _ *lyceum.Transaction) {
				refunded.AuthorFees, disputed.Revenue, disputed.CouponID = 12, 3, lyceum.Some(lyceum.CouponID(4))
			}, nil},
			"one that nobody refunded": {func(_, _, other *lyceum.Transaction) {
				other.AmountRefunded, other.RefundedAt, other.FinalPrice = 700, lyceum.Some(at), 700
			}, nil},
		} {
			rows := slices.Clone(now)
			c.change(&rows[0], &rows[1], &rows[2])
			for _, missing := range []lyceum.Missing{lyceum.RefuseMissing, lyceum.CreateMissing} {
				if got := take(missing, rows...); !slices.Equal(got, c.want) {
					t.Errorf("%s: %s: problems with %v, want %v", engine, name, got, c.want)
				}
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("%s: %s: %v, %v", engine, name, findings, err)
			}
			if got := b.transactions(t); got[0].AmountRefunded != 500 || got[1].HasChargeback != lyceum.Some(true) {
				t.Errorf("%s: %s: now %+v, %+v", engine, name, got[0], got[1])
			}
		}
	}
}

// TestImportsKeepPaymentsWithReceipts checks that a file does not change what a receipt says.
func TestImportsKeepPaymentsWithReceipts(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
			return tx.Sellers.Insert(tx, lyceum.Seller{ID: 1, Name: "Fernwood Ltd", Since: b.now})
		})
		b.sell(t, sales.NewSale{User: 1, Plan: 1})
		kept := b.transactions(t)[0]
		for name, c := range map[string]struct {
			change func(row *lyceum.Transaction)
			want   string
		}{
			"as exported":  {func(*lyceum.Transaction) {}, ""},
			"other fields": {func(row *lyceum.Transaction) { row.Revenue, row.AuthorFees = 3, 12 }, ""},
			"another price": {
				func(row *lyceum.Transaction) { row.FinalPrice++ },
				fmt.Sprintf("final_price must be %d, as in Lyceum, where transaction 1 has a receipt; an import leaves that as it is", kept.FinalPrice),
			},
			"another buyer": {
				func(row *lyceum.Transaction) { row.UserID, row.TaxCharge, row.Currency = 2, 7, "EUR" },
				"user_id must be 1 and tax_charge 0 and currency USD, as in Lyceum, where transaction 1 has a receipt; an import leaves that as it is",
			},
		} {
			row := kept
			c.change(&row)
			_, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{row})
			got := ""
			if len(problems) > 0 {
				got = problems[0].String()
			}
			if err != nil || got != c.want {
				t.Errorf("%s: %s: %q, want %q; %v", engine, name, got, c.want, err)
			}
		}
	}
}

// transactions returns all transactions, oldest first.
func (b *books) transactions(t *testing.T) (all []lyceum.Transaction) {
	t.Helper()
	v := b.store.In(t.Context(), b.school)
	all, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{Order: lyceum.OldestFirst})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAmountsBelowZeroAreNoRefunds imports negative amounts and checks that they are not shown
// as refunds, and that no more is refunded than was paid.
func TestAmountsBelowZeroAreNoRefunds(t *testing.T) {
	b := newBooks(t)
	sold := func(id lyceum.TransactionID, price, tax lyceum.Minor) lyceum.Transaction {
		return lyceum.Transaction{
			ID: id, SaleID: lyceum.SaleID(id), UserID: 1, PricingPlanID: 1, CreatedAt: b.now, PurchasedAt: b.now,
			FinalPrice: price, TaxCharge: tax, Charge: 1200, Currency: "USD", Paid: true,
			AffiliateID: some(lyceum.AffiliateID(1)), AffiliateFees: 100,
		}
	}
	rows := []lyceum.Transaction{sold(1, -1000, 200), sold(2, -1000, 1200), sold(3, 1000, -200)}
	if _, _, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	for i, tc := range []struct {
		back lyceum.Part // by a refund of all that is left
		code string
	}{
		{lyceum.Part{}, "nothing_charged"},
		{lyceum.Part{Tax: 200}, ""},
		{lyceum.Part{Price: 800}, ""},
	} {
		id := lyceum.TransactionID(i + 1)
		shown, err := b.service.ShowTransaction(t.Context(), b.by(), id)
		if err != nil || shown.TaxRefunded != 0 {
			t.Errorf("transaction %d: %v, refunded %d with %d of tax", id, err, shown.AmountRefunded, shown.TaxRefunded)
		}
		got, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id})
		if back := (lyceum.Part{Price: got.AmountRefunded, Tax: got.TaxRefunded}); back != tc.back || err != nil != (tc.code != "") || err != nil && lyceum.Public(err).Code != tc.code {
			t.Errorf("transaction %d: refunded %+v, %v, want %+v, %q", id, back, err, tc.back, tc.code)
		}
	}
	owed, err := b.service.AffiliateStatement(t.Context(), b.by(), sales.StatementQuery[lyceum.AffiliateID]{Of: 1, Limit: 100})
	if sums := owed.Sums(); err != nil || len(sums) != 1 || sums[0].Amount != 3*100-80 {
		t.Errorf("the affiliate is owed %v, %v", sums, err)
	}
	b.healthy(t, b.store)
}
