package apiv1

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
)

// pair is a value of a type of the root package and the same value as the contract represents it.
type pair[A, B any] struct {
	kept A
	want B
}

func draw32[T ~int32 | ~int64](t *rapid.T, name string) pair[T, int32] {
	v := rapid.OneOf(rapid.Int32(), rapid.SampledFrom([]int32{math.MinInt32, -1, 0, 1, math.MaxInt32})).Draw(t, name)
	return pair[T, int32]{T(v), v}
}

func drawOpt[A comparable, B any](t *rapid.T, name string, draw func(*rapid.T, string) pair[A, B]) pair[lyceum.Opt[A], *B] {
	if !rapid.Bool().Draw(t, name+" is there") {
		return pair[lyceum.Opt[A], *B]{}
	}
	p := draw(t, name)
	return pair[lyceum.Opt[A], *B]{lyceum.Some(p.kept), &p.want}
}

func drawBool(t *rapid.T, name string) pair[bool, bool] {
	v := rapid.Bool().Draw(t, name)
	return pair[bool, bool]{v, v}
}

func drawTime(t *rapid.T, name string) pair[time.Time, time.Time] {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	v := time.Unix(rapid.Int64Range(first.Unix(), last.Unix()).Draw(t, name), 0).UTC()
	return pair[time.Time, time.Time]{v, v}
}

func drawTransaction(t *rapid.T) (x lyceum.Transaction, s gen.TransactionSummary) {
	id, user := draw32[lyceum.TransactionID](t, "id"), draw32[lyceum.UserID](t, "user_id")
	plan, sale := draw32[lyceum.PricingPlanID](t, "pricing_plan_id"), draw32[lyceum.SaleID](t, "sale_id")
	created, purchased := drawTime(t, "created_at"), drawTime(t, "purchased_at")
	charge, price := draw32[lyceum.USDCents](t, "charge"), draw32[lyceum.Minor](t, "final_price")
	currency := rapid.StringMatching(`[A-Z]{3}`).Draw(t, "currency")
	tax, revenue := draw32[lyceum.Minor](t, "tax_charge"), draw32[lyceum.USDCents](t, "revenue")
	paid := rapid.Bool().Draw(t, "paid")
	chargeback := drawOpt(t, "has_chargeback", drawBool)
	fee := drawOpt(t, "chargeback_fee", draw32[lyceum.Minor])
	affiliate, affiliateFees := drawOpt(t, "affiliate_id", draw32[lyceum.AffiliateID]), draw32[lyceum.Minor](t, "affiliate_fees")
	author, authorFees := drawOpt(t, "author_id", draw32[lyceum.AuthorID]), draw32[lyceum.Minor](t, "author_fees")
	coupon := drawOpt(t, "coupon_id", draw32[lyceum.CouponID])
	refunded, amount := drawOpt(t, "refunded_at", drawTime), draw32[lyceum.Minor](t, "amount_refunded")
	x = lyceum.Transaction{
		ID: id.kept, UserID: user.kept, PricingPlanID: plan.kept, SaleID: sale.kept, CreatedAt: created.kept, PurchasedAt: purchased.kept,
		Charge: charge.kept, FinalPrice: price.kept, Currency: lyceum.Currency(currency), TaxCharge: tax.kept, Revenue: revenue.kept, Paid: paid,
		HasChargeback: chargeback.kept, ChargebackFee: fee.kept, AffiliateID: affiliate.kept, AffiliateFees: affiliateFees.kept,
		AuthorID: author.kept, AuthorFees: authorFees.kept, CouponID: coupon.kept, RefundedAt: refunded.kept, AmountRefunded: amount.kept,
	}
	s = gen.TransactionSummary{
		ID: id.want, UserID: user.want, PricingPlanID: plan.want, SaleID: sale.want, CreatedAt: created.want, PurchasedAt: purchased.want,
		Charge: charge.want, FinalPrice: price.want, Currency: currency, TaxCharge: tax.want, Revenue: revenue.want,
		HasChargeback: chargeback.want, ChargebackFee: fee.want, AffiliateID: affiliate.want, AffiliateFees: affiliateFees.want,
		AuthorID: author.want, AuthorFees: authorFees.want, CouponID: coupon.want, RefundedAt: refunded.want, AmountRefunded: amount.want,
	}
	if paid {
		status := gen.Paid
		s.Status = &status
	}
	return x, s
}

