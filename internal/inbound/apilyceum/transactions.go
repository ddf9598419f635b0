package apilyceum

import (
	"encoding/json"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func (f *Face) transactions() []wire.Operation {
	const each, name = "/lyceum/v1/transactions/{transaction_id}", "transaction"
	const refunds, chargebacks = each + "/refunds", each + "/chargebacks"
	return []wire.Operation{
		one(
			"showTransaction", wire.Get, each,
			bindTransaction, f.Sales.ShowTransaction, name, transactionDetail,
		),
		previewed(
			one("createRefund", wire.Create, refunds, bindRefund, f.Sales.Refund, name, transactionDetail),
			bindRefund, f.Sales.PreviewRefund, salePreview,
		),
		previewed(
			one("openChargeback", wire.Create, chargebacks, bindChargeback, f.Sales.OpenChargeback, name, transactionDetail),
			bindChargeback, f.Sales.PreviewOpenChargeback, salePreview,
		),
		previewed(
			one(
				"closeChargeback", wire.Run, chargebacks+"/close",
				bindOutcome, f.Sales.CloseChargeback, name, transactionDetail,
			),
			bindOutcome, f.Sales.PreviewCloseChargeback, salePreview,
		),
	}
}

func bindTransaction(in *wire.Input) lyceum.TransactionID {
	return wire.PathID[lyceum.TransactionID](in, "transaction_id")
}

func bindRefund(in *wire.Input) sales.Refund {
	return sales.Refund{
		Transaction: bindTransaction(in), Amount: wire.Amount[lyceum.Minor](in.Body("amount"), 1),
		Total: wire.Amount[lyceum.Minor](in.Body("total"), 1), EndAccess: in.Body("end_access").Bool(),
		ChargingStopped: in.Body("charging_stopped").Bool().Value,
		Reason:          bindReason(in), Reference: bindReference(in), OccurredAt: bindOccurred(in),
	}
}

func bindChargeback(in *wire.Input) sales.Chargeback {
	return sales.Chargeback{
		Transaction: bindTransaction(in), Fee: wire.Amount[lyceum.Minor](in.Body("fee"), 0).Value,
		Reason: bindReason(in), Reference: bindReference(in), OccurredAt: bindOccurred(in),
	}
}

func bindOutcome(in *wire.Input) sales.Outcome {
	return sales.Outcome{
		Transaction: bindTransaction(in), State: bindState(in), FeeReturned: in.Body("fee_returned").Bool(),
		Reason: bindReason(in), OccurredAt: bindOccurred(in),
	}
}

func bindState(in *wire.Input) lyceum.DisputeState {
	return wire.OneOf(in.Body("outcome").Required(), lyceum.DisputeWon, lyceum.DisputeLost).Value
}

func transactionDetail(d sales.TransactionDetail) shownTransaction {
	return shownTransaction{&d.Transaction, d.TaxRefunded, d.Reference, d.Period, movements(d.Movements)}
}

// shownTransaction is a transaction as version 1 renders it, plus what only this face
// adds. Inside a sale, movements is nil.
type shownTransaction struct {
	transaction *lyceum.Transaction
	taxRefunded lyceum.Minor
	reference   lyceum.Opt[string]
	period      lyceum.Opt[sales.PaidPeriod]
	movements   []gen.Movement
}

// MarshalJSON implements json.Marshaler.
func (s shownTransaction) MarshalJSON() ([]byte, error) {
	b := wire.AppendTransaction(nil, s.transaction)
	b = wire.AppendNumber(b[:len(b)-1], `,"tax_refunded":`, s.taxRefunded)
	b = wire.AppendOptWord(b, `,"reference":`, s.reference)
	start, end := s.period.Value.Start, s.period.Value.End
	b = wire.AppendOptMoment(b, `,"period_start":`, lyceum.Opt[time.Time]{Value: start, Present: s.period.Present})
	b = wire.AppendOptMoment(b, `,"period_end":`, lyceum.Opt[time.Time]{Value: end, Present: s.period.Present})
	if s.movements == nil {
		return append(b, '}'), nil
	}
	movements, err := json.Marshal(s.movements)
	return append(append(append(b, `,"movements":`...), movements...), '}'), err
}

func movements(all []lyceum.Movement) []gen.Movement {
	shown := []gen.Movement{}
	for i := range all {
		shown = append(shown, movement(&all[i]))
	}
	return shown
}

func movement(m *lyceum.Movement) gen.Movement {
	return gen.Movement{
		ID: int32(m.ID), TransactionID: int32(m.TransactionID), SaleID: int32(m.SaleID),
		Kind: gen.MovementKind(m.Kind), Amount: int32(m.Amount), Tax: int32(m.Tax),
		AmountRefunded: int32(m.Refunded), TaxRefunded: int32(m.TaxRefunded), DisputeID: wire.Number(m.Dispute),
		At: wire.Moment(m.At), Reason: wire.Optional(m.Reason), Reference: wire.Optional(m.Reference),
	}
}
