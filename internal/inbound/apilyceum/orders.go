package apilyceum

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func bindNewOrder(in *wire.Input) sales.NewOrder {
	in.ReadJSON("email", "name", "pricing_plan_id", "coupon_id", "affiliate_id", "final_price")
	return sales.NewOrder{
		Email: in.RequiredText("email"), Name: in.Text("name"), Plan: lyceum.PricingPlanID(in.RequiredID("pricing_plan_id")),
		Coupon: as[lyceum.CouponID](in.Amount("coupon_id", 1)), Affiliate: as[lyceum.AffiliateID](in.Amount("affiliate_id", 1)), FinalPrice: as[lyceum.Minor](in.Amount("final_price", 0)),
	}
}

func bindOrder(in *wire.Input) lyceum.OrderID { return lyceum.OrderID(in.PathID("order_id")) }

// ShowOrder serves GET /lyceum/v1/orders/{order_id}.
func (f *Face) ShowOrder(ctx context.Context, who wire.Principal, id lyceum.OrderID) (wire.JSON, error) {
	o, err := f.Sales.ShowOrder(ctx, who.Caller.School, id)
	return wire.JSON{Value: oneOrder(o)}, err
}

// orderPayment is what completeOrder is asked.
type orderPayment struct {
	order lyceum.OrderID
	sale  sales.NewSale
}

func bindOrderPayment(in *wire.Input) orderPayment {
	in.ReadJSON(append([]string{"author_id", "reference"}, amountNames...)...)
	return orderPayment{bindOrder(in), sales.NewSale{
		Author: as[lyceum.AuthorID](in.Amount("author_id", 1)), Amounts: bindAmounts(in), Reference: in.Sentence("reference", maxReference),
	}}
}

func (f *Face) completeOrder(ctx context.Context, by lyceum.By, q orderPayment) (sales.SaleDetail, error) {
	return f.Sales.CompleteOrder(ctx, by, q.order, q.sale)
}

func bindAbandon(in *wire.Input) lyceum.OrderID {
	in.ReadNothing()
	return bindOrder(in)
}

func oneOrder(o lyceum.PurchaseOrder) any { return gen.OneOrder{Order: orderOf(&o)} }

func orderOf(o *lyceum.PurchaseOrder) gen.Order {
	return gen.Order{
		ID: int32(o.ID), Email: o.Email, Name: wire.Optional(o.Name), UserID: wire.Number(o.UserID), PricingPlanID: int32(o.PricingPlanID),
		CouponID: wire.Number(o.CouponID), AffiliateID: wire.Number(o.AffiliateID), FinalPrice: int32(o.FinalPrice), Currency: string(o.Currency), State: gen.OrderState(o.State),
		CreatedAt: wire.Moment(o.CreatedAt), AbandonsAt: wire.Moment(o.AbandonsAt), ClosedAt: wire.OptMoment(o.ClosedAt), SaleID: wire.Number(o.SaleID),
	}
}
