package sales_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (b *books) soldBy(t *testing.T, name, prefix string) {
	t.Helper()
	_, err := b.service.ChangeSeller(t.Context(), b.by(), sales.SellerChange{
		Name: lyceum.Some(name), Address: lyceum.Some("1 Mill Lane\nDublin"), TaxNumber: lyceum.Some("IE6388047V"), Prefix: lyceum.Some(prefix),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receipts returns a line for each receipt, oldest first.
func (b *books) receipts(t *testing.T, by lyceum.By) (lines []string) {
	t.Helper()
	found, err := b.service.Receipts(t.Context(), by, lyceum.ReceiptFilter{}, lyceum.Page{Number: 1, Size: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found.Rows {
		r := &found.Rows[i]
		line := fmt.Sprintf("%s %s %d+%d %s by %s", r.Number, r.Item, r.Price, r.Tax, r.Currency, r.SoldBy.Name)
		if r.Refund.Present {
			line = fmt.Sprintf("%s of %s", line, r.Of.Number)
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

// R61: once the school has named its seller, every payment that is not free has a receipt, and
// every refund of one has a credit note; what was issued never changes.
func TestR61Receipts(t *testing.T) {
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			before := b.sell(t, sales.NewSale{User: 1, Plan: 1})
			if got := b.receipts(t, b.by()); got != nil {
				t.Errorf("of a school without a seller: %q", got)
			}
			b.soldBy(t, "Books Ltd", "B-")
			taxed := sales.NewSale{User: 1, Plan: 1, Reference: lyceum.Some("a payment")}
			taxed.TaxCharge = lyceum.Some(lyceum.Minor(380))
			paid := b.sell(t, taxed)
			b.sell(t, taxed) // again: the same payment
			b.sell(t, sales.NewSale{User: 1, Plan: 4})
			monthly := sales.NewSale{User: 2, Plan: 2}
			monthly.Charge = lyceum.Some(lyceum.USDCents(600))
			subscription := b.sell(t, monthly)
			refund := func(id lyceum.TransactionID, amount lyceum.Opt[lyceum.Minor]) {
				t.Helper()
				if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Amount: amount}); err != nil {
					t.Fatal(err)
				}
			}
			refund(before.Transactions[0].ID, lyceum.None[lyceum.Minor]())
			refund(paid.Transactions[0].ID, lyceum.Some(lyceum.Minor(999)))
			b.soldBy(t, "Books & Sons", "2027-")
			refund(paid.Transactions[0].ID, lyceum.None[lyceum.Minor]())
			b.pass(31)
			renewal := sales.Renewal{Sale: subscription.ID}
			renewal.Charge = lyceum.Some(lyceum.USDCents(600))
			if _, err := b.service.Renew(t.Context(), b.by(), renewal); err != nil {
				t.Fatal(err)
			}
			want := []string{
				"B-1 Pottery: Once 1999+380 USD by Books Ltd",
				"B-2 Pottery: Monthly 500+0 EUR by Books Ltd",
				"B-3 Pottery: Once 999+190 USD by Books Ltd of B-1",
				"2027-4 Pottery: Once 1000+190 USD by Books & Sons of B-1",
				"2027-5 Pottery: Monthly 500+0 EUR by Books & Sons",
			}
			if diff := cmp.Diff(want, b.receipts(t, b.by())); diff != "" {
				t.Error(diff)
			}
			learner := b.by()
			learner.Learner = lyceum.Some(lyceum.UserID(2))
			if got := b.receipts(t, learner); len(got) != 2 || !strings.HasPrefix(got[0], "B-2 ") {
				t.Errorf("a learner sees %q", got)
			}
			for id, kind := range map[lyceum.ReceiptID]lyceum.Kind{1: lyceum.NotFound, 99: lyceum.NotFound} {
				if _, err := b.service.Receipt(t.Context(), learner, id); lyceum.KindOf(err) != kind {
					t.Errorf("receipt %d of another: %v", id, err)
				}
			}
			_, err := b.service.ChangeSeller(t.Context(), b.by(), sales.SellerChange{
				Name: lyceum.Some(""), Address: lyceum.Some(""), TaxNumber: lyceum.Some(""), Prefix: lyceum.Some(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			b.sell(t, sales.NewSale{User: 3, Plan: 1})
			if got := b.receipts(t, b.by()); len(got) != len(want) {
				t.Errorf("after the seller is gone: %q", got)
			}
			b.healthy(t, store)
		})
	}
}

// R61: whatever is recorded concurrently, rejected or rolled back, the numbers are 1, 2, 3 and
// so on.
func TestR61NumbersWithoutGaps(t *testing.T) {
	for engine, open := range openTwice {
		t.Run(engine, func(t *testing.T) {
			stores := open(t)
			b := openBooks(t, stores[0])
			b.soldBy(t, "Books Ltd", "")
			const n = 60
			results := b.rush(t, stores, n, func(s *sales.Service, i int) (string, error) {
				sale := sales.NewSale{User: lyceum.UserID(i%3 + 1), Plan: 1}
				switch i % 4 {
				case 1:
					sale.Plan = 7 // one seat: all others are rejected
				case 2:
					_, err := s.PreviewRefund(context.Background(), b.by(), sales.Refund{Transaction: 1}, lyceum.Page{Number: 1, Size: 1})
					return "preview", ignoreMissing(err)
				}
				_, err := s.Record(context.Background(), b.by(), sale)
				return "sold", err
			})
			found, err := b.service.Receipts(t.Context(), b.by(), lyceum.ReceiptFilter{}, lyceum.Page{Number: 1, Size: n})
			if err != nil {
				t.Fatal(err)
			}
			if results["sold"] != len(found.Rows) || results["sold"] < n/2 {
				t.Errorf("%v, and %d receipts", results, len(found.Rows))
			}
			for i := range found.Rows {
				if want := lyceum.ReceiptID(len(found.Rows) - i); found.Rows[i].ID != want {
					t.Fatalf("receipt %d follows where %d should", found.Rows[i].ID, want)
				}
			}
		})
	}
}

// ignoreMissing ignores a NotFound error.
func ignoreMissing(err error) error {
	if lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	return err
}

func TestR61SellerMistakes(t *testing.T) {
	b := newBooks(t)
	for _, tc := range []struct {
		name, field string
		change      sales.SellerChange
	}{
		{"too long", "name", sales.SellerChange{Name: lyceum.Some(strings.Repeat("é", lyceum.MaxSellerName+1))}},
		{"two lines", "name", sales.SellerChange{Name: lyceum.Some("Books\nLtd")}},
		{"a control character", "address", sales.SellerChange{Name: lyceum.Some("Books"), Address: lyceum.Some("a\x00b")}},
		{"an address of nobody", "name", sales.SellerChange{Address: lyceum.Some("1 Mill Lane")}},
		{"a prefix of 21", "receipt_prefix", sales.SellerChange{Name: lyceum.Some("Books"), Prefix: lyceum.Some(strings.Repeat("a", 21))}},
	} {
		_, err := b.service.ChangeSeller(t.Context(), b.by(), tc.change)
		e := lyceum.Public(err)
		if e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != tc.field {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if s, err := b.service.Seller(t.Context(), b.by(), struct{}{}); err != nil || s != (lyceum.Seller{}) {
		t.Errorf("after mistakes: %+v, %v", s, err)
	}
}
