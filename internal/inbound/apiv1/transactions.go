package apiv1

import (
	"context"
	"fmt"
	"strconv"
	"time"

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

// AppendJSON implements wire.Body.
func (l transactionList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"transactions":[`...)
	for i := range l.Transactions {
		t := &l.Transactions[i]
		if err := fits(t); err != nil {
			return b, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTransaction(b, t)
	}
	b = append(b, "],"...)
	b = appendMeta(b, l.Total, l.Page, len(l.Transactions))
	return append(b, '}'), nil
}

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

func appendTransaction(b []byte, t *lyceum.Transaction) []byte {
	b = appendInt(b, `{"id":`, t.ID)
	b = appendInt(b, `,"user_id":`, t.UserID)
	b = appendInt(b, `,"pricing_plan_id":`, t.PricingPlanID)
	b = appendInt(b, `,"sale_id":`, t.SaleID)
	b = append(b, `,"created_at":"`...)
	b = lyceum.AppendTime(b, t.CreatedAt)
	b = append(b, `","purchased_at":"`...)
	b = lyceum.AppendTime(b, t.PurchasedAt)
	b = appendInt(b, `","charge":`, t.Charge)
	b = appendInt(b, `,"final_price":`, t.FinalPrice)
	b = append(b, `,"currency":"`...)
	b = append(b, t.Currency...) // three capital letters
	b = appendInt(b, `","tax_charge":`, t.TaxCharge)
	b = appendInt(b, `,"revenue":`, t.Revenue)
	if t.Paid {
		b = append(b, `,"status":"paid","has_chargeback":`...)
	} else {
		b = append(b, `,"status":null,"has_chargeback":`...)
	}
	if t.HasChargeback.Present {
		b = strconv.AppendBool(b, t.HasChargeback.Value)
	} else {
		b = append(b, "null"...)
	}
	b = appendOpt(b, `,"chargeback_fee":`, t.ChargebackFee)
	b = appendOpt(b, `,"affiliate_id":`, t.AffiliateID)
	b = appendInt(b, `,"affiliate_fees":`, t.AffiliateFees)
	b = appendOpt(b, `,"author_id":`, t.AuthorID)
	b = appendInt(b, `,"author_fees":`, t.AuthorFees)
	b = appendOpt(b, `,"coupon_id":`, t.CouponID)
	b = appendOptTime(append(b, `,"refunded_at":`...), t.RefundedAt)
	return append(appendInt(b, `,"amount_refunded":`, t.AmountRefunded), '}')
}

func appendInt[T ~int32 | ~int64](b []byte, key string, v T) []byte {
	return strconv.AppendInt(append(b, key...), int64(v), 10)
}

func appendOpt[T ~int32 | ~int64](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return appendInt(b, key, v.Value)
}

func appendOptTime(b []byte, at lyceum.Opt[time.Time]) []byte {
	if !at.Present {
		return append(b, "null"...)
	}
	return append(lyceum.AppendTime(append(b, '"'), at.Value), '"')
}
