package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Receipts, noun[lyceum.ReceiptID, lyceum.Receipt, lyceum.ReceiptFilter]{
	table: table[lyceum.Receipt]{name: "receipts"},
	what:  "receipt",
	key:   idKey("receipt_id", func(r *lyceum.Receipt) *lyceum.ReceiptID { return &r.ID }),
	rest: []column[lyceum.Receipt]{
		intColumn("transaction_id", func(r *lyceum.Receipt) *lyceum.TransactionID { return &r.Transaction }),
		optIntColumn("movement_id", func(r *lyceum.Receipt) *lyceum.Opt[lyceum.MovementID] { return &r.Refund }),
		intColumn("user_id", func(r *lyceum.Receipt) *lyceum.UserID { return &r.User }),
		intColumn("seller_id", func(r *lyceum.Receipt) *lyceum.SellerID { return &r.Seller }),
		timeColumn("issued_at", func(r *lyceum.Receipt) *time.Time { return &r.IssuedAt }),
		timeColumn("paid_at", func(r *lyceum.Receipt) *time.Time { return &r.PaidAt }),
		textColumn("item", func(r *lyceum.Receipt) *string { return &r.Item }),
		textColumn("currency", func(r *lyceum.Receipt) *lyceum.Currency { return &r.Currency }),
		intColumn("price", func(r *lyceum.Receipt) *lyceum.Minor { return &r.Price }),
		intColumn("tax", func(r *lyceum.Receipt) *lyceum.Minor { return &r.Tax }),
	},
	narrow: func(w *where, f lyceum.ReceiptFilter) {
		is(w, "user_id", f.User)
		is(w, "transaction_id", f.Transaction)
		among(w, "transaction_id", f.Transactions)
		switch {
		case !f.CreditNotes.Present:
		case f.CreditNotes.Value:
			w.and("movement_id IS NOT NULL")
		default:
			w.absent("movement_id")
		}
	},
	order: func(lyceum.ReceiptFilter) string { return "receipt_id DESC" },
})

var _ = define(&tables.Sellers, noun[lyceum.SellerID, lyceum.Seller, lyceum.SellerFilter]{
	table: table[lyceum.Seller]{name: "sellers", lasting: true},
	what:  "seller",
	key:   idKey("seller_id", func(s *lyceum.Seller) *lyceum.SellerID { return &s.ID }),
	rest: []column[lyceum.Seller]{
		textColumn("name", func(s *lyceum.Seller) *string { return &s.Name }),
		textColumn("address", func(s *lyceum.Seller) *string { return &s.Address }),
		textColumn("tax_number", func(s *lyceum.Seller) *string { return &s.TaxNumber }),
		textColumn("prefix", func(s *lyceum.Seller) *string { return &s.Prefix }),
		timeColumn("since", func(s *lyceum.Seller) *time.Time { return &s.Since }),
	},
	narrow: func(*where, lyceum.SellerFilter) {},
	order:  func(lyceum.SellerFilter) string { return "seller_id DESC" },
})
