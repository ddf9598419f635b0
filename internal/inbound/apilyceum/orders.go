package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) orders() []wire.Operation {
	const all, each = "/lyceum/v1/orders", "/lyceum/v1/orders/{order_id}"
	return []wire.Operation{
		one("createOrder", wire.Create, all, bindNewOrder, f.Sales.OpenOrder, "order", order),
		one("showOrder", wire.Get, each, bindOrder, f.Sales.ShowOrder, "order", order),
		one("completeOrder", wire.Create, each+"/complete", bindPayment, f.Sales.CompleteOrder, "sale", saleDetail),
		one("abandonOrder", wire.Run, each+"/abandon", wire.NoBody(bindOrder), f.Sales.AbandonOrder, "order", order),
	}
}

func bindOrder(in *wire.Input) lyceum.OrderID { return wire.PathID[lyceum.OrderID](in, "order_id") }

func bindNewOrder(in *wire.Input) sales.NewOrder {
	return sales.NewOrder{
		Email:      in.Body("email").Required().Text(1, wire.Unbounded).Value,
		Name:       in.Body("name").Text(0, wire.Unbounded),
		Plan:       wire.ID[lyceum.PricingPlanID](in.Body("pricing_plan_id").Required()).Value,
		Coupon:     wire.ID[lyceum.CouponID](in.Body("coupon_id")),
		Affiliate:  wire.ID[lyceum.AffiliateID](in.Body("affiliate_id")),
		FinalPrice: wire.Amount[lyceum.Minor](in.Body("final_price"), 0),
		ReturnURL:  in.Body("return_url").Text(1, wire.Unbounded),
	}
}

func bindPayment(in *wire.Input) sales.OrderPayment {
	return sales.OrderPayment{
		Order: bindOrder(in), Author: wire.ID[lyceum.AuthorID](in.Body("author_id")), Reference: bindReference(in),
		Amounts: bindAmounts(in), Means: bindMeans(in),
	}
}

func order(o lyceum.PurchaseOrder) gen.Order {
	return gen.Order{
		ID: int32(o.ID), Email: o.Email, Name: wire.Optional(o.Name), UserID: wire.Number(o.UserID),
		PricingPlanID: int32(o.PricingPlanID), CouponID: wire.Number(o.CouponID),
		AffiliateID: wire.Number(o.AffiliateID), FinalPrice: int32(o.FinalPrice), Currency: string(o.Currency),
		State: gen.OrderState(o.State), CreatedAt: wire.Moment(o.CreatedAt), AbandonsAt: wire.Moment(o.AbandonsAt),
		ClosedAt: wire.OptMoment(o.ClosedAt), SaleID: wire.Number(o.SaleID), ReturnURL: wire.Optional(o.ReturnURL),
	}
}
