package sales_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// stops lists the sales that somebody has to stop charging, as "sale reason user reference".
func (b *books) stops(t *testing.T) (list []string) {
	t.Helper()
	found, err := b.service.ToStop(t.Context(), b.by(), struct{}{}, lyceum.Page{Number: 1, Size: 100})
	if err != nil || found.Total != int64(len(found.Rows)) {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, s := range found.Rows {
		list = append(list, fmt.Sprint(s.ID, " ", s.EndReason.Value, " ", s.Buyer.Email, " ", s.Reference.Value))
	}
	return list
}

// TestToStopCharging checks that, whatever ends a sale with recurring payments, it is listed
// until somebody stops charging it.
func TestToStopCharging(t *testing.T) {
	stores := engines(t)
	const nothing lyceum.PricingPlanID = 42 // monthly, and free
	type act func(*testing.T, *books) error
	cancel := func(t *testing.T, b *books) error {
		_, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: 1})
		return err
	}
	void := func(t *testing.T, b *books) error {
		_, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: 1})
		return err
	}
	refund := func(id lyceum.TransactionID, stopped bool) act {
		return func(t *testing.T, b *books) error {
			_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, ChargingStopped: stopped})
			return err
		}
	}
	closed := func(state lyceum.DisputeState) act {
		return func(t *testing.T, b *books) error {
			if state == lyceum.DisputeLost {
				if _, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1}); err != nil {
					return err
				}
			}
			_, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: 1, State: state})
			return err
		}
	}
	unenroll := func(t *testing.T, b *books) error {
		return b.learning.Unenroll(t.Context(), b.by(), learning.UserProduct{User: 1, Product: lyceum.CourseID(1).Product()})
	}
	change := func(stopped bool) act {
		return func(t *testing.T, b *books) error {
			c := to(1, 6, "ch_new")
			c.ChargingStopped = stopped
			_, err := b.service.ChangePlan(t.Context(), b.by(), c)
			return err
		}
	}
	changeLater := func(t *testing.T, b *books) error {
		c := to(1, 6, "")
		c.AtPeriodEnd = true
		_, err := b.service.ChangePlan(t.Context(), b.by(), c)
		b.pass(40)
		if err == nil {
			b.endPeriods(t)
		}
		return err
	}
	confirm := func(t *testing.T, b *books) error {
		_, err := b.service.ChargingStopped(t.Context(), b.by(), 1)
		return err
	}
	pass := func(days int) act {
		return func(t *testing.T, b *books) error { b.pass(days); b.endPeriods(t); return nil }
	}
	lapse := func(t *testing.T, b *books) error {
		b.pass(60)
		return b.service.Lapse(t.Context(), b.school)
	}
	renew := func(t *testing.T, b *books) error {
		r := sales.Renewal{Sale: 1, Reference: some("ch_2")}
		r.Charge = some(lyceum.USDCents(540))
		_, err := b.service.Renew(t.Context(), b.by(), r)
		return err
	}
	for _, tc := range []struct {
		name string
		plan lyceum.PricingPlanID
		acts []act
		want []string
	}{
		{"it goes on", 2, []act{pass(20)}, nil},
		{"cancelled", 2, []act{cancel}, []string{"1 canceled a@example.com ch_1"}},
		{"cancelled, and stopped being active", 2, []act{cancel, pass(40)}, []string{"1 canceled a@example.com ch_1"}},
		{"voided", 2, []act{void}, []string{"1 voided a@example.com ch_1"}},
		{"refunded", 2, []act{refund(1, false)}, []string{"1 refunded a@example.com ch_1"}},
		{"refunded after the payment system stopped", 2, []act{refund(1, true)}, nil},
		{"cancelled, then refunded after it stopped", 2, []act{cancel, refund(1, true)}, nil},
		{"lost", 2, []act{closed(lyceum.DisputeLost)}, []string{"1 charged_back a@example.com ch_1"}},
		{"lost, then won", 2, []act{closed(lyceum.DisputeLost), closed(lyceum.DisputeWon)}, nil},
		{"unenrolled", 2, []act{unenroll}, []string{"1 canceled a@example.com ch_1"}},
		{"changed", 2, []act{change(false)}, []string{"1 changed a@example.com ch_1"}},
		{"changed after it stopped", 2, []act{change(true)}, nil},
		{"changed, and the new one refunded", 6, []act{changeToMonthly, refund(2, false)}, []string{"2 refunded a@example.com ch_new"}},
		{"changed at the end of the period", 2, []act{changeLater}, []string{"1 changed a@example.com ch_1"}},
		{"lapsed", 2, []act{lapse}, []string{"1 lapsed a@example.com ch_1"}},
		{"lapsed, then paid", 2, []act{lapse, renew}, nil},
		{"cancelled, then paid", 2, []act{cancel, renew}, []string{"1 canceled a@example.com ch_2", "look at 1: sale_ended"}},
		{"lost, confirmed, then won", 2, []act{closed(lyceum.DisputeLost), confirm, closed(lyceum.DisputeWon)}, []string{"look at 1: charging_stopped"}},
		{"lapsed, confirmed, then paid", 2, []act{lapse, confirm, renew}, []string{"look at 1: charging_stopped"}},
		{"changed, confirmed, and the new one refunded", 6, []act{changeToMonthly, confirm, refund(2, false)}, []string{"2 refunded a@example.com ch_new", "look at 1: charging_stopped"}},
		{"changed after it stopped, and the new one refunded", 2, []act{change(true), refund(2, false)}, []string{"2 refunded a@example.com ch_new", "look at 1: charging_stopped"}},
		{"cancelled, confirmed, lost, then won", 2, []act{cancel, confirm, closed(lyceum.DisputeLost), closed(lyceum.DisputeWon)}, nil},
		{"confirmed", 2, []act{cancel, confirm}, nil},
		{"confirmed twice", 2, []act{cancel, confirm, confirm}, nil},
		{"confirmed, then refunded", 2, []act{cancel, confirm, refund(1, false)}, nil},
		{"paid once", 1, []act{void}, nil},
		{"free", 4, []act{void}, nil},
		{"it costs nothing", nothing, []act{void}, nil},
		{"on trial", 6, []act{void}, []string{"1 voided a@example.com ch_1"}},
	} {
		for engine, store := range stores {
			t.Run(tc.name+", "+engine, func(t *testing.T) {
				b := openBooks(t, store)
				storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
					plan, err := tx.PricingPlans.Get(tx, 2)
					plan.ID, plan.Price = nothing, 0
					if err == nil {
						_, err = tx.PricingPlans.Save(tx, plan)
					}
					return err
				})
				n := sales.NewSale{User: 1, Plan: tc.plan, Reference: some("ch_1")}
				if tc.plan == 2 {
					n.Charge = some(lyceum.USDCents(540))
				}
				b.sell(t, n)
				for _, do := range tc.acts {
					if err := do(t, b); err != nil {
						t.Fatal(err)
					}
				}
				stops := b.stops(t)
				look, err := b.service.Attention(t.Context(), b.by(), false, lyceum.Page{Number: 1, Size: 100})
				if err != nil {
					t.Fatal(err)
				}
				for i := range look.Rows {
					stops = append(stops, fmt.Sprint("look at ", look.Rows[i].Sale.ID, ": ", look.Rows[i].Code))
				}
				if diff := cmp.Diff(tc.want, stops); diff != "" {
					t.Errorf("to stop (-want +got):\n%s", diff)
				}
				b.healthy(t, b.store)
			})
		}
	}
}

