package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Ending is a sale that is to end, and whether the payment system has already stopped charging
// it.
type Ending struct {
	Sale            lyceum.SaleID
	ChargingStopped bool
}

// begin ends a sale that is no longer charged, so that there is nothing to stop.
func (e Ending) begin(sale *lyceum.Sale, plan *lyceum.PricingPlan, now time.Time, why lyceum.SaleEnd) {
	if e.ChargingStopped {
		sale.End(plan, now, why)
		sale.ToStop = lyceum.None[time.Time]()
	}
}

// ToStop is a sale that the payment system is to stop charging.
type ToStop struct {
	lyceum.Sale

	Buyer     lyceum.User
	Reference lyceum.Opt[string] // of its last payment, if that has one
}

// ToStop lists the sales that the payment system is to stop charging, the one waiting longest
// first.
func (s *Service) ToStop(
	ctx context.Context, by lyceum.By, _ struct{}, p lyceum.Page,
) (lyceum.Listing[ToStop], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.Sales.List(v, lyceum.SaleFilter{ToStop: true}, p)
	list := lyceum.Listing[ToStop]{Page: found.Page, Total: found.Total, More: found.More}
	if err != nil {
		return list, err
	}
	users, ids := make([]lyceum.UserID, len(found.Rows)), make([]lyceum.SaleID, len(found.Rows))
	for i := range found.Rows {
		users[i], ids[i] = found.Rows[i].UserID.Value, found.Rows[i].ID
	}
	buyers, err := v.Users.Find(v, users...)
	if err != nil {
		return list, err
	}
	references, err := lastReferences(v, ids)
	for i := range found.Rows {
		list.Rows = append(list.Rows, ToStop{found.Rows[i], buyers[users[i]], references[ids[i]]})
	}
	return list, err
}

// lastReferences returns the reference of the last payment of each sale.
func lastReferences(v lyceum.View, sales []lyceum.SaleID) (map[lyceum.SaleID]lyceum.Opt[string], error) {
	payments, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{LastOf: sales})
	if err != nil {
		return nil, err
	}
	ids := make([]lyceum.TransactionID, len(payments))
	for i := range payments {
		ids[i] = payments[i].ID
	}
	names, err := v.References.Find(v, ids...)
	last := make(map[lyceum.SaleID]lyceum.Opt[string], len(payments))
	for i := range payments {
		last[payments[i].SaleID] = nameIn(names, payments[i].ID)
	}
	return last, err
}

// uncharged returns a misfit for a sale that was reopened after it was confirmed that its
// charging had stopped.
func uncharged(ended, open *lyceum.Sale, plan *lyceum.PricingPlan) []misfit {
	if !ended.EndedAt.Present || ended.ToStop.Present || open.EndedAt.Present || !open.Charged(plan) {
		return nil
	}
	return []misfit{misfitf("charging_stopped", "sale %d is open again, and its charging was stopped at the payment "+
		"system: start to charge it again, or cancel it", open.ID)}
}

// ChargingStopped records that the payment system no longer charges a sale that has ended. It
// fails with Conflict for a sale that has not ended, or was paid once.
func (s *Service) ChargingStopped(ctx context.Context, by lyceum.By, id lyceum.SaleID) (lyceum.Sale, error) {
	return perform(ctx, s, by, id, chargingStopped)
}

func chargingStopped(tx lyceum.Tx, _ time.Time, id lyceum.SaleID) (lyceum.Sale, error) {
	sale, plan, err := saleWithPlan(tx, id)
	switch {
	case err != nil:
		return sale, err
	case sale.ToStop.Present:
		sale.ToStop = lyceum.None[time.Time]()
		_, err := tx.Sales.Save(tx, sale)
		return sale, err
	case sale.EndedAt.Present:
		return sale, recurring(&sale, &plan)
	}
	if err := recurring(&sale, &plan); err != nil {
		return sale, err
	}
	return sale, conflict("not_ended", "sale %d has not ended: say that its charging was stopped when you end it", id)
}
