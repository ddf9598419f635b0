package lyceum_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
)

func TestPartsOfAPayment(t *testing.T) {
	type part = lyceum.Part
	for _, tc := range []struct {
		name         string
		paid, back   part
		price, total lyceum.Minor // one of them; 0: the other
		want         part
	}{
		{"the whole price", part{10000, 2000}, part{}, 10000, 0, part{10000, 2000}},
		{"a total as high as the price", part{10000, 2000}, part{}, 0, 10000, part{8333, 1667}},
		{"a half by total", part{10000, 2000}, part{}, 0, 5000, part{4167, 833}},
		{"the rest by total", part{10000, 2000}, part{4167, 833}, 0, 7000, part{5833, 1167}},
		{"the rest by price", part{10000, 2000}, part{8333, 1667}, 1667, 0, part{1667, 333}},
		{"a third of three", part{3, 1}, part{}, 1, 0, part{1, 0}},
		{"the second third", part{3, 1}, part{1, 0}, 1, 0, part{1, 1}},
		{"the last third", part{3, 1}, part{2, 1}, 1, 0, part{1, 0}},
		{"without tax", part{1999, 0}, part{}, 0, 1998, part{1998, 0}},
		{"all but a cent leaves some of the price", part{100, 100}, part{}, 0, 199, part{99, 100}},
		{"tax only is left", part{1000, 200}, part{1000, 0}, 0, 50, part{0, 50}},
		{"price only is left", part{1000, 200}, part{100, 200}, 0, 50, part{50, 0}},
		{"a price of nothing", part{0, 30}, part{}, 0, 10, part{0, 10}},
		{"the largest", part{2_000_000_000, 147_483_647}, part{}, 1_000_000_000, 0, part{1_000_000_000, 73_741_824}},
	} {
		got := tc.paid.ByTotal(tc.back, tc.total)
		if tc.price > 0 {
			got = tc.paid.ByPrice(tc.back, tc.price)
		}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestRefundedPart(t *testing.T) {
	type part = lyceum.Part
	for _, tc := range []struct {
		name     string
		paid     part
		refunded lyceum.Minor
		tax      lyceum.Minor // returned by movements
		want     part
	}{
		{"nothing", part{1000, 200}, 0, 0, part{}},
		{"a part with its tax", part{1000, 200}, 500, 100, part{500, 100}},
		{"tax as price", part{1000, 200}, 1100, 0, part{1000, 100}},
		{"more than was paid", part{1000, 200}, 1300, 0, part{1000, 200}},
		{"nothing of a price below 0", part{-1000, 200}, 0, 0, part{}},
		{"nothing of a tax below 0", part{-1000, -200}, 0, 0, part{}},
		{"a part beside a tax below 0", part{1000, -200}, 400, 0, part{400, 0}},
		{"a price below 0 by one below 0", part{-1000, -200}, -400, 0, part{-400, 0}},
	} {
		x := lyceum.Transaction{FinalPrice: tc.paid.Price, TaxCharge: tc.paid.Tax, AmountRefunded: tc.refunded}
		if got := x.RefundedPart(tc.tax); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestPartsAddUp checks that however a payment is given back, no part is negative, and all
// parts add up to the payment to the cent.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		amount := func(name string, most lyceum.Minor) lyceum.Minor {
			return lyceum.Minor(rapid.Int64Range(0, int64(most)).Draw(r, name))
		}
		paid := lyceum.Part{Price: amount("price", 20000), Tax: amount("tax", 5000)}
		var back lyceum.Part
		for back != paid {
			left := paid.Minus(back)
			var next lyceum.Part
			if price := amount("amount", left.Price); price > 0 && rapid.Bool().Draw(r, "by price") {
				if next = paid.ByPrice(back, price); next.Price != price {
					r.Fatalf("%+v by price %d", next, price)
				}
			} else {
				total := 1 + amount("total", left.Total()-1)
				if next = paid.ByTotal(back, total); next.Total() != total {
					r.Fatalf("%+v by total %d", next, total)
				}
				if paid.Price > 0 && total < left.Total() && next.Price == left.Price && left.Price > 0 {
					r.Fatalf("%+v of %+v takes all of the price, and leaves %d", next, left, left.Total()-total)
				}
			}
			if next.Price < 0 || next.Tax < 0 || next.Price > left.Price || next.Tax > left.Tax || next.Total() == 0 {
				r.Fatalf("%+v of %+v", next, left)
			}
			back = back.Plus(next)
		}
	})
}
