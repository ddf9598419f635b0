package lyceum

// SaleMarker determines the marks of transactions, which must be passed to it in the order of
// the list, oldest first. It remembers every buyer and every sale.
type SaleMarker struct {
	buyers map[UserID]struct{}
	buyer  map[SaleID]UserID // the first buyer who paid for the sale
	others map[saleBuyer]struct{}
}

// saleBuyer is another buyer who paid for a sale.
type saleBuyer struct {
	sale SaleID
	user UserID
}

// NewSaleMarker returns a marker that has seen no transactions.
func NewSaleMarker() *SaleMarker {
	return &SaleMarker{
		buyers: map[UserID]struct{}{}, buyer: map[SaleID]UserID{}, others: map[saleBuyer]struct{}{},
	}
}

// Mark returns the marks of the next transaction. An unpaid transaction has none.
func (m *SaleMarker) Mark(t *Transaction) SaleMarks {
	if !t.Paid {
		return SaleMarks{}
	}
	_, bought := m.buyers[t.UserID]
	m.buyers[t.UserID] = struct{}{}
	first, paid := m.buyer[t.SaleID]
	switch {
	case !paid:
		m.buyer[t.SaleID] = t.UserID
	case first != t.UserID:
		other := saleBuyer{t.SaleID, t.UserID}
		_, paid = m.others[other]
		m.others[other] = struct{}{}
	}
	return SaleMarks{First: !bought, Renewal: paid}
}
