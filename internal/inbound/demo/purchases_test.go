package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// counts are the numbers of transactions with which every rule is checked.
var counts = []int{0, 1, 2, 3, 19, 20, 21, 300, 2000, 50_000}

func TestOrderAndReferences(t *testing.T) {
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := New(1, n)
			sales := map[lyceum.SaleID]lyceum.Sale{}
			buyers := map[lyceum.SaleID]lyceum.UserID{}
			currencies := map[lyceum.SaleID]lyceum.Currency{}
			var last lyceum.Transaction
			total := 0
			for b := range s.Batches(64) {
				for _, sale := range b.Sales {
					if sale.ID != lyceum.SaleID(len(sales)+1) {
						t.Fatalf("sale %d comes after %d others", sale.ID, len(sales))
					}
					sales[sale.ID] = sale
				}
				for _, tx := range b.Transactions {
					total++
					if tx.ID != lyceum.TransactionID(total) || tx.CreatedAt.Before(last.CreatedAt) {
						t.Fatalf("transaction %d of %v comes after %d of %v", tx.ID, tx.CreatedAt, last.ID, last.CreatedAt)
					}
					last = tx
					sale, known := sales[tx.SaleID]
					if !known {
						t.Fatalf("transaction %d comes before its sale", tx.ID)
					}
					if buyers[sale.ID] == 0 {
						buyers[sale.ID], currencies[sale.ID] = tx.UserID, tx.Currency
						if tx.CreatedAt != sale.CreatedAt {
							t.Errorf("sale %d is of %v, its first transaction of %v", sale.ID, sale.CreatedAt, tx.CreatedAt)
						}
					}
					if buyers[sale.ID] != tx.UserID || currencies[sale.ID] != tx.Currency {
						t.Errorf("sale %d is of user %d in %s and of %d in %s",
							sale.ID, buyers[sale.ID], currencies[sale.ID], tx.UserID, tx.Currency)
					}
					checkReferences(t, s, &tx)
				}
			}
			if total != n || len(buyers) != len(sales) {
				t.Errorf("%d transactions, want %d; %d sales, %d with a transaction", total, n, len(sales), len(buyers))
			}
		})
	}
}

func checkReferences(t *testing.T, s *School, tx *lyceum.Transaction) {
	t.Helper()
	user := s.Users[tx.UserID-1]
	if !user.CreatedAt.Before(tx.CreatedAt) || user.Role == lyceum.Owner || user.Role == lyceum.Author {
		t.Errorf("transaction %d of %v is by the %s %d of %v", tx.ID, tx.CreatedAt, user.Role, user.ID, user.CreatedAt)
	}
	plan := s.PricingPlans[tx.PricingPlanID-1]
	if !plan.CreatedAt.Before(tx.CreatedAt) || plan.Currency != tx.Currency {
		t.Errorf("transaction %d of %v in %s is for plan %d of %v in %s",
			tx.ID, tx.CreatedAt, tx.Currency, plan.ID, plan.CreatedAt, plan.Currency)
	}
	if tx.AffiliateID.Present && affiliateUser(tx.AffiliateID.Value) == tx.UserID {
		t.Errorf("transaction %d was brought by its own buyer %d", tx.ID, tx.UserID)
	}
	var author lyceum.AuthorID
	if plan.CourseID.Present {
		author = courses[plan.CourseID.Value-1].author
	}
	if tx.AuthorID.Value != author || tx.AuthorID.Present != (author != 0) {
		t.Errorf("transaction %d has author %v, its course %d", tx.ID, tx.AuthorID, author)
	}
	for _, ref := range []struct {
		what  string
		id    int32
		set   bool
		known int
	}{
		{"affiliate", int32(tx.AffiliateID.Value), tx.AffiliateID.Present, len(s.Affiliates)},
		{"author", int32(tx.AuthorID.Value), tx.AuthorID.Present, len(s.Authors)},
		{"coupon", int32(tx.CouponID.Value), tx.CouponID.Present, len(s.Coupons)},
	} {
		if ref.set && (ref.id < 1 || int(ref.id) > ref.known) || !ref.set && ref.id != 0 {
			t.Errorf("transaction %d has %s %d, of %d", tx.ID, ref.what, ref.id, ref.known)
		}
	}
}

