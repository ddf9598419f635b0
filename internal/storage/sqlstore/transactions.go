package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var transactions = define(&tables.Transactions, noun[lyceum.TransactionID, lyceum.Transaction, lyceum.TransactionQuery]{
	table:   table[lyceum.Transaction]{name: "transactions", counter: "transactions", replaced: noteLeft},
	entries: "transaction",
	key:     idKey("transaction_id", func(t *lyceum.Transaction) *lyceum.TransactionID { return &t.ID }),
	rest: []column[lyceum.Transaction]{
		intColumn("user_id", func(t *lyceum.Transaction) *lyceum.UserID { return &t.UserID }),
		intColumn("pricing_plan_id", func(t *lyceum.Transaction) *lyceum.PricingPlanID { return &t.PricingPlanID }),
		intColumn("sale_id", func(t *lyceum.Transaction) *lyceum.SaleID { return &t.SaleID }),
		timeColumn("created_at", func(t *lyceum.Transaction) *time.Time { return &t.CreatedAt }),
		timeColumn("purchased_at", func(t *lyceum.Transaction) *time.Time { return &t.PurchasedAt }),
		intColumn("charge", func(t *lyceum.Transaction) *lyceum.USDCents { return &t.Charge }),
		intColumn("final_price", func(t *lyceum.Transaction) *lyceum.Minor { return &t.FinalPrice }),
		textColumn("currency", func(t *lyceum.Transaction) *lyceum.Currency { return &t.Currency }),
		intColumn("tax_charge", func(t *lyceum.Transaction) *lyceum.Minor { return &t.TaxCharge }),
		intColumn("revenue", func(t *lyceum.Transaction) *lyceum.USDCents { return &t.Revenue }),
		boolColumn("paid", func(t *lyceum.Transaction) *bool { return &t.Paid }),
		optBoolColumn("has_chargeback", func(t *lyceum.Transaction) *lyceum.Opt[bool] { return &t.HasChargeback }),
		optIntColumn("chargeback_fee", func(t *lyceum.Transaction) *lyceum.Opt[lyceum.Minor] { return &t.ChargebackFee }),
		optIntColumn("affiliate_id", func(t *lyceum.Transaction) *lyceum.Opt[lyceum.AffiliateID] { return &t.AffiliateID }),
		intColumn("affiliate_fees", func(t *lyceum.Transaction) *lyceum.Minor { return &t.AffiliateFees }),
		optIntColumn("author_id", func(t *lyceum.Transaction) *lyceum.Opt[lyceum.AuthorID] { return &t.AuthorID }),
		intColumn("author_fees", func(t *lyceum.Transaction) *lyceum.Minor { return &t.AuthorFees }),
		optIntColumn("coupon_id", func(t *lyceum.Transaction) *lyceum.Opt[lyceum.CouponID] { return &t.CouponID }),
		optTimeColumn("refunded_at", func(t *lyceum.Transaction) *lyceum.Opt[time.Time] { return &t.RefundedAt }),
		intColumn("amount_refunded", func(t *lyceum.Transaction) *lyceum.Minor { return &t.AmountRefunded }),
	},
	largest: 1 << 10,
	narrow: func(w *where, q lyceum.TransactionQuery) {
		narrowTransactions(w, q.TransactionFilter)
		is(w, "sale_id", q.Sale)
		among(w, "sale_id", q.Sales)
		if q.RefundedElsewhere.Present {
			w.and("amount_refunded > 0")
			w.and("transaction_id NOT IN (SELECT m.transaction_id FROM movements m WHERE m.school_id = $1 " +
				"AND m.kind = 'refund')")
			w.within(refundedOn, q.RefundedElsewhere.Value)
		}
		if q.LastOf != nil {
			last := where{args: w.args}
			among(&last, "s.sale_id", q.LastOf)
			w.args = last.args
			w.and("transaction_id IN (SELECT (SELECT t.transaction_id FROM transactions t WHERE t.school_id = s.school_id " +
				"AND t.sale_id = s.sale_id" + unindexed(lyceum.NewestFirst) + " LIMIT 1) FROM sales s WHERE s.school_id = $1 AND " +
				strings.Join(last.conds, " AND ") + ")")
		}
	},
	order: func(q lyceum.TransactionQuery) string {
		switch {
		case q.RefundedElsewhere.Present:
			return refundedOn + ", transaction_id"
		case q.LastOf != nil: // with the index by time, all of the school's would be scanned
			return "transaction_id"
		case ofSales(q):
			return strings.TrimPrefix(unindexed(q.Order), " ORDER BY ")
		}
		return strings.TrimPrefix(orderFound(q.TransactionFilter, q.Order), " ORDER BY ")
	},
})

// refundedOn is RefundedOn of a transaction.
const refundedOn = "coalesce(refunded_at, created_at)"

// noteLeft appends a journal entry for the sale that a payment was moved away from: its purchase
// may be active only now, and the payment's own entry leads to the new sale alone.
func noteLeft(t *tx, old, row *lyceum.Transaction) {
	if old.SaleID != row.SaleID {
		t.Note(lyceum.SaleUpdated, int32(old.SaleID))
	}
}

// transactionColumns are the columns of a transaction, qualified with the alias t.
var transactionColumns = transactions.of("t")

