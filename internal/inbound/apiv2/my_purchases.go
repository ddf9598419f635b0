package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const (
	myPurchasesPath    = "/v2/current_user/purchases"
	myTransactionsPath = "/v2/current_user/transactions"
)

func (f *Face) myPurchases() []wire.Operation {
	s := f.sales
	return []wire.Operation{
		many("listCurrentUserPurchases", myPurchasesPath, perPage, bindMyPurchases, s.OwnPurchases, myPurchase),
		one(
			"showCurrentUserPurchase", wire.Get, myPurchasesPath+"/{purchase_id}",
			wire.ByID[lyceum.SaleID]("purchase_id"), s.OwnPurchase, myPurchase,
		),
		many(
			"listCurrentUserTransactions", myTransactionsPath, perPage, bindMyTransactions, s.OwnTransactions, myTransaction,
		),
		one(
			"showCurrentUserTransaction", wire.Get, myTransactionsPath+"/{transaction_id}",
			wire.ByID[lyceum.TransactionID]("transaction_id"), s.OwnTransaction, myTransaction,
		),
	}
}

func bindMyPurchases(in *wire.Input) lyceum.PurchaseFilter {
	return lyceum.PurchaseFilter{
		Purchased: wire.Period(in.Query("purchased_after"), in.Query("purchased_before")),
		Active:    in.Query("is_active").Bool(),
	}
}

func bindMyTransactions(in *wire.Input) lyceum.TransactionQuery {
	return lyceum.TransactionQuery{
		TransactionFilter: lyceum.TransactionFilter{
			Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
		},
		Sale: wire.AnyInt[lyceum.SaleID](in.Query("purchase_id")),
	}
}

func myPurchase(p sales.OwnPurchase) gen.LearnerPurchase {
	shown := purchase(p.Purchase)
	return gen.LearnerPurchase{
		ID: shown.ID, Product: boughtProduct(&p.Product), PaymentMethod: shown.PaymentMethod, Currency: shown.Currency,
		FinalPrice: shown.FinalPrice, IsRecurring: shown.IsRecurring, BillingInterval: shown.BillingInterval,
		BillingIntervalCount: shown.BillingIntervalCount, IsActive: shown.IsActive, PurchasedAt: shown.PurchasedAt,
		CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt,
	}
}

func myTransaction(t sales.OwnTransaction) gen.LearnerTransaction {
	shown := transaction(t.LinkedTransaction)
	return gen.LearnerTransaction{
		ID: shown.ID, Purchase: reference(myPurchasesPath, t.SaleID), Product: boughtProduct(&t.Product),
		CreatedAt: shown.CreatedAt, PurchasedAt: shown.PurchasedAt, Charge: shown.Charge, FinalPrice: shown.FinalPrice,
		TaxCharge: shown.TaxCharge, Currency: shown.Currency, Status: shown.Status, RefundedAt: shown.RefundedAt,
		AmountRefunded: shown.AmountRefunded, IsFullyRefunded: shown.IsFullyRefunded, PaymentGateway: shown.PaymentGateway,
	}
}

func boughtProduct(h *lyceum.Held) *gen.BoughtProduct {
	if !h.Product.Kind.Known() {
		return nil
	}
	shown := gen.BoughtProduct{ID: h.Product.ID, Type: string(h.Product.Kind)}
	if h.Name != "" {
		shown.Name = &h.Name
	}
	if h.Visible {
		shown.Href = myPath(h)
	}
	return &shown
}
