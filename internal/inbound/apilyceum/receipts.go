package apilyceum

import (
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) receipts() []wire.Operation {
	const path = "/lyceum/v1/seller"
	return []wire.Operation{
		one("showSeller", wire.Get, path, wire.Anything, f.Sales.Seller, "seller", seller),
		one("updateSeller", wire.Patch, path, bindSellerChange, f.Sales.ChangeSeller, "seller", seller),
		wire.Many("listReceipts", "/lyceum/v1/receipts", perPage, bindReceipts, f.Sales.Receipts, "receipts", receipt),
	}
}

func bindSellerChange(in *wire.Input) sales.SellerChange {
	return sales.SellerChange{
		Name:      in.Body("name").Text(0, lyceum.MaxSellerName),
		Address:   in.Body("address").Text(0, lyceum.MaxSellerAddress),
		TaxNumber: in.Body("tax_number").Text(0, lyceum.MaxTaxNumber),
		Prefix:    in.Body("receipt_prefix").Text(0, lyceum.MaxReceiptPrefix),
	}
}

func bindReceipts(in *wire.Input) lyceum.ReceiptFilter {
	return lyceum.ReceiptFilter{
		User:        wire.ID[lyceum.UserID](in.Query("user_id")),
		Transaction: wire.ID[lyceum.TransactionID](in.Query("transaction_id")),
	}
}

func seller(s lyceum.Seller) gen.Seller {
	return gen.Seller{
		Name: s.Name, Address: s.Address, TaxNumber: s.TaxNumber, ReceiptPrefix: s.Prefix,
		Since: wire.OptMoment(lyceum.Opt[time.Time]{Value: s.Since, Present: s.ID != 0}),
	}
}

func receipt(r sales.ReceiptDetail) gen.Receipt {
	kind := gen.ReceiptKindReceipt
	if r.Refund.Present {
		kind = gen.ReceiptKindCreditNote
	}
	return gen.Receipt{
		ID: int32(r.ID), Number: r.Number, Kind: kind, ReceiptID: int32(r.Of.ID), TransactionID: int32(r.Transaction),
		UserID: int32(r.User), IssuedAt: wire.Moment(r.IssuedAt), PaidAt: wire.Moment(r.PaidAt), Item: r.Item,
		Currency: string(r.Currency), Price: int32(r.Price), Tax: int32(r.Tax), Total: int32(r.Total()),
		Seller: seller(r.SoldBy),
	}
}