func TestEveryTransaction(t *testing.T) {
	rules := []struct {
		name  string
		holds func(tx *lyceum.Transaction, plan *lyceum.PricingPlan) bool
	}{
		{"times are whole seconds in UTC", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			return tx.CreatedAt == lyceum.Second(tx.CreatedAt) && tx.PurchasedAt == lyceum.Second(tx.PurchasedAt) &&
				(!tx.RefundedAt.Present || tx.RefundedAt.Value == lyceum.Second(tx.RefundedAt.Value))
		}},
		{"times are within the time of sales", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			return !tx.CreatedAt.Before(firstSecond) && !tx.PurchasedAt.Before(tx.CreatedAt) && !tx.PurchasedAt.After(lastSecond)
		}},
		{"purchased when created, unless it recurs", func(tx *lyceum.Transaction, plan *lyceum.PricingPlan) bool {
			return tx.PurchasedAt.Equal(tx.CreatedAt) || plan.BillingInterval.Present
		}},
		{"amounts fit into int32 and are not negative", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			for _, amount := range []int64{
				int64(tx.Charge), int64(tx.FinalPrice), int64(tx.TaxCharge), int64(tx.Revenue),
				int64(tx.ChargebackFee.Value), int64(tx.AffiliateFees), int64(tx.AuthorFees), int64(tx.AmountRefunded),
			} {
				if amount < 0 || amount > math.MaxInt32 {
					return false
				}
			}
			return true
		}},
		{"the price is the plan's, less with a coupon", func(tx *lyceum.Transaction, plan *lyceum.PricingPlan) bool {
			if tx.CouponID.Present {
				return tx.FinalPrice < plan.Price && tx.FinalPrice > plan.Price/2
			}
			return tx.FinalPrice == plan.Price
		}},
		{"the tax is at most 27 per cent", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			return tx.TaxCharge <= tx.FinalPrice*27/100+1
		}},
		{"the charge is price and tax in dollars, when paid", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			want := rates[rateIndex(tx.Currency)].usd(tx.FinalPrice + tx.TaxCharge)
			return tx.Paid && tx.Charge == want || !tx.Paid && tx.Charge == 0
		}},
		{"the revenue is what is left of the charge", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			r := rates[rateIndex(tx.Currency)]
			want := tx.Charge - r.usd(tx.TaxCharge) - r.usd(tx.AffiliateFees) - r.usd(tx.AuthorFees)
			return tx.Paid && tx.Revenue == want && tx.Revenue <= tx.Charge || !tx.Paid && tx.Revenue == 0
		}},
		{"fees have somebody to go to and money to come from", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			earned := tx.Paid && tx.FinalPrice > 0
			return (tx.AffiliateFees > 0) == (earned && tx.AffiliateID.Present) &&
				(tx.AuthorFees > 0) == (earned && tx.AuthorID.Present)
		}},
		{"what is free costs nothing", func(tx *lyceum.Transaction, plan *lyceum.PricingPlan) bool {
			return (plan.Frequency == lyceum.Free) == (tx.FinalPrice == 0)
		}},
		{"what is unpaid is neither refunded nor charged back", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			return tx.Paid || !tx.RefundedAt.Present && tx.AmountRefunded == 0 && !tx.HasChargeback.Value
		}},
		{"a refund has a time within 30 days and an amount", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			if !tx.RefundedAt.Present {
				return tx.AmountRefunded == 0
			}
			at := tx.RefundedAt.Value
			return at.After(tx.PurchasedAt) && !at.After(tx.PurchasedAt.Add(30*24*time.Hour)) && !at.After(lastSecond) &&
				tx.AmountRefunded > 0 && tx.AmountRefunded <= tx.FinalPrice
		}},
		{"a chargeback alone has a fee", func(tx *lyceum.Transaction, _ *lyceum.PricingPlan) bool {
			return tx.HasChargeback == lyceum.Some(true) && tx.ChargebackFee == lyceum.Some[lyceum.Minor](1500) ||
				!tx.HasChargeback.Value && tx.ChargebackFee == lyceum.None[lyceum.Minor]()
		}},
	}
	for _, n := range counts {
		for seed := range uint64(3) {
			s := New(seed, n)
			_, transactions := salesOf(s, 1000)
			for i := range transactions {
				tx := &transactions[i]
				for _, rule := range rules {
					if !rule.holds(tx, &s.PricingPlans[tx.PricingPlanID-1]) {
						t.Fatalf("seed %d, %d transactions: not so that %s: %+v", seed, n, rule.name, *tx)
					}
				}
			}
		}
	}
}

