package sales_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// ending returns the end of a sale that may no longer be charged.
func (m *union) ending(d *deal) sales.Ending {
	return sales.Ending{Sale: d.id, ChargingStopped: rapid.Bool().Draw(m.r, "charging stopped")}
}

// confirm confirms that a sale is no longer charged.
func (m *union) confirm(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	_, err := m.b.service.ChargingStopped(t.Context(), m.b.by(), d.id)
	if (err == nil) != (d.recurring() && d.over != "") {
		m.r.Fatalf("confirm that %+v is not charged: %v", d, err)
	}
	if err == nil {
		d.toStop = false
	}
}

// compareToStop compares the list of sales still being charged with the model.
func (m *union) compareToStop(t *testing.T) {
	listed, err := m.b.service.ToStop(t.Context(), m.b.by(), struct{}{}, firstPage)
	if err != nil {
		m.r.Fatal(err)
	}
	var got, want []lyceum.SaleID
	for i := range listed.Rows {
		got = append(got, listed.Rows[i].ID)
	}
	for _, d := range m.deals {
		if d.toStop {
			want = append(want, d.id)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		m.r.Fatalf("to stop (-model +list):\n%s", diff)
	}
	m.seen["sales to stop charging"] += len(want)
}

// importSale imports a subscription that was sold and is billed elsewhere.
func (m *union) importSale(t *testing.T, user lyceum.UserID) {
	m.imports++
	at := lyceum.Second(m.b.now).AddDate(0, 0, -rapid.IntRange(0, 100).Draw(m.r, "days ago"))
	x := lyceum.Transaction{
		ID: lyceum.TransactionID(10_000 * m.imports), SaleID: lyceum.SaleID(10_000 * m.imports), UserID: user, PricingPlanID: 6,
		CreatedAt: at, PurchasedAt: at, Paid: true, FinalPrice: 700, Currency: "USD", Charge: 700,
	}
	_, problems, err := m.b.service.Import(m.b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{x})
	if err != nil || len(problems) > 0 {
		m.r.Fatal(err, problems)
	}
	d := &deal{id: x.SaleID, user: user, plan: 6, months: 1, anchor: at}
	d.pay(&x)
	m.deals = append(m.deals, d)
	m.link(user, d.course(), time.Time{}, time.Time{}, false)
}