// FindTransactions reads the total as a column of the page's rows, so that both come from one
// statement and one snapshot. Only for a page without rows is the total queried separately.
func (s *Store) FindTransactions(
	ctx context.Context, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page,
) (lyceum.TransactionListing, error) {
	listing, err := findPage(s.reads.single(ctx), school, f, o, p)
	if err == nil && listing.Transactions.Len() == 0 {
		err = s.reads.snapshot(ctx, func(q *session) error {
			var err error
			if listing, err = findPage(q, school, f, o, p); err != nil || listing.Transactions.Len() > 0 {
				return err
			}
			count, args := countTransactions(school, f)
			_, err = q.one("SELECT "+count, args, scanInt(&listing.Total))
			return err
		})
	}
	if err != nil {
		return lyceum.TransactionListing{}, s.public(fmt.Errorf("find transactions: %w", err))
	}
	return listing, nil
}

func findPage(
	q *session, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page,
) (lyceum.TransactionListing, error) {
	listing := lyceum.TransactionListing{Page: p}
	rows := make(lyceum.TransactionSlice, 0, p.Size)
	w := transactionWhere(school, f)
	count, _ := countTransactions(school, f) // its arguments are those of the page
	text := "SELECT " + count + ", " + transactionColumns + " FROM transactions t"
	if f.CourseID.Present {
		// The rows of a course are in several parts of the index by pricing plan. By itself, an
		// engine would scan the list in order until it found enough of them, which for a course
		// that hardly sells means all of it. The + prevents that: the ids are found by the index
		// alone.
		text += " WHERE t.school_id = $1 AND t.transaction_id IN (SELECT t.transaction_id FROM transactions t" +
			w.String() + unindexed(o) +
			" LIMIT " + w.arg(int64(p.Size)) + " OFFSET " + w.arg(p.Offset()) + ")" + unindexed(o)
	} else {
		text += w.String() + orderFound(f, o) +
			" LIMIT " + w.arg(int64(p.Size)) + " OFFSET " + w.arg(p.Offset())
	}
	r := transactions.reader()
	defer transactions.done(r)
	err := q.each(text, w.args, r.paged, func() error {
		rows = append(rows, r.row)
		return nil
	})
	listing.Total, listing.Transactions = r.total, rows
	return listing, err
}

// ofSales reports whether a query is for the few transactions of some sales.
func ofSales(q lyceum.TransactionQuery) bool { return q.Sale.Present || q.Sales != nil }

// orderFound is orderBy, except for the few transactions of a user: with an index in that order,
// an engine might look for them among all transactions of the school.
func orderFound(f lyceum.TransactionFilter, o lyceum.Order) string {
	if f.UserID.Present {
		return unindexed(o)
	}
	return orderBy(o)
}

// unindexed is orderBy in a form for which no index can be used.
func unindexed(o lyceum.Order) string {
	if o == lyceum.OldestFirst {
		return " ORDER BY +created_at, +transaction_id"
	}
	return " ORDER BY +created_at DESC, +transaction_id DESC"
}

func orderBy(o lyceum.Order) string {
	if o == lyceum.OldestFirst {
		return " ORDER BY created_at, transaction_id"
	}
	return " ORDER BY created_at DESC, transaction_id DESC"
}

// countTransactions returns the exact total as an expression with its arguments. The total of the
// whole school is read from a counter; any other is counted.
func countTransactions(school lyceum.SchoolID, f lyceum.TransactionFilter) (text string, args []any) {
	if f == (lyceum.TransactionFilter{}) {
		return "COALESCE((SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + transactions.counter +
			"'), 0)", []any{int64(school)}
	}
	w := transactionWhere(school, f)
	return "(SELECT count(*) FROM transactions t" + w.String() + ")", w.args
}

// transactionWhere returns the conditions of both the page and the total, so that they agree.
func transactionWhere(school lyceum.SchoolID, f lyceum.TransactionFilter) *where {
	w := &where{}
	w.and("t.school_id = ?", int64(school))
	narrowTransactions(w, f)
	return w
}

func narrowTransactions(w *where, f lyceum.TransactionFilter) {
	if f.UserID.Present {
		w.and("user_id"+byYear+" = ?", int64(f.UserID.Value))
	}
	is(w, "affiliate_id", f.AffiliateID)
	is(w, "author_id", f.AuthorID)
	is(w, "pricing_plan_id", f.PricingPlanID)
	if f.CourseID.Present {
		w.and("pricing_plan_id IN (SELECT p.pricing_plan_id FROM pricing_plans p WHERE p.school_id = $1 AND p.course_id = ?)",
			int64(f.CourseID.Value))
	}
	if f.FullyRefunded.Present {
		// The first condition matches the partial index of full refunds.
		if f.FullyRefunded.Value {
			w.and("amount_refunded > 0")
			w.and("amount_refunded >= final_price")
		} else {
			w.and("(amount_refunded <= 0 OR amount_refunded < final_price)")
		}
	}
	if f.Chargeback.Present {
		if f.Chargeback.Value {
			w.and("has_chargeback = 1")
		} else {
			w.and("(has_chargeback IS NULL OR has_chargeback <> 1)")
		}
	}
	w.within("created_at", f.Created)
}