// line is a sale and one of its plans.
type line struct {
	sale lyceum.SaleID
	plan lyceum.PricingPlanID
}

// TestRenewalsKeepTheirRhythm checks that a sale of a recurring plan is renewed at the same time
// of the same day of every month or year, for the same buyer, and that no other sale is renewed.
func TestRenewalsKeepTheirRhythm(t *testing.T) {
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := New(1, n)
			seen := map[line][]lyceum.Transaction{}
			_, transactions := salesOf(s, 1000)
			for _, tx := range transactions {
				seen[line{tx.SaleID, tx.PricingPlanID}] = append(seen[line{tx.SaleID, tx.PricingPlanID}], tx)
			}
			for key, payments := range seen {
				months := map[string]int{"": 0, "month": 1, "year": 12}[s.PricingPlans[key.plan-1].BillingInterval.Value]
				if months == 0 && len(payments) > 1 {
					t.Errorf("sale %d has plan %d %d times", key.sale, key.plan, len(payments))
				}
				for i, tx := range payments {
					if want := usual.time(usual.monthsLater(momentOf(payments[0].CreatedAt), i*months)); tx.CreatedAt != want {
						t.Errorf("payment %d of sale %d is of %v, want %v", i+1, key.sale, tx.CreatedAt, want)
					}
					if renewal := i > 0; renewal == tx.PurchasedAt.Equal(tx.CreatedAt) {
						t.Errorf("payment %d of sale %d is of %v and purchased at %v", i+1, key.sale, tx.CreatedAt, tx.PurchasedAt)
					}
				}
			}
		})
	}
}

func TestNothingOfARetiredCourseIsSold(t *testing.T) {
	s := New(1, 50_000)
	sold := 0
	_, transactions := salesOf(s, 1000)
	for _, tx := range transactions {
		plan := s.PricingPlans[tx.PricingPlanID-1]
		if !plan.CourseID.Present || courses[plan.CourseID.Value-1].retired == 0 {
			continue
		}
		sold++
		if retired := usual.time(courses[plan.CourseID.Value-1].retired); !tx.CreatedAt.Before(retired) {
			t.Errorf("transaction %d of %v is for course %d, retired %v", tx.ID, tx.CreatedAt, plan.CourseID.Value, retired)
		}
	}
	if sold == 0 {
		t.Error("nothing was sold before it retired")
	}
}

func TestDrawGivesWhatIsSold(t *testing.T) {
	s := newShop(usual)
	rng := seed(1).stream("a test")
	popular := rand.NewZipf(rng, 1.25, 4, uint64(len(s.offers)-1))
	recurring := 0
	for _, at := range []moment{0, on(2024, time.May, 1), closing - 1} {
		for range 2000 {
			for _, onlyOnce := range []bool{false, true} {
				o := s.draw(popular, at, onlyOnce)
				recurs := o.frequency == lyceum.Subscription || o.frequency == lyceum.PaymentPlan
				if at < o.opens || at >= o.closes || onlyOnce && recurs {
					t.Fatalf("at %v, only once %t: %+v", usual.time(at), onlyOnce, *o)
				}
				if recurs {
					recurring++
				}
			}
		}
	}
	if recurring == 0 {
		t.Error("nothing that recurs was drawn")
	}
}

func TestPaymentPlansEnd(t *testing.T) {
	s := New(1, 20_000)
	paid := map[line]int{}
	_, transactions := salesOf(s, 1000)
	first := map[line]time.Time{}
	for _, tx := range transactions {
		key := line{tx.SaleID, tx.PricingPlanID}
		if paid[key]++; paid[key] == 1 {
			first[key] = tx.CreatedAt
		}
	}
	for key, n := range paid {
		want := s.shop.terms[key.plan-1].payments
		if want == 0 {
			continue
		}
		over := usual.monthsLater(momentOf(first[key]), want) < closing
		if n > want || over && n != want {
			t.Errorf("sale %d of %v has %d payments, want %d", key.sale, first[key], n, want)
		}
	}
}

