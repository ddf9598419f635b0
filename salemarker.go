package lyceum

// SaleMarker finds the marks of transactions that are handed to it in the order of
// the list, the oldest first. It remembers each buyer and each sale.
type SaleMarker struct {
	buyers map[UserID]struct{}
	buyer  map[SaleID]UserID // who first paid for a sale
	others map[saleBuyer]struct{}
}

// saleBuyer is another one who paid for a sale.
type saleBuyer struct {
	sale SaleID
	user UserID
}

// NewSaleMarker makes a marker that has seen no transaction.
func NewSaleMarker() *SaleMarker {
	return &SaleMarker{
		buyers: map[UserID]struct{}{}, buyer: map[SaleID]UserID{}, others: map[saleBuyer]struct{}{},
	}
}

// Mark returns the marks of the next transaction. One that is not paid has none.
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
