package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Disputes, noun[lyceum.DisputeID, lyceum.Dispute, lyceum.DisputeFilter]{
	table:   table[lyceum.Dispute]{name: "disputes"},
	entries: "dispute",
	key:     idKey("dispute_id", func(d *lyceum.Dispute) *lyceum.DisputeID { return &d.ID }),
	rest: []column[lyceum.Dispute]{
		intColumn("transaction_id", func(d *lyceum.Dispute) *lyceum.TransactionID { return &d.TransactionID }),
		intColumn("sale_id", func(d *lyceum.Dispute) *lyceum.SaleID { return &d.SaleID }),
		intColumn("amount", func(d *lyceum.Dispute) *lyceum.Minor { return &d.Amount }),
		intColumn("tax", func(d *lyceum.Dispute) *lyceum.Minor { return &d.Tax }),
		intColumn("fee", func(d *lyceum.Dispute) *lyceum.Minor { return &d.Fee }),
		boolColumn("fee_returned", func(d *lyceum.Dispute) *bool { return &d.FeeReturned }),
		textColumn("state", func(d *lyceum.Dispute) *lyceum.DisputeState { return &d.State }),
		timeColumn("opened_at", func(d *lyceum.Dispute) *time.Time { return &d.OpenedAt }),
		optTimeColumn("closed_at", func(d *lyceum.Dispute) *lyceum.Opt[time.Time] { return &d.ClosedAt }),
		optTextColumn("reason", func(d *lyceum.Dispute) *lyceum.Opt[string] { return &d.Reason }),
		optTextColumn("reference", func(d *lyceum.Dispute) *lyceum.Opt[string] { return &d.Reference }),
		referenceColumn(func(d *lyceum.Dispute) lyceum.Opt[string] { return d.Reference }),
	},
	largest: 4 << 10,
	narrow: func(w *where, f lyceum.DisputeFilter) {
		is(w, "transaction_id", f.Transaction)
		among(w, "transaction_id", f.Transactions)
		is(w, "sale_id", f.Sale)
		byReference(w, f.Reference)
	},
})