func TestLearnerAlwaysHasTransactions(t *testing.T) {
	for n := 20; n <= 4000; n = n*3/2 + 1 {
		for seed := range uint64(10) {
			sales := map[lyceum.SaleID]bool{}
			_, transactions := salesOf(New(seed, n), 1000)
			for _, tx := range transactions {
				if tx.UserID == 7 {
					sales[tx.SaleID] = true
				}
			}
			if len(sales) != 3 {
				t.Errorf("seed %d, %d transactions: the learner has %d sales, want 3", seed, n, len(sales))
			}
		}
	}
}

// tally holds the counts of TestShares.
type tally struct {
	transactions, sales, ties, unpaid, refunded, full, chargedBack, unknown, free, renewed float64
	affiliate, author, coupon, dollars, pairs                                              float64
	byUser, byPlan, byYear, byMonth, byWeekday                                             map[int]float64
	currencies                                                                             map[lyceum.Currency]float64
	frequencies                                                                            map[lyceum.Frequency]float64
}

func take(s *School) *tally {
	c := &tally{
		byUser: map[int]float64{}, byPlan: map[int]float64{}, byYear: map[int]float64{}, byMonth: map[int]float64{},
		byWeekday: map[int]float64{}, currencies: map[lyceum.Currency]float64{}, frequencies: map[lyceum.Frequency]float64{},
	}
	add := func(to *float64, when bool) {
		if when {
			*to++
		}
	}
	sales, transactions := salesOf(s, 1000)
	c.sales, c.transactions = float64(len(sales)), float64(len(transactions))
	plans := map[lyceum.SaleID]lyceum.PricingPlanID{}
	for i, tx := range transactions {
		frequency := s.PricingPlans[tx.PricingPlanID-1].Frequency
		add(&c.ties, i > 0 && tx.CreatedAt.Equal(transactions[i-1].CreatedAt))
		add(&c.unpaid, !tx.Paid)
		add(&c.refunded, tx.RefundedAt.Present)
		add(&c.full, tx.FullyRefunded())
		add(&c.chargedBack, tx.HasChargeback.Value)
		add(&c.unknown, !tx.HasChargeback.Present)
		add(&c.free, frequency == lyceum.Free)
		add(&c.renewed, !tx.PurchasedAt.Equal(tx.CreatedAt))
		add(&c.affiliate, tx.AffiliateID.Present)
		add(&c.author, tx.AuthorID.Present)
		add(&c.coupon, tx.CouponID.Present)
		add(&c.dollars, tx.Currency == "USD")
		add(&c.pairs, plans[tx.SaleID] != 0 && plans[tx.SaleID] != tx.PricingPlanID)
		plans[tx.SaleID] = tx.PricingPlanID
		c.byUser[int(tx.UserID)]++
		c.byPlan[int(tx.PricingPlanID)]++
		c.byYear[tx.CreatedAt.Year()]++
		c.byMonth[int(tx.CreatedAt.Month())]++
		c.byWeekday[int(tx.CreatedAt.Weekday())]++
		c.currencies[tx.Currency]++
		c.frequencies[frequency]++
	}
	return c
}

// top returns the share of the total that the largest counts make up together.
func top(counts map[int]float64, largest int) float64 {
	var all []float64
	sum := 0.0
	for _, n := range counts {
		all = append(all, n)
		sum += n
	}
	slices.Sort(all)
	part := 0.0
	for _, n := range all[max(0, len(all)-largest):] {
		part += n
	}
	return part / sum
}

