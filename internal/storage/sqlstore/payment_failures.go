package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.PaymentFailures, noun[
	lyceum.PaymentFailureID, lyceum.PaymentFailure, lyceum.PaymentFailureFilter,
]{
	table:   table[lyceum.PaymentFailure]{name: "payment_failures"},
	entries: "payment_failure",
	key:     idKey("payment_failure_id", func(f *lyceum.PaymentFailure) *lyceum.PaymentFailureID { return &f.ID }),
	rest: []column[lyceum.PaymentFailure]{
		intColumn("sale_id", func(f *lyceum.PaymentFailure) *lyceum.SaleID { return &f.SaleID }),
		timeColumn("occurred_at", func(f *lyceum.PaymentFailure) *time.Time { return &f.OccurredAt }),
		optTextColumn("reason", func(f *lyceum.PaymentFailure) *lyceum.Opt[string] { return &f.Reason }),
		optTimeColumn("next_attempt_at", func(f *lyceum.PaymentFailure) *lyceum.Opt[time.Time] { return &f.NextAttemptAt }),
		optTextColumn("reference", func(f *lyceum.PaymentFailure) *lyceum.Opt[string] { return &f.Reference }),
		referenceColumn(func(f *lyceum.PaymentFailure) lyceum.Opt[string] { return f.Reference }),
	},
	largest: 4 << 10,
	narrow: func(w *where, f lyceum.PaymentFailureFilter) {
		is(w, "sale_id", f.Sale)
		byReference(w, f.Reference)
	},
	order: func(f lyceum.PaymentFailureFilter) string {
		if f.Newest {
			return "payment_failure_id DESC"
		}
		return "payment_failure_id"
	},
})