// TestAppendedByHandIsTheGeneratedType checks that the hand-written encoding of a list of
// transactions has the same bytes as encoding/json makes of the types generated from the
// contract, and that they decode strictly into the same value.
func TestAppendedByHandIsTheGeneratedType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listing := lyceum.TransactionListing{
			Total: int64(rapid.Int32Range(0, math.MaxInt32).Draw(t, "total")),
			Page:  lyceum.Page{Number: rapid.Int32Range(1, math.MaxInt32).Draw(t, "page"), Size: rapid.Int32Range(1, 100).Draw(t, "per")},
		}
		want := gen.TransactionList{Transactions: []gen.TransactionSummary{}}
		var shown lyceum.TransactionSlice
		// A page that begins beyond int32 has no rows: ids are int32.
		if listing.Page.Offset()+3 <= math.MaxInt32 {
			for range rapid.IntRange(0, 3).Draw(t, "rows") {
				x, s := drawTransaction(t)
				shown = append(shown, x)
				want.Transactions = append(want.Transactions, s)
			}
		}
		listing.Transactions = shown
		want.Meta = gen.PaginationMeta{
			Total: int32(listing.Total), Page: listing.Page.Number, PerPage: listing.Page.Size,
			NumberOfPages: int32(math.Ceil(float64(listing.Total) / float64(listing.Page.Size))),
		}
		if n := int32(len(shown)); n > 0 {
			want.Meta.From = (listing.Page.Number-1)*listing.Page.Size + 1
			want.Meta.To = want.Meta.From + n - 1
		}

		text, err := transactionList(listing).AppendJSON([]byte(" "))
		if err != nil {
			t.Fatal(err)
		}
		var got gen.TransactionList
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil || decoder.More() {
			t.Fatalf("%v in %s", err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("differs (-want +got):\n%s", diff)
		}
		encoded, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if " "+string(encoded) != string(text) {
			t.Fatalf("appended %s\nencoded   %s", text, encoded)
		}
	})
}

func TestEveryAmountIsHeldToInt32(t *testing.T) {
	for _, f := range lyceum.TransactionFields() {
		for v, fits := range map[int64]bool{
			math.MaxInt32: true, math.MinInt32: true, math.MaxInt32 + 1: false, math.MinInt32 - 1: false, 1 << 32: false, math.MaxInt64: false, math.MinInt64: false,
		} {
			x := lyceum.Transaction{Currency: "USD"}
			if !setAmount(f.At(&x), v) {
				break
			}
			_, err := transactionList{Transactions: lyceum.TransactionSlice{{Currency: "USD"}, x}, Total: 2, Page: lyceum.Page{Number: 1, Size: 20}}.AppendJSON(nil)
			if (err == nil) != fits {
				t.Errorf("%s of %d: %v", f.Name, v, err)
			}
			if err != nil && lyceum.KindOf(err) != lyceum.Internal {
				t.Errorf("%s of %d is %v", f.Name, v, lyceum.KindOf(err))
			}
		}
	}
}

// setAmount sets a field to an amount, and reports whether it is of a type of amounts.
func setAmount(field any, amount int64) bool {
	switch at := field.(type) {
	case *lyceum.USDCents:
		*at = lyceum.USDCents(amount)
	case *lyceum.Minor:
		*at = lyceum.Minor(amount)
	case *lyceum.Opt[lyceum.Minor]:
		*at = lyceum.Some(lyceum.Minor(amount))
	default:
		return false
	}
	return true
}

// TestUsersByHandAreTheGeneratedType checks the same for the list of users.
func TestUsersByHandAreTheGeneratedType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := userList{Listing: lyceum.Listing[lyceum.UserSummary]{Total: 300, Page: lyceum.Page{Number: 2, Size: 7}, More: rapid.Bool().Draw(t, "more")}}
		if rapid.Bool().Draw(t, "search_after is there") {
			list.after = lyceum.Some(lyceum.UserID(rapid.Int32Range(0, math.MaxInt32).Draw(t, "search_after")))
		}
		want := gen.UserList{Users: []gen.UserSummary{}}
		for range rapid.IntRange(0, 4).Draw(t, "users") {
			id, email := draw32[lyceum.UserID](t, "id"), rapid.String().Draw(t, "email")
			name := drawOpt(t, "name", func(t *rapid.T, what string) pair[string, string] {
				text := rapid.String().Draw(t, what)
				return pair[string, string]{text, text}
			})
			list.Rows = append(list.Rows, lyceum.UserSummary{ID: id.kept, Email: email, Name: name.kept})
			want.Users = append(want.Users, gen.UserSummary{ID: id.want, Email: email, Name: name.want})
		}
		want.Meta = userMeta(&list.Listing, list.after)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := list.AppendJSON(nil)
		if diff := cmp.Diff(string(text), string(got)); diff != "" || err != nil {
			t.Errorf("appended otherwise (-generated +by hand), %v:\n%s", err, diff)
		}
	})
}
