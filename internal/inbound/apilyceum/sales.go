package apilyceum

import (
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) sales() []wire.Operation {
	const all, each, stops = "/lyceum/v1/sales", "/lyceum/v1/sales/{sale_id}", "sales_to_stop"
	return []wire.Operation{
		one("createSale", wire.Create, all, bindNewSale, f.Sales.Record, "sale", saleDetail),
		one("showSale", wire.Get, each, bindSale, f.Sales.Show, "sale", saleDetail),
		one("createRenewal", wire.Create, each+"/renewals", bindRenewal, f.Sales.Renew, "transaction", transactionDetail),
		wire.Many("listPaymentFailures", each+"/payment_failures", perPage, bindSale, f.Sales.Failures,
			"payment_failures", paymentFailure),
		one("createPaymentFailure", wire.Create, each+"/payment_failures", bindFailure, f.Sales.FailPayment,
			"payment_failure", paymentFailure),
		previewed(
			one("endSale", wire.Run, each+"/end", wire.OptBody(bindEnding), f.Sales.EndNow, "sale", sale),
			wire.OptBody(bindEnding), f.Sales.PreviewEndNow, salePreview,
		),
		previewed(
			one("changePlan", wire.Run, each+"/change_plan", bindNextPlan, f.Sales.ChangePlan, "sale", saleDetail),
			bindNextPlan, f.Sales.PreviewChangePlan, salePreview,
		),
		wire.None("dropPlanChange", wire.Delete, each+"/change_plan", bindSale, f.Sales.DropChange),
		previewed(
			one("cancelSale", wire.Run, each+"/cancel", wire.OptBody(bindEnding), f.Sales.Cancel, "sale", sale),
			wire.OptBody(bindEnding), f.Sales.PreviewCancel, salePreview,
		),
		wire.Many("listSalesToStop", "/lyceum/v1/"+stops, perPage, wire.Anything, f.Sales.ToStop, stops, toStop),
		one(
			"confirmChargingStopped", wire.Run, each+"/charging_stopped",
			wire.NoBody(bindSale), f.Sales.ChargingStopped, "sale", sale,
		),
	}
}

// The maximum lengths of strings, in characters.
const (
	maxReference = 255
	maxReason    = 500
	maxGateway   = 64
)

func bindSale(in *wire.Input) lyceum.SaleID { return wire.PathID[lyceum.SaleID](in, "sale_id") }

func bindEnding(in *wire.Input) sales.Ending {
	return sales.Ending{Sale: bindSale(in), ChargingStopped: in.Body("charging_stopped").Bool().Value}
}

func bindNewSale(in *wire.Input) sales.NewSale {
	return sales.NewSale{
		User:      wire.ID[lyceum.UserID](in.Body("user_id").Required()).Value,
		Plan:      wire.ID[lyceum.PricingPlanID](in.Body("pricing_plan_id").Required()).Value,
		Coupon:    wire.ID[lyceum.CouponID](in.Body("coupon_id")),
		Affiliate: wire.ID[lyceum.AffiliateID](in.Body("affiliate_id")),
		Author:    wire.ID[lyceum.AuthorID](in.Body("author_id")),
		Reference: bindReference(in),
		Amounts:   bindAmounts(in), Means: bindMeans(in),
	}
}

func bindReference(in *wire.Input) lyceum.Opt[string] {
	return in.Body("reference").Text(1, maxReference)
}

func bindMeans(in *wire.Input) lyceum.Means {
	return lyceum.Means{
		Method:  wire.OneOfOrNull(in.Body("payment_method"), lyceum.PaymentMethods()...),
		Gateway: in.Body("payment_gateway").Text(1, maxGateway),
	}
}

func bindReason(in *wire.Input) lyceum.Opt[string] { return in.Body("reason").Text(1, maxReason) }

func bindOccurred(in *wire.Input) lyceum.Opt[time.Time] { return in.Body("occurred_at").Time() }

func bindAmounts(in *wire.Input) sales.Amounts {
	price, currency := in.Body("final_price"), in.Body("currency")
	return sales.Amounts{
		FinalPrice:    wire.Amount[lyceum.Minor](price, 0),
		TaxCharge:     wire.Amount[lyceum.Minor](in.Body("tax_charge"), 0),
		Charge:        wire.Amount[lyceum.USDCents](in.Body("charge"), 0),
		AffiliateFees: wire.Amount[lyceum.Minor](in.Body("affiliate_fees"), 0),
		AuthorFees:    wire.Amount[lyceum.Minor](in.Body("author_fees"), 0),
		Currency:      wire.Parsed(currency, lyceum.ParseCurrency),
		OccurredAt:    bindOccurred(in),
	}
}

func bindRenewal(in *wire.Input) sales.Renewal {
	return sales.Renewal{Sale: bindSale(in), Reference: bindReference(in), Amounts: bindAmounts(in)}
}

