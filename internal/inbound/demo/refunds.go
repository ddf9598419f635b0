package demo

import (
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// refunds are the sales so far whose payments are, or may be, refunded in full.
type refunds map[lyceum.SaleID]bool

// mark records the new sales of a batch whose payments are refunded in full, and returns
// the older ones that may now be, or no longer are.
func (r refunds) mark(batch Batch) []lyceum.SaleID {
	doubtful, paid := map[lyceum.SaleID]bool{}, map[lyceum.SaleID]bool{}
	for i := range batch.Transactions {
		if t := &batch.Transactions[i]; t.Paid && t.FullyRefunded() {
			doubtful[t.SaleID] = true
		}
	}
	for i := range batch.Transactions {
		if t := &batch.Transactions[i]; t.Retained() && (doubtful[t.SaleID] || r[t.SaleID]) {
			doubtful[t.SaleID], paid[t.SaleID] = true, true
		}
	}
	for i := range batch.Sales {
		sale := &batch.Sales[i]
		if sale.Released = doubtful[sale.ID] && !paid[sale.ID]; sale.Released {
			r[sale.ID] = true
		}
		delete(doubtful, sale.ID)
	}
	for id := range doubtful {
		r[id] = true
	}
	return slices.Sorted(maps.Keys(doubtful))
}
