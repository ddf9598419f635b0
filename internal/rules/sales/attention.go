package sales

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Attention is something that needs a look, with the sale that it is about.
type Attention struct {
	lyceum.SaleWarning

	Sale lyceum.Sale
}

// Attention lists what needs a look, the newest first.
func (s *Service) Attention(
	ctx context.Context, by lyceum.By, _ struct{}, p lyceum.Page,
) (lyceum.Listing[Attention], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.SaleWarnings.List(v, lyceum.SaleWarningFilter{Newest: true}, p)
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
