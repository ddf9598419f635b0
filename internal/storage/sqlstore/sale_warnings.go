package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.SaleWarnings, noun[lyceum.SaleWarningID, lyceum.SaleWarning, lyceum.SaleWarningFilter]{
	table:   table[lyceum.SaleWarning]{name: "sale_warnings"},
	entries: "sale_warning",
	key:     idKey("sale_warning_id", func(w *lyceum.SaleWarning) *lyceum.SaleWarningID { return &w.ID }),
	rest: []column[lyceum.SaleWarning]{
		intColumn("sale_id", func(w *lyceum.SaleWarning) *lyceum.SaleID { return &w.SaleID }),
		textColumn("code", func(w *lyceum.SaleWarning) *string { return &w.Code }),
		textColumn("message", func(w *lyceum.SaleWarning) *string { return &w.Message }),
		timeColumn("created_at", func(w *lyceum.SaleWarning) *time.Time { return &w.CreatedAt }),
		optTimeColumn("dismissed_at", func(w *lyceum.SaleWarning) *lyceum.Opt[time.Time] { return &w.DismissedAt }),
	},
	narrow: func(w *where, f lyceum.SaleWarningFilter) {
		is(w, "sale_id", f.Sale)
		switch {
		case !f.Dismissed.Present:
		case f.Dismissed.Value:
			w.and("dismissed_at IS NOT NULL")
		default:
			w.absent("dismissed_at")
		}
	},
	order: func(f lyceum.SaleWarningFilter) string {
		if f.Newest {
			return "sale_warning_id DESC"
		}
		return "sale_warning_id"
	},
	largest: 4 << 10,
})
