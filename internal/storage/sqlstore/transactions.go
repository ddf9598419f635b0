package sqlstore

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// transactionColumns are the columns of a transaction behind the alias t.
var transactionColumns = transactions.of("t")

// FindTransactions implements lyceum.Reader. The total comes as a column of the
// page's rows, so that one statement, which sees one moment, gives both. Only a
// page without rows has to ask for its total apart.
func (s *Store) FindTransactions(ctx context.Context, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
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

func findPage(q *session, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
	listing := lyceum.TransactionListing{Page: p}
	rows := make(lyceum.TransactionSlice, 0, p.Size)
	w := transactionWhere(school, f)
	count, _ := countTransactions(school, f) // its arguments are those of the page
	text := "SELECT " + count + ", " + transactionColumns + " FROM transactions t"
	if f.CourseID.Present {
		// The rows of a course lie in several parts of the index by pricing
		// plan. Left to itself an engine walks the list until it has met
		// enough of them, which for a course that hardly sells is all of it.
		// The + takes that way from it; the index alone gives the ids.
		text += " WHERE t.school_id = $1 AND t.transaction_id IN (SELECT t.transaction_id FROM transactions t" + w.String() + unindexed(o) +
			" LIMIT " + w.arg(int64(p.Size)) + " OFFSET " + w.arg(p.Offset()) + ")" + unindexed(o)
	} else {
		text += w.String() + orderBy(o) + " LIMIT " + w.arg(int64(p.Size)) + " OFFSET " + w.arg(p.Offset())
	}
	var row lyceum.Transaction
	dest := append([]any{scanInt(&listing.Total)}, transactions.scan(&row)...)
	err := q.each(text, w.args, dest, func() error {
		rows = append(rows, row)
		return nil
	})
	listing.Transactions = rows
	return listing, err
}

// EachTransaction implements lyceum.Reader.
func (s *Store) EachTransaction(ctx context.Context, school lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	return s.AtOnce(ctx, school, func(m lyceum.Moment) error { return m.EachTransaction(f, o, visit) })
}

// unindexed is orderBy in a form that no index serves.
func unindexed(o lyceum.Order) string {
	if o == lyceum.OldestFirst {
		return " ORDER BY +t.created_at, +t.transaction_id"
	}
	return " ORDER BY +t.created_at DESC, +t.transaction_id DESC"
}

func orderBy(o lyceum.Order) string {
	if o == lyceum.OldestFirst {
		return " ORDER BY t.created_at, t.transaction_id"
	}
	return " ORDER BY t.created_at DESC, t.transaction_id DESC"
}

// countTransactions gives the exact total as an expression with its arguments.
// That of the whole school is kept as a counter; every other is counted.
func countTransactions(school lyceum.SchoolID, f lyceum.TransactionFilter) (text string, args []any) {
	if f == (lyceum.TransactionFilter{}) {
		return "COALESCE((SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + transactions.counter + "'), 0)", []any{int64(school)}
	}
	w := transactionWhere(school, f)
	return "(SELECT count(*) FROM transactions t" + w.String() + ")", w.args
}

// transactionWhere serves the page and the total alike, so that they agree.
func transactionWhere(school lyceum.SchoolID, f lyceum.TransactionFilter) *where {
	w := &where{}
	w.and("t.school_id = ?", int64(school))
	if f.UserID.Present {
		w.and("t.user_id = ?", int64(f.UserID.Value))
	}
	if f.AffiliateID.Present {
		w.and("t.affiliate_id = ?", int64(f.AffiliateID.Value))
	}
	if f.PricingPlanID.Present {
		w.and("t.pricing_plan_id = ?", int64(f.PricingPlanID.Value))
	}
	if f.CourseID.Present {
		w.and("t.pricing_plan_id IN (SELECT p.pricing_plan_id FROM pricing_plans p WHERE p.school_id = ? AND p.course_id = ?)",
			int64(school), int64(f.CourseID.Value))
	}
	if f.FullyRefunded.Present {
		// The first part is what the partial index of full refunds is made of.
		if f.FullyRefunded.Value {
			w.and("t.amount_refunded > 0")
			w.and("t.amount_refunded >= t.final_price")
		} else {
			w.and("(t.amount_refunded <= 0 OR t.amount_refunded < t.final_price)")
		}
	}
	if f.Chargeback.Present {
		if f.Chargeback.Value {
			w.and("t.has_chargeback = 1")
		} else {
			w.and("(t.has_chargeback IS NULL OR t.has_chargeback <> 1)")
		}
	}
	w.within("t.created_at", f.Created)
	return w
}