// changeToMonthly changes sale 1 to another plan of its course.
func changeToMonthly(t *testing.T, b *books) error {
	c := to(1, 2, "ch_new")
	c.Charge = some(lyceum.USDCents(540))
	_, err := b.service.ChangePlan(t.Context(), b.by(), c)
	return err
}

// TestToStopInOrder checks that the sale that has waited longest comes first, and that a
// payment plan that is paid in full is not listed.
func TestToStopInOrder(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		paid := b.sellInParts(t)
		for range 2 {
			b.now = b.show(t, paid.ID).PaidUntil.Value
			b.renew(t, paid.ID, "")
		}
		var ids [3]lyceum.SaleID
		for i := range ids {
			ids[i] = b.sell(t, sales.NewSale{User: lyceum.UserID(1 + i), Plan: 6}).ID
		}
		for _, i := range []int{1, 0, 2} {
			b.pass(1)
			if _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: ids[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: paid.ID}); err != nil {
			t.Fatal(err)
		}
		want := []string{"3 voided b@example.com ", "2 voided a@example.com ", "4 voided c@example.com "}
		if diff := cmp.Diff(want, b.stops(t)); diff != "" {
			t.Errorf("%s: to stop (-want +got):\n%s", engine, diff)
		}
		found, err := b.service.ToStop(t.Context(), b.by(), struct{}{}, lyceum.Page{Number: 2, Size: 2})
		if err != nil || found.Total != 3 || len(found.Rows) != 1 || found.Rows[0].ID != 4 {
			t.Errorf("%s: page 2: %+v, %v", engine, found, err)
		}
		before := b.last(t)
		if s, err := b.service.ChargingStopped(t.Context(), b.by(), 3); err != nil || s.ToStop.Present || b.last(t) != before+1 {
			t.Errorf("%s: confirmed: %+v, %v, %d entries", engine, s, err, b.last(t)-before)
		}
		if _, err := b.service.ChargingStopped(t.Context(), b.by(), 3); err != nil || b.last(t) != before+1 {
			t.Errorf("%s: confirmed again: %v, %d entries", engine, err, b.last(t)-before)
		}
	}
}

// TestChargingThatIsNotToStop checks that confirming the stop of a charge that need not stop is
// rejected.
func TestChargingThatIsNotToStop(t *testing.T) {
	b := newBooks(t)
	b.sell(t, sales.NewSale{User: 1, Plan: 6})
	b.sell(t, sales.NewSale{User: 1, Plan: 1})
	if _, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: 2}); err != nil {
		t.Fatal(err)
	}
	b.sell(t, sales.NewSale{User: 1, Plan: 1})
	for id, want := range map[lyceum.SaleID]string{1: "not_ended", 2: "not_recurring", 3: "not_recurring"} {
		if _, err := b.service.ChargingStopped(t.Context(), b.by(), id); code(err) != want {
			t.Errorf("sale %d: %v, want %s", id, err, want)
		}
	}
	later := to(1, 2, "")
	later.AtPeriodEnd, later.ChargingStopped = true, true
	if _, err := b.service.ChangePlan(t.Context(), b.by(), later); lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("at the end of the period: %v", err)
	}
}