func TestShares(t *testing.T) {
	var small, large []*tally
	for seed := range uint64(4) {
		small = append(small, take(New(seed, 2000)))
		large = append(large, take(New(seed, 50_000)))
	}
	for _, tc := range []struct {
		name     string
		of       func(c *tally) float64
		min, max float64 // with 50,000 transactions
		loose    float64 // additional tolerance either way with 2,000
	}{
		{"unpaid", func(c *tally) float64 { return c.unpaid / c.transactions }, 0.025, 0.035, 0.01},
		{"refunded", func(c *tally) float64 { return c.refunded / c.transactions }, 0.025, 0.035, 0.01},
		{"fully, of those refunded", func(c *tally) float64 { return c.full / c.refunded }, 0.45, 0.55, 0.2},
		{"charged back", func(c *tally) float64 { return c.chargedBack / c.transactions }, 0.003, 0.005, 0.0025},
		{"chargeback not known", func(c *tally) float64 { return c.unknown / c.transactions }, 0.05, 0.2, 0.02},
		{"free", func(c *tally) float64 { return c.free / c.transactions }, 0.04, 0.2, 0.02},
		{"renewals", func(c *tally) float64 { return c.renewed / c.transactions }, 0.25, 0.55, 0.05},
		{"affiliate", func(c *tally) float64 { return c.affiliate / c.transactions }, 0.18, 0.22, 0.05},
		{"author", func(c *tally) float64 { return c.author / c.transactions }, 0.5, 0.95, 0},
		{"coupon", func(c *tally) float64 { return c.coupon / c.transactions }, 0.10, 0.14, 0.04},
		{"in US dollars", func(c *tally) float64 { return c.dollars / c.transactions }, 0.55, 0.9, 0.03},
		{"currencies", func(c *tally) float64 { return float64(len(c.currencies)) }, 7, 7, 3},
		{"frequencies", func(c *tally) float64 { return float64(len(c.frequencies)) }, 4, 4, 0},
		{"orders for two", func(c *tally) float64 { return c.pairs / c.transactions }, 0.003, 0.05, 0.002},
		{"created in the same second", func(c *tally) float64 { return c.ties / c.transactions }, 0.001, 0.1, 0.0005},
		{"of the ten best plans", func(c *tally) float64 { return top(c.byPlan, 10) }, 0.35, 0.75, 0.1},
		{"of the best plan", func(c *tally) float64 { return top(c.byPlan, 1) }, 0.06, 0.25, 0.02},
		{
			"of the most frequent 2 % of users",
			func(c *tally) float64 { return top(c.byUser, int(c.transactions/5*0.02)) }, 0.06, 0.4, 0.02,
		},
		{
			"of the most frequent 20 % of users",
			func(c *tally) float64 { return top(c.byUser, int(c.transactions/5*0.2)) }, 0.4, 0.85, 0.02,
		},
		{"2024 to 2023", func(c *tally) float64 { return c.byYear[2024] / c.byYear[2023] }, 1.2, 2, 0.2},
		{"2025 to 2024", func(c *tally) float64 { return c.byYear[2025] / c.byYear[2024] }, 1.1, 2, 0.2},
		{"November to October", func(c *tally) float64 { return c.byMonth[11] / c.byMonth[10] }, 1.4, 2.5, 0.2},
		{"November to December", func(c *tally) float64 { return c.byMonth[11] / c.byMonth[12] }, 1.3, 2.5, 0.2},
		{"Sunday to Friday", func(c *tally) float64 { return c.byWeekday[0] / c.byWeekday[5] }, 1.1, 1.7, 0.2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range large {
				if got := tc.of(large[seed]); got < tc.min || got > tc.max {
					t.Errorf("seed %d, 50,000: %.4f, want %.4f to %.4f", seed, got, tc.min, tc.max)
				}
				if got := tc.of(small[seed]); got < tc.min-tc.loose || got > tc.max+tc.loose {
					t.Errorf("seed %d, 2,000: %.4f, want %.4f to %.4f", seed, got, tc.min-tc.loose, tc.max+tc.loose)
				}
			}
		})
	}
}

func TestEveryNullableFieldIsNullAndNot(t *testing.T) {
	for seed := range uint64(10) {
		_, transactions := salesOf(New(seed, 2000), 1000)
		for _, tc := range []struct {
			field string
			set   func(tx *lyceum.Transaction) bool
		}{
			{"author_id", func(tx *lyceum.Transaction) bool { return tx.AuthorID.Present }},
			{"status", func(tx *lyceum.Transaction) bool { return tx.Paid }},
			{"has_chargeback", func(tx *lyceum.Transaction) bool { return tx.HasChargeback.Present }},
			{"chargeback_fee", func(tx *lyceum.Transaction) bool { return tx.ChargebackFee.Present }},
			{"affiliate_id", func(tx *lyceum.Transaction) bool { return tx.AffiliateID.Present }},
			{"coupon_id", func(tx *lyceum.Transaction) bool { return tx.CouponID.Present }},
			{"refunded_at", func(tx *lyceum.Transaction) bool { return tx.RefundedAt.Present }},
		} {
			set := 0
			for i := range transactions {
				if tc.set(&transactions[i]) {
					set++
				}
			}
			if set == 0 || set == len(transactions) {
				t.Errorf("seed %d: %s is set in %d of %d", seed, tc.field, set, len(transactions))
			}
		}
	}
}