func bindFailure(in *wire.Input) sales.NewFailure {
	return sales.NewFailure{
		Sale: bindSale(in), Reason: bindReason(in), OccurredAt: bindOccurred(in),
		NextAttemptAt: in.Body("next_attempt_at").Time(), Reference: bindReference(in),
	}
}

func bindNextPlan(in *wire.Input) sales.PlanChange {
	return sales.PlanChange{
		Ending: bindEnding(in), AtPeriodEnd: in.Body("at_period_end").Bool().Value,
		NewSale: sales.NewSale{
			Plan:      wire.ID[lyceum.PricingPlanID](in.Body("pricing_plan_id").Required()).Value,
			Coupon:    wire.ID[lyceum.CouponID](in.Body("coupon_id")),
			Affiliate: wire.ID[lyceum.AffiliateID](in.Body("affiliate_id")),
			Author:    wire.ID[lyceum.AuthorID](in.Body("author_id")),
			Reference: bindReference(in),
			Amounts:   bindAmounts(in), Means: bindMeans(in),
		},
	}
}

// soldSale is gen.SaleDetail, which repeats the fields of gen.Sale.
type soldSale struct {
	gen.Sale

	Status          *sales.SaleStatus    `json:"status"`
	LapsesAt        *time.Time           `json:"lapses_at"`
	Transactions    []shownTransaction   `json:"transactions"`
	Movements       []gen.Movement       `json:"movements"`
	PaymentFailures []gen.PaymentFailure `json:"payment_failures"`
	Warnings        []gen.SaleWarning    `json:"warnings"`
}

func saleWarnings(list []lyceum.SaleWarning) []gen.SaleWarning {
	shown := []gen.SaleWarning{}
	for _, w := range list {
		shown = append(shown, gen.SaleWarning{Code: w.Code, Message: w.Message})
	}
	return shown
}

func saleDetail(d sales.SaleDetail) soldSale {
	shown := soldSale{
		Sale: sale(d.Sale), Status: wire.Optional(d.Status), LapsesAt: wire.OptMoment(d.LapsesAt),
		Transactions: []shownTransaction{}, Movements: movements(d.Movements),
		PaymentFailures: []gen.PaymentFailure{}, Warnings: saleWarnings(d.Warnings),
	}
	for _, f := range d.Failures {
		shown.PaymentFailures = append(shown.PaymentFailures, paymentFailure(f))
	}
	for i := range d.Transactions {
		t := &d.Transactions[i]
		shown.Transactions = append(
			shown.Transactions, shownTransaction{t, d.Refunded(t).Tax, d.Reference(t.ID), d.Period(t.ID), nil},
		)
	}
	return shown
}

func toStop(s sales.ToStop) gen.SaleToStop {
	return gen.SaleToStop{
		Since: wire.Moment(s.ToStop.Value), Reason: gen.SaleToStopReason(s.EndReason.Value),
		UserID: int32(s.Buyer.ID), Email: s.Buyer.Email, Name: wire.Optional(s.Buyer.Name),
		LastReference: wire.Optional(s.Reference), Sale: sale(s.Sale),
	}
}

func sale(s lyceum.Sale) gen.Sale {
	return gen.Sale{
		ID: int32(s.ID), CreatedAt: wire.Moment(s.CreatedAt), UserID: wire.Number(s.UserID),
		PricingPlanID: wire.Number(s.PricingPlanID),
		CouponID:      wire.Number(s.CouponID), AffiliateID: wire.Number(s.AffiliateID), AuthorID: wire.Number(s.AuthorID),
		FinalPrice: amount(s.FinalPrice), Currency: text(s.Currency), IsActive: !s.EndedAt.Present,
		PaymentMethod: gen.SalePaymentMethod(s.PaidBy()), PaymentGateway: s.PaymentGateway(),
		BillingAnchor: wire.OptMoment(s.BillingAnchor), PaidUntil: wire.OptMoment(s.PaidUntil), IsPaidInFull: s.PaidInFull,
		EndedAt:             wire.OptMoment(s.EndedAt),
		EndReason:           (*gen.SaleEndReason)(text(s.EndReason)),
		ChargingToStopSince: wire.OptMoment(s.ToStop),
		ReplacesSaleID:      wire.Number(s.Replaces), ReplacedBySaleID: wire.Number(s.ReplacedBy),
		NextPricingPlanID: wire.Number(s.NextPlan),
	}
}

func paymentFailure(f lyceum.PaymentFailure) gen.PaymentFailure {
	return gen.PaymentFailure{
		ID: int32(f.ID), SaleID: int32(f.SaleID), OccurredAt: wire.Moment(f.OccurredAt), Reason: wire.Optional(f.Reason),
		NextAttemptAt: wire.OptMoment(f.NextAttemptAt), Reference: wire.Optional(f.Reference),
	}
}
