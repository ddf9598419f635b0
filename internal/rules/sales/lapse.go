package sales

import (
	"context"
	"maps"
	"slices"
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
	return s.whenDue(ctx, school, unpaid, "note the lapse", s.lapse)
}

// LapsePreview is what a policy does at once, by sales that lapsed long ago under
// it.
type LapsePreview struct {
	Sales  int // that end
	People lyceum.AccessCount
}

// PreviewLapse returns what Configure and Lapse do at once. A buyer of several
// sales is one of People.
func (s *Service) PreviewLapse(ctx context.Context, by lyceum.By, p lyceum.SalePolicy) (LapsePreview, error) {
	var out LapsePreview
	if err := p.Check(); err != nil || p.OnLapse != lyceum.EndSale {
		return out, err
	}
	of := map[lyceum.UserID][]lyceum.SaleID{}
	v := s.store.In(ctx, by.School)
	unpaid := lyceum.SaleFilter{UnpaidAt: lyceum.Some(s.clock().Add(-p.Grace()))}
	err := v.Sales.Each(v, unpaid, func(sale *lyceum.Sale) error {
		of[sale.UserID.Value] = append(of[sale.UserID.Value], sale.ID)
		return nil
	})
	if err != nil {
		return out, err
	}
	for users := range slices.Chunk(slices.Sorted(maps.Keys(of)), periodSize) {
		ended := 0
		about := func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error) { return users, nil, nil }
		act := func(tx lyceum.Tx, now time.Time) (err error) {
			if err := tx.ChangeSchool(func(school *lyceum.School) { school.Policy = p }); err != nil {
				return err
			}
			ended, err = s.lapseOf(tx, now, users, of)
			return err
		}
		part, err := s.enroller.Preview(ctx, by, lyceum.Page{Number: 1, Size: 1}, about, act)
		if err != nil {
			return out, err
		}
		out.Sales, out.People = out.Sales+ended, out.People.Plus(part.People)
	}
	return out, nil
}

// lapseOf ends the sales of some users whose grace is over, and counts them.
func (s *Service) lapseOf(
	tx lyceum.Tx, now time.Time, users []lyceum.UserID, of map[lyceum.UserID][]lyceum.SaleID,
) (ended int, err error) {
	for _, user := range users {
		kept, err := tx.Sales.Find(tx, of[user]...)
		if err != nil {
			return 0, err
		}
		for _, id := range of[user] {
			sale := kept[id]
			if err := s.lapse(tx, now, &sale); err != nil {
				return 0, err
			}
			if sale.EndedAt.Present {
				ended++
			}
		}
	}
	return ended, nil
}

// lapse ends a sale if its grace is over.
func (s *Service) lapse(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
	chosen, err := tx.GetSchool()
	if err != nil {
		return err
	}
	at := sale.LapsesAt(chosen.Policy)
	if !at.Present || at.Value.After(now) || sale.NextPlan.Present { // which comes first, or is dropped
		return nil
	}
	due := at.Value
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
