package sales

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Lapse ends a school's sales that are billed here and were not paid before their grace was
// over, if the school's policy says so. They end, and the access they gave, at the end of the
// grace, whenever that is noticed. A sale that fails does not hold up the others.
func (s *Service) Lapse(ctx context.Context, school lyceum.SchoolID) error {
	chosen, err := s.store.In(ctx, school).GetSchool()
	if err != nil || chosen.Policy.OnLapse != lyceum.EndSale {
		return err
	}
	unpaid := lyceum.SaleFilter{UnpaidAt: lyceum.Some(s.clock().Add(-chosen.Policy.Grace()))}
	return s.whenDue(ctx, school, unpaid, "note the lapse", func(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
		return s.lapse(tx, now, sale, Ending{Sale: sale.ID})
	})
}

// PreviewLapse returns what Configure and Lapse would immediately do if the school got another
// policy. A buyer of several sales counts once in People.
func (s *Service) PreviewLapse(
	ctx context.Context, by lyceum.By, policy lyceum.SalePolicy, p lyceum.Page,
) (lyceum.AccessPreview, error) {
	all := lapsePreview{AccessPreview: lyceum.AccessPreview{At: lyceum.Second(s.clock())}}
	v := s.store.In(ctx, by.School)
	was, err := v.GetSchool()
	if err == nil {
		err = policy.Check()
	}
	same := was.Policy.OnLapse == policy.OnLapse && was.Policy.GraceDays == policy.GraceDays
	if err != nil || same || policy.OnLapse != lyceum.EndSale {
		return all.page(p), err
	}
	of := map[lyceum.UserID][]lyceum.SaleID{}
	unpaid := lyceum.SaleFilter{UnpaidAt: lyceum.Some(s.clock().Add(-policy.Grace()))}
	err = v.Sales.Each(v, unpaid, func(sale *lyceum.Sale) error {
		of[sale.UserID.Value] = append(of[sale.UserID.Value], sale.ID)
		return nil
	})
	if err != nil {
		return all.page(p), err
	}
	for users := range slices.Chunk(slices.Sorted(maps.Keys(of)), periodSize) {
		var ended []lyceum.SaleID
		about := func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error) { return users, nil, nil }
		act := func(tx lyceum.Tx, now time.Time) (err error) {
			if err := tx.ChangeSchool(func(school *lyceum.School) { school.Policy = policy }); err != nil {
				return err
			}
			ended, err = s.lapseOf(tx, now, users, of)
			return err
		}
		part, err := s.enroller.Preview(ctx, by, lyceum.Page{Number: 1, Size: math.MaxInt32}, about, act)
		if err != nil {
			return all.page(p), err
		}
		all.add(&part, ended)
	}
	return all.page(p), nil
}

// lapsePreview is combined from the previews of parts, each of which has users that come after
// those of the previous one.
type lapsePreview struct {
	lyceum.AccessPreview

	change, stay []lyceum.AccessChange
}

func (l *lapsePreview) add(part *lyceum.AccessPreview, ended []lyceum.SaleID) {
	l.Ends = append(l.Ends, ended...)
	l.People = l.People.Plus(part.People)
	for _, n := range part.Products {
		at, there := slices.BinarySearchFunc(l.Products, n, func(a, b lyceum.ProductAccess) int {
			return cmp.Or(cmp.Compare(a.Product.Kind, b.Product.Kind), cmp.Compare(a.Product.ID, b.Product.ID))
		})
		if there {
			l.Products[at].AccessCount = l.Products[at].Plus(n.AccessCount)
		} else {
			l.Products = slices.Insert(l.Products, at, n)
		}
	}
	for i := range part.Changes.Rows {
		if c := part.Changes.Rows[i]; c.Effect() == lyceum.AccessStays {
			l.stay = append(l.stay, c)
		} else {
			l.change = append(l.change, c)
		}
	}
	if l.Users == nil {
		l.Users, l.Names = part.Users, part.Names
		return
	}
	maps.Copy(l.Users, part.Users)
	maps.Copy(l.Names, part.Names)
}

// page returns the combined preview, with one page of its rows.
func (l *lapsePreview) page(p lyceum.Page) lyceum.AccessPreview {
	rows := slices.Concat(l.change, l.stay)
	slices.Sort(l.Ends)
	from := min(p.Offset(), int64(len(rows)))
	to := min(from+int64(p.Size), int64(len(rows)))
	l.Changes = lyceum.Listing[lyceum.AccessChange]{
		Page: p, Total: int64(len(rows)), Rows: rows[from:to], More: to < int64(len(rows)),
	}
	return l.AccessPreview
}

// lapseOf ends the sales of some users whose grace is over, and returns their ids.
func (s *Service) lapseOf(
	tx lyceum.Tx, now time.Time, users []lyceum.UserID, of map[lyceum.UserID][]lyceum.SaleID,
) (ended []lyceum.SaleID, err error) {
	for _, user := range users {
		kept, err := tx.Sales.Find(tx, of[user]...)
		if err != nil {
			return nil, err
		}
		for _, id := range of[user] {
			sale := kept[id]
			if err := s.lapse(tx, now, &sale, Ending{Sale: id}); err != nil {
				return nil, err
			}
			if sale.EndedAt.Present {
				ended = append(ended, id)
			}
		}
	}
	return ended, nil
}

// lapse ends a sale as it is stored, if its grace is over.
func (s *Service) lapse(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, e Ending) error {
	chosen, err := tx.GetSchool()
	if err != nil {
		return err
	}
	at := sale.LapsesAt(chosen.Policy)
	if !at.Present || at.Value.After(now) || sale.NextPlan.Present { // the change of plan comes first, or is dropped
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
	news := due
	if sale.UpdatedAt.After(due) { // what changed it may have made it due
		news = sale.UpdatedAt
	}
	if !newsworthy(news, now) {
		tx = tx.Silent()
	}
	e.begin(sale, &plan, due, lyceum.SaleLapsed)
	sale.End(&plan, due, lyceum.SaleLapsed)
	if err := stop(tx, now, sale, &plan, now); err != nil {
		return err
	}
	return s.since(news, now).revoke(tx, now, sale, due, lyceum.EndedByLapse)
}

// revive reopens a sale that had lapsed and has now been paid for.
func (s *Service) revive(
	tx lyceum.Tx, now time.Time, before, sale *lyceum.Sale, plan *lyceum.PricingPlan,
) error {
	misfits, err := reopening(tx, before, sale, plan)
	if err != nil {
		return err
	}
	if _, err := tx.Sales.Save(tx, *sale); err != nil {
		return err
	}
	if _, err := warn(tx, lyceum.Second(now), sale.ID, misfits); err != nil {
		return err
	}
	_, err = s.enroller.Restore(tx, now, sale, lyceum.EndedByLapse)
	return err
}
