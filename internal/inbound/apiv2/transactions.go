package apiv2

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) transactions() []wire.Operation {
	return []wire.Operation{
		many("listTransactions", "/v2/transactions", 25, bindTransactions, f.sales.Transactions, transaction),
		one(
			"showTransaction", wire.Get, "/v2/transactions/{transaction_id}",
			wire.ByID[lyceum.TransactionID]("transaction_id"), f.sales.Transaction, transaction,
		),
	}
}

func bindTransactions(in *wire.Input) lyceum.TransactionQuery {
	return lyceum.TransactionQuery{
		TransactionFilter: lyceum.TransactionFilter{
			UserID:        wire.AnyInt[lyceum.UserID](in.Query("user_id")),
			AffiliateID:   wire.AnyInt[lyceum.AffiliateID](in.Query("affiliate_id")),
			CourseID:      wire.AnyInt[lyceum.CourseID](in.Query("course_id")),
			PricingPlanID: wire.AnyInt[lyceum.PricingPlanID](in.Query("pricing_plan_id")),
			FullyRefunded: in.Query("is_fully_refunded").Bool(),
			Chargeback:    in.Query("was_charged_back").Bool(),
			Created:       wire.Period(in.Query("created_after"), in.Query("created_before")),
		},
		Sale: wire.AnyInt[lyceum.SaleID](in.Query("purchase_id")),
	}
}

func transaction(t sales.LinkedTransaction) gen.Transaction {
	return gen.Transaction{
		ID: int32(t.ID), User: reference("/v2/users", t.UserID), Purchase: reference(purchasesPath, t.SaleID),
		PricingPlan: planReference(&t.Plan),
		CreatedAt:   wire.Moment(t.CreatedAt), PurchasedAt: wire.Moment(t.PurchasedAt),
		Charge: int64(t.Charge), FinalPrice: int64(t.FinalPrice), Currency: string(t.Currency),
		TaxCharge: int64(t.TaxCharge), Revenue: int64(t.Revenue), Status: status(t.Paid),
		HasChargeback: wire.Optional(t.HasChargeback), ChargebackFee: amount(t.ChargebackFee),
		Affiliate:     partner(t.AffiliateID, t.Affiliate, "/lyceum/v1/affiliates"),
		AffiliateFees: int64(t.AffiliateFees),
		Author:        partner(t.AuthorID, t.Author, "/lyceum/v1/authors"),
		AuthorFees:    int64(t.AuthorFees), Coupon: couponReference(t.CouponID),
		RefundedAt: wire.OptMoment(t.RefundedAt), AmountRefunded: int64(t.AmountRefunded),
		IsFullyRefunded: t.FullyRefunded(), PaymentGateway: t.Sale.PaymentGateway(),
	}
}

func status(paid bool) *string {
	if !paid {
		return nil
	}
	word := "paid"
	return &word
}

// partner refers to an affiliate or author: to their user if they have one.
func partner[ID ~int32](id lyceum.Opt[ID], user lyceum.Opt[lyceum.UserID], path string) *gen.OptionalReference {
	if id.Present && user.Present {
		return optionalReference("/v2/users", user)
	}
	return optionalReference(path, id)
}

func couponReference(id lyceum.Opt[lyceum.CouponID]) *gen.OptionalReference {
	return optionalReference("/v2/products/coupons", id)
}

// planReference refers to a pricing plan under its product, or in the Lyceum API if the
// product is unknown.
func planReference(p *lyceum.PricingPlan) gen.Reference {
	product := p.Product()
	if !product.Present {
		return reference("/lyceum/v1/pricing_plans", p.ID)
	}
	return reference(fmt.Sprintf("/v2/products/%s/%d/pricing-plans", product.Value.Kind.Path(), product.Value.ID), p.ID)
}

func amount(a lyceum.Opt[lyceum.Minor]) *int64 {
	if !a.Present {
		return nil
	}
	n := int64(a.Value)
	return &n
}
