package sales_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestMeansFollow changes plans and checks that the sale that follows is paid like the old one,
// unless that was free or the request says otherwise.
func TestMeansFollow(t *testing.T) {
	card := lyceum.Means{Method: some(lyceum.ByStripe), Gateway: some("Stripe Checkout")}
	byPaypal := lyceum.Means{Method: some(lyceum.ByPaypal)}
	for _, of := range []struct {
		name      string
		price     lyceum.Minor
		old, sent lyceum.Means
		want      lyceum.Means
		method    lyceum.PaymentMethod
	}{
		{"by card", 500, card, lyceum.Means{}, card, lyceum.ByStripe},
		{"by card, then otherwise", 500, card, byPaypal, byPaypal, lyceum.ByPaypal},
		{"for free", 0, lyceum.Means{Method: some(lyceum.ForFree)}, lyceum.Means{}, lyceum.Means{}, lyceum.ByExternal},
		{"nothing said", 500, lyceum.Means{}, lyceum.Means{}, lyceum.Means{}, lyceum.ByExternal},
	} {
		for _, later := range []bool{false, true} {
			if later && of.sent != (lyceum.Means{}) {
				continue // fields about a later payment cannot be sent
			}
			b := newClub(t, openStore(t))
			old := b.sell(t, sales.NewSale{
				User: 1, Plan: silver, Means: of.old, Reference: some("ch_1"), Amounts: sales.Amounts{FinalPrice: some(of.price)},
			})
			c := to(old.ID, gold, "")
			c.AtPeriodEnd, c.Means = later, of.sent
			fresh := b.change(t, c)
			if later {
				b.pass(40)
				b.endPeriods(t)
				fresh = b.show(t, b.show(t, old.ID).ReplacedBy.Value)
			}
			if fresh.Means != of.want || fresh.PaidBy() != of.method {
				t.Errorf("%s, later %v: %+v, paid by %s", of.name, later, fresh.Means, fresh.PaidBy())
			}
		}
	}
}
