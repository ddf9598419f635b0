package sales_test

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestARefundedSaleIsPaidAgain checks that a sale that was refunded in full and kept gets a
// warning if it is paid for again and its seat or the use of its coupon was taken in the meantime.
func TestARefundedSaleIsPaidAgain(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		for _, test := range []struct {
			name   string
			seat   bool
			use    bool
			lapsed bool
			want   []string
		}{
			{name: "both are left"},
			{name: "the seat was taken", seat: true, want: []string{"sold_out"}},
			{name: "the use was taken", use: true, want: []string{"coupon_used_up"}},
			{name: "both were taken", seat: true, use: true, want: []string{"sold_out", "coupon_used_up"}},
			{name: "it lapsed", seat: true, use: true, lapsed: true, want: []string{"sold_out", "coupon_used_up"}},
		} {
			t.Run(name+", "+test.name, func(t *testing.T) {
				b, ctx := openBooks(t, store), t.Context()
				_, e1 := b.learning.UpdatePricingPlan(ctx, b.by(), learning.PricingPlanChange{ID: 6, EnrollmentCap: some(some(int32(1)))})
				_, e2 := b.learning.UpdateCoupon(ctx, b.by(), learning.CouponChange{ID: 1, Percent: some(some(0.5)), Available: some(some(int32(1)))})
				n := sales.NewSale{User: 1, Plan: 6, Coupon: some(lyceum.CouponID(1))}
				d := b.sell(t, n)
				if test.lapsed {
					b.pass(60)
					b.lapse(t)
				}
				_, e3 := b.service.Refund(ctx, b.by(), sales.Refund{Transaction: d.Transactions[0].ID, EndAccess: some(false)})
				for _, err := range []error{e1, e2, e3} {
					if err != nil {
						t.Fatal(err)
					}
				}
				if why := b.show(t, d.ID).EndReason; (why == some(lyceum.SaleLapsed)) != test.lapsed {
					t.Fatalf("it ended: %v", why)
				}
				if n.User = 2; test.seat {
					b.sell(t, sales.NewSale{User: n.User, Plan: n.Plan})
				}
				if n.Plan = 1; test.use {
					b.sell(t, n)
				}
				b.renew(t, d.ID, "")
				if got := b.warnings(t, d.ID); !slices.Equal(got, test.want) {
					t.Errorf("the warnings are %q, want %q", got, test.want)
				}
				b.healthy(t, store)
			})
		}
	}
}

// TestASeatIsHandedBack refunds a change back to the plan with which a buyer began: the first sale
// opens again, and takes the seat of the refunded one.
func TestASeatIsHandedBack(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b, ctx := newClub(t, store), t.Context()
			_, err := b.learning.UpdatePricingPlan(ctx, b.by(), learning.PricingPlanChange{ID: silver, EnrollmentCap: some(some(int32(1)))})
			if err != nil {
				t.Fatal(err)
			}
			first := b.sell(t, sales.NewSale{User: 1, Plan: silver})
			second := b.change(t, to(first.ID, gold, "ch_2"))
			third := b.change(t, to(second.ID, silver, "ch_3"))
			for _, d := range []sales.SaleDetail{second, third} {
				if _, err := b.service.Refund(ctx, b.by(), sales.Refund{Transaction: d.Transactions[0].ID}); err != nil {
					t.Fatal(err)
				}
			}
			if again := b.show(t, first.ID); again.EndedAt.Present {
				t.Errorf("the first sale: %+v", again.Sale)
			}
			if got := b.warnings(t, first.ID); len(got) > 0 {
				t.Errorf("the warnings are %q, want none", got)
			}
			b.healthy(t, store)
		})
	}
}
