package apiv1

import (
	"context"
	"fmt"
	"sync"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func bindListTransactions(b *wire.Binder) gen.ListTransactionsParams {
	return gen.ListTransactionsParams{
		UserID:          b.Int32("user_id"),
		AffiliateID:     b.Int32("affiliate_id"),
		CourseID:        b.Int32("course_id"),
		PricingPlanID:   b.Int32("pricing_plan_id"),
		IsFullyRefunded: b.Bool("is_fully_refunded"),
		IsChargeback:    b.Bool("is_chargeback"),
		Start:           b.Time("start"),
		End:             b.Time("end"),
		Page:            b.Int32From("page", 1),
		Per:             b.Int32From("per", 1),
		SortDirection:   (*gen.ListTransactionsParamsSortDirection)(b.OneOf("sort_direction", "asc", "desc")),
	}
}

// ListTransactions serves GET /v1/transactions.
func (f *Face) ListTransactions(ctx context.Context, caller access.Caller, q gen.ListTransactionsParams) (transactionList, error) {
	order := lyceum.NewestFirst
	if q.SortDirection != nil && *q.SortDirection == gen.Asc {
		order = lyceum.OldestFirst
	}
	listing, err := f.sales.List(ctx, caller.School, filterFrom(q), order, pageFrom(q.Page, q.Per))
	return transactionList(listing), err
}

func filterFrom(q gen.ListTransactionsParams) lyceum.TransactionFilter {
	f := lyceum.TransactionFilter{
		UserID:        wire.OptNumber[lyceum.UserID](q.UserID),
		AffiliateID:   wire.OptNumber[lyceum.AffiliateID](q.AffiliateID),
		CourseID:      wire.OptNumber[lyceum.CourseID](q.CourseID),
		PricingPlanID: wire.OptNumber[lyceum.PricingPlanID](q.PricingPlanID),
		Created:       lyceum.Period{After: wire.Bound(q.Start), Until: wire.Bound(q.End)},
	}
	if q.IsFullyRefunded != nil {
		f.FullyRefunded = lyceum.Some(*q.IsFullyRefunded)
	}
	if q.IsChargeback != nil {
		f.Chargeback = lyceum.Some(*q.IsChargeback)
	}
	return f
}

// transactionList is gen.TransactionList on its way out. It is appended by
// hand: reflection costs half the throughput of a page.
type transactionList lyceum.TransactionListing

var _ wire.Versioned = transactionList{}

// State implements wire.Versioned.
func (l transactionList) State() lyceum.Version { return l.Version }

// AppendJSON implements wire.Body.
func (l transactionList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"transactions":[`...)
	shown := l.Transactions.Len()
	t := rows.Get().(*lyceum.Transaction)
	defer rows.Put(t)
	for i := range shown {
		l.Transactions.Read(i, t)
		if err := fits(t); err != nil {
			return b, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendTransaction(b, t)
	}
	b = append(b, "],"...)
	b = appendMeta(b, l.Total, l.Page, shown)
	return append(b, '}'), nil
}

// rows are transactions between being read and being appended.
var rows = sync.Pool{New: func() any { return new(lyceum.Transaction) }}

// fits makes sure that no amount is cut to the contract's int32.
func fits(t *lyceum.Transaction) error {
	for _, v := range [...]int64{
		int64(t.Charge), int64(t.FinalPrice), int64(t.TaxCharge), int64(t.Revenue), int64(t.ChargebackFee.Value),
		int64(t.AffiliateFees), int64(t.AuthorFees), int64(t.AmountRefunded),
	} {
		if v != int64(int32(v)) {
			return fmt.Errorf("transaction %d: amount %d does not fit the contract's int32", t.ID, v)
		}
	}
	return nil
}
