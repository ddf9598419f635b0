package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) disputes() []wire.Operation {
	const all, each = "/lyceum/v1/transactions/{transaction_id}/disputes", "/lyceum/v1/disputes/{dispute_id}"
	return []wire.Operation{
		wire.Many("listDisputes", all, perPage, bindTransaction, f.Sales.Disputes, "disputes", dispute),
		previewed(
			one("openDispute", wire.Create, all, bindNewDispute, f.Sales.OpenDispute, "dispute", dispute),
			bindNewDispute, f.Sales.PreviewOpenDispute, salePreview,
		),
		one("showDispute", wire.Get, each, bindDispute, f.Sales.ShowDispute, "dispute", dispute),
		previewed(
			one("closeDispute", wire.Run, each+"/close", bindDisputeOutcome, f.Sales.CloseDispute, "dispute", dispute),
			bindDisputeOutcome, f.Sales.PreviewCloseDispute, salePreview,
		),
	}
}

func bindDispute(in *wire.Input) lyceum.DisputeID {
	return wire.PathID[lyceum.DisputeID](in, "dispute_id")
}

func bindNewDispute(in *wire.Input) sales.NewDispute {
	return sales.NewDispute{
		Transaction: bindTransaction(in), Amount: wire.Amount[lyceum.Minor](in.Body("amount"), 1),
		Fee:    wire.Amount[lyceum.Minor](in.Body("fee"), 0).Value,
		Reason: bindReason(in), Reference: bindReference(in), OccurredAt: bindOccurred(in),
	}
}

func bindDisputeOutcome(in *wire.Input) sales.DisputeOutcome {
	return sales.DisputeOutcome{
		Dispute: bindDispute(in), State: bindState(in), FeeReturned: in.Body("fee_returned").Bool(), Reason: bindReason(in),
		OccurredAt: bindOccurred(in),
	}
}

func dispute(d lyceum.Dispute) gen.Dispute {
	return gen.Dispute{
		ID: int32(d.ID), TransactionID: int32(d.TransactionID), SaleID: int32(d.SaleID), Amount: int64(d.Amount),
		Tax: int32(d.Tax), Fee: int32(d.Fee), FeeReturned: d.FeeReturned, State: gen.DisputeState(d.State),
		OpenedAt: wire.Moment(d.OpenedAt), ClosedAt: wire.OptMoment(d.ClosedAt), Reason: wire.Optional(d.Reason),
		Reference: wire.Optional(d.Reference),
	}
}
