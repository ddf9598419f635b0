package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// newsAge is how long after a sale lapsed webhooks are still told.
const newsAge = 24 * time.Hour

// Lapse ends the sales of a school that are billed here and were not paid for
// until their grace was over, if the school chose so. They end, and the access
// that they gave, when the grace did, whenever that is noted. A sale that fails
// does not hold up the others.
func (s *Service) Lapse(ctx context.Context, school lyceum.SchoolID) error {
	chosen, err := s.store.In(ctx, school).GetSchool()
	if err != nil || chosen.Policy.OnLapse != lyceum.EndSale {
		return err
	}
	unpaid := lyceum.SaleFilter{UnpaidAt: lyceum.Some(s.clock().Add(-chosen.Policy.Grace()))}
	return s.whenDue(ctx, school, unpaid, "note the lapse", func(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
		chosen, err := tx.GetSchool()
		if err != nil {
			return err
		}
		due := sale.LapsesAt(chosen.Policy)
		if !due.Present || due.Value.After(now) || sale.NextPlan.Present { // which comes first, or is dropped
			return nil
		}
		return s.lapse(tx, now, sale, due.Value)
	})
}

func (s *Service) lapse(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, due time.Time) error {
	plan, err := planOfSale(tx.Tables, tx, sale)
	if err != nil {
		return err
	}
	if err := s.enroller.Relink(tx, now, sale.UserID.Value); err != nil {
		return err
	}
	if now.Sub(due) > newsAge {
		tx = tx.Silent()
	}
	sale.End(&plan, due, lyceum.SaleLapsed)
	if err := stop(tx, now, sale, &plan, now); err != nil {
		return err
	}
	return s.enroller.Revoke(tx, now, sale, due, lyceum.EndedByLapse)
}

// revive opens a sale again that lapsed and was paid for now. A seat that somebody
// else took since is one too many.
func (s *Service) revive(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan) error {
	full, err := (&deal{plan: *plan}).usedUp(tx)
	if err != nil {
		return err
	}
	if _, err := tx.Sales.Save(tx, *sale); err != nil {
		return err
	}
	if _, err := warn(tx, lyceum.Second(now), sale.ID, full); err != nil {
		return err
	}
	return s.enroller.Restore(tx, now, sale, lyceum.EndedByLapse)
}
