package mirror

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// transactions copies the sales, the newest first. New sales move the others to later
// pages, so that none is missed. The first list has no end, because the other server's
// clock may be ahead.
func (m *mirror) transactions(ctx context.Context) error {
	to := m.Sales.Import(m.by(), lyceum.CreateMissing)
	var end time.Time
	if m.State.Cursor != 0 {
		end = time.Unix(m.State.Cursor, 0)
	}
	for {
		seen := 0
		var last time.Time
		query := url.Values{}
		if !end.IsZero() {
			query.Set("end", end.UTC().Format(time.RFC3339))
		}
		const path = "/v1/transactions"
		err := pages(ctx, m.client, path, query, func(list *gen.TransactionList) (*gen.PaginationMeta, int, error) {
			if seen += len(list.Transactions); len(list.Transactions) == 0 {
				return &list.Meta, 0, nil
			}
			rows := make([]lyceum.Transaction, len(list.Transactions))
			for i := range list.Transactions {
				rows[i] = transaction(&list.Transactions[i])
			}
			last = rows[len(rows)-1].CreatedAt
			if err := keep(
				ctx, m, to, "transaction", func(t *lyceum.Transaction) string { return strconv.Itoa(int(t.ID)) }, rows...,
			); err != nil {
				return nil, 0, err
			}
			if seen >= window {
				return nil, 0, m.reached(ctx, last.Unix())
			}
			return &list.Meta, len(rows), nil
		})
		switch {
		case err != nil:
			return err
		case seen < window:
			return nil
		case last.Equal(lyceum.Second(end)):
			return lyceum.Invalidf("%s has more than %d transactions in the second %s, which cannot be paged "+
				"through", m.From, window, last.Format(time.RFC3339))
		}
		end = last // included, so that other sales of the same second are not missed
	}
}

// transaction converts a row of a response.
func transaction(t *gen.TransactionSummary) lyceum.Transaction {
	return lyceum.Transaction{
		ID: lyceum.TransactionID(t.ID), UserID: lyceum.UserID(t.UserID),
		PricingPlanID: lyceum.PricingPlanID(t.PricingPlanID), SaleID: lyceum.SaleID(t.SaleID),
		CreatedAt: t.CreatedAt, PurchasedAt: t.PurchasedAt, Charge: lyceum.USDCents(t.Charge),
		FinalPrice: lyceum.Minor(t.FinalPrice), Currency: lyceum.Currency(t.Currency),
		TaxCharge: lyceum.Minor(t.TaxCharge), Revenue: lyceum.USDCents(t.Revenue), Paid: t.Status != nil,
		HasChargeback: wire.Opt(t.HasChargeback),
		ChargebackFee: wire.OptNumber[lyceum.Minor](t.ChargebackFee),
		AffiliateID:   wire.OptNumber[lyceum.AffiliateID](t.AffiliateID), AffiliateFees: lyceum.Minor(t.AffiliateFees),
		AuthorID: wire.OptNumber[lyceum.AuthorID](t.AuthorID), AuthorFees: lyceum.Minor(t.AuthorFees),
		CouponID:   wire.OptNumber[lyceum.CouponID](t.CouponID),
		RefundedAt: wire.Opt(t.RefundedAt), AmountRefunded: lyceum.Minor(t.AmountRefunded),
	}
}
