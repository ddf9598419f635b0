package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The seats and uses of older sales and orders are counted, except those of sales that have ended
// or were fully refunded.
func TestSalesFromBeforeSeatsWereCounted(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)",
		"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 1), (1, 'sale_id', 9), (1, 'transaction_id', 9), (1, 'transactions', 7)",
		"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (1, 1, 'a@example.com', 'a@example.com', 'student', 0)",
		"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at, product_type, product_id) VALUES (1, 1, 'Once', 100, 'USD', 'one_time_payment', 0, 0, 'product_collection', 1)",
		"INSERT INTO coupons (school_id, coupon_id, code) VALUES (1, 1, 'Spring')",
		"INSERT INTO orders (school_id, order_id, email, pricing_plan_id, coupon_id, final_price, currency, state, created_at, abandons_at) VALUES " +
			"(1, 1, 'a@example.com', 1, 1, 100, 'USD', 'open', 0, 1), (1, 2, 'a@example.com', 1, 1, 100, 'USD', 'abandoned', 0, 1)",
	}
	transactions := 0
	sale := func(id int, ended string, refunds ...int) {
		statements = append(statements, fmt.Sprintf("INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, coupon_id, ended_at, end_reason) VALUES (1, %d, 0, 1, 1, 1, %s)", id, ended))
		for _, refund := range refunds {
			transactions++
			statements = append(statements, fmt.Sprintf("INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, "+
				"affiliate_fees, author_fees, coupon_id, amount_refunded) VALUES (1, %d, 1, 1, %d, 0, 0, 100, 100, 'USD', 0, 100, 1, 0, 0, 1, %d)", transactions, id, refund))
		}
	}
	sale(1, "NULL, NULL", 0)
	sale(2, "NULL, NULL", 100)
	sale(3, "NULL, NULL", 100, 0)
	sale(4, "1, 'canceled'", 0)
	sale(5, "1, 'refunded'", 100, 100)
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 15, statements...)
			v := store.In(t.Context(), 1)
			taken, err := v.CountTaken([]lyceum.PricingPlanID{1}, []lyceum.CouponID{1})
			if err != nil || taken.Seats[1] != 3 || taken.Uses[1] != 4 {
				t.Errorf("taken %+v %v, want 3 seats (sales 1 and 3, order 1) and 4 uses (sale 4, too)", taken, err)
			}
			counts, err := v.CountProducts(lyceum.CollectionKind, []int32{1, 2}, time.Now())
			if want := (lyceum.ProductCounts{Sales: 5}); err != nil || counts[1] != want || len(counts) != 1 {
				t.Errorf("counts %+v %v, want %+v", counts, err, want)
			}
			coupon, found, err := v.Coupons.First(v, lyceum.CouponFilter{Code: lyceum.Some("SPRING"), IsArchived: lyceum.Some(false)})
			if err != nil || !found || coupon.ID != 1 {
				t.Errorf("the coupon: %+v %v %v", coupon, found, err)
			}
			findings, err := store.Check(t.Context())
			odd := slices.ContainsFunc(findings, func(f lyceum.Finding) bool {
				return strings.Contains(f.What, "taken") || strings.Contains(f.What, "their counter says") || strings.Contains(f.What, "fully refunded")
			})
			if err != nil || odd {
				t.Errorf("findings %v, %v", findings, err)
			}
		})
	}
}

// TestRefundedTrials checks that older sales with a trial whose payments above 0 were refunded give
// back their seats and uses: sale 1 is on, 2 has ended, 3 has another payment, 4 had no payment
// above 0, and 5 was refunded without a trial before.
func TestRefundedTrials(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)",
		"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (1, 1, 'a@example.com', 'a@example.com', 'student', 0)",
		"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (1, 1, 'Monthly', 100, 'USD', 'subscription', 0, 0)",
		"INSERT INTO coupons (school_id, coupon_id, code) VALUES (1, 1, 'Spring')",
		"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 1), (1, 'sale_id', 5), (1, 'transaction_id', 9), (1, 'transactions', 8), (1, 'users', 1), (1, 'user_id', 1), " +
			"(1, 'sold:1', 5), (1, 'seats:1', 3), (1, 'uses:1', 4)",
		"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, coupon_id, ended_at, end_reason, released) VALUES " +
			"(1, 1, 0, 1, 1, 1, NULL, NULL, 0), (1, 2, 0, 1, 1, 1, 1, 'refunded', 0), (1, 3, 0, 1, 1, 1, NULL, NULL, 0), (1, 4, 0, 1, 1, 1, NULL, NULL, 0), (1, 5, 0, 1, 1, 1, 1, 'refunded', 1)",
	}
	id := 0
	for sale, payments := range [][][2]int{1: {{0, 0}, {100, 100}}, 2: {{0, 0}, {100, 100}}, 3: {{0, 0}, {100, 100}, {100, 40}}, 4: {{0, 0}}, 5: {{100, 100}}} {
		for _, p := range payments {
			id++
			statements = append(statements, fmt.Sprintf("INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, "+
				"has_chargeback, affiliate_fees, author_fees, coupon_id, amount_refunded) VALUES (1, %d, 1, 1, %d, 0, 0, %[3]d, %[3]d, 'USD', 0, %[3]d, 1, 0, 0, 0, 1, %[4]d)", id, sale, p[0], p[1]))
		}
	}
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 94, statements...)
			v := store.In(t.Context(), 1)
			taken, err := v.CountTaken([]lyceum.PricingPlanID{1}, []lyceum.CouponID{1})
			if err != nil || taken.Seats[1] != 2 || taken.Uses[1] != 2 {
				t.Errorf("taken %+v %v, want 2 seats and 2 uses (sales 3 and 4)", taken, err)
			}
			released := map[lyceum.SaleID]bool{}
			err = v.Sales.Each(v, lyceum.SaleFilter{}, func(s *lyceum.Sale) error {
				released[s.ID] = s.Released
				return nil
			})
			if want := map[lyceum.SaleID]bool{1: true, 2: true, 3: false, 4: false, 5: true}; err != nil || !maps.Equal(released, want) {
				t.Errorf("refunded in full: %v %v, want %v", released, err, want)
			}
		})
	}
}
