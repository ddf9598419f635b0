package sales

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Attention is a warning that needs somebody's attention, with its sale.
type Attention struct {
	lyceum.SaleWarning

	Sale lyceum.Sale
}

// Attention lists the warnings that need attention, or those that were dismissed, newest first.
func (s *Service) Attention(
	ctx context.Context, by lyceum.By, dismissed bool, p lyceum.Page,
) (lyceum.Listing[Attention], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.SaleWarnings.List(v, lyceum.SaleWarningFilter{Dismissed: lyceum.Some(dismissed), Newest: true}, p)
	if err != nil {
		return lyceum.Listing[Attention]{}, err
	}
	ids := make([]lyceum.SaleID, len(found.Rows))
	for i := range found.Rows {
		ids[i] = found.Rows[i].SaleID
	}
	sales, err := v.Sales.Find(v, ids...)
	list := lyceum.Listing[Attention]{Page: found.Page, Total: found.Total, More: found.More}
	for _, w := range found.Rows {
		list.Rows = append(list.Rows, Attention{w, sales[w.SaleID]})
	}
	return list, err
}

// Dismiss marks a warning as seen. Dismissing it again changes nothing. It fails with NotFound.
func (s *Service) Dismiss(ctx context.Context, by lyceum.By, id lyceum.SaleWarningID) (Attention, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (Attention, error) {
		w, err := tx.SaleWarnings.Get(tx, id)
		if err != nil {
			return Attention{}, err
		}
		w.DismissedAt = w.DismissedAt.Or(now)
		if _, err := tx.SaleWarnings.Save(tx, w); err != nil {
			return Attention{}, err
		}
		sale, err := tx.Sales.Get(tx, w.SaleID)
		return Attention{w, sale}, err
	})
}
