package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Movements, noun[lyceum.MovementID, lyceum.Movement, lyceum.MovementFilter]{
	table:   table[lyceum.Movement]{name: "movements"},
	entries: "movement",
	key:     idKey("movement_id", func(m *lyceum.Movement) *lyceum.MovementID { return &m.ID }),
	rest: []column[lyceum.Movement]{
		intColumn("transaction_id", func(m *lyceum.Movement) *lyceum.TransactionID { return &m.TransactionID }),
		intColumn("sale_id", func(m *lyceum.Movement) *lyceum.SaleID { return &m.SaleID }),
		textColumn("kind", func(m *lyceum.Movement) *lyceum.MovementKind { return &m.Kind }),
		intColumn("amount", func(m *lyceum.Movement) *lyceum.Minor { return &m.Amount }),
		intColumn("tax", func(m *lyceum.Movement) *lyceum.Minor { return &m.Tax }),
		intColumn("refunded", func(m *lyceum.Movement) *lyceum.Minor { return &m.Refunded }),
		intColumn("tax_refunded", func(m *lyceum.Movement) *lyceum.Minor { return &m.TaxRefunded }),
		optIntColumn("dispute_id", func(m *lyceum.Movement) *lyceum.Opt[lyceum.DisputeID] { return &m.Dispute }),
		timeColumn("at", func(m *lyceum.Movement) *time.Time { return &m.At }),
		optTextColumn("reason", func(m *lyceum.Movement) *lyceum.Opt[string] { return &m.Reason }),
		optTextColumn("reference", func(m *lyceum.Movement) *lyceum.Opt[string] { return &m.Reference }),
		referenceColumn(func(m *lyceum.Movement) lyceum.Opt[string] { return m.Reference }),
	},
	largest: 4 << 10,
	narrow: func(w *where, f lyceum.MovementFilter) {
		is(w, "sale_id", f.Sale)
		is(w, "transaction_id", f.Transaction)
		among(w, "transaction_id", f.Transactions)
		oneOf(w, "kind", f.Kinds)
		w.within("at", f.In.Value)
		if f.Affiliate.Present {
			w.and(ofTheirs+"t.affiliate_id = ?)", int64(f.Affiliate.Value))
		}
		if f.Author.Present {
			w.and(ofTheirs+"t.author_id = ?)", int64(f.Author.Value))
		}
		byReference(w, f.Reference)
	},
	order: func(f lyceum.MovementFilter) string {
		switch {
		case f.In.Present:
			return "at, transaction_id, movement_id"
		case f.Newest:
			return "movement_id DESC"
		}
		return "movement_id"
	},
})

// ofTheirs looks up the transaction of each movement, rather than the movements of each
// transaction: a school has few movements, but an affiliate may have many transactions.
const ofTheirs = "EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = movements.school_id " +
	"AND t.transaction_id = movements.transaction_id AND "
