package apilyceum

import (
	"context"
	"encoding/json"

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
		one("createRefund", wire.Create, refunds, bindRefund, f.refund, name, transactionDetail),
		one("openChargeback", wire.Create, chargebacks, bindChargeback, f.openChargeback, name, transactionDetail),
		one("closeChargeback", wire.Run, chargebacks+"/close", bindOutcome, f.closeChargeback, name, transactionDetail),
	}
}

func bindTransaction(in *wire.Input) lyceum.TransactionID {
	return wire.PathID[lyceum.TransactionID](in, "transaction_id")
}

// refund is what createRefund is asked.
type refund struct {
	transaction lyceum.TransactionID
	sales.Refund
}

func bindRefund(in *wire.Input) refund {
	return refund{bindTransaction(in), sales.Refund{
		Amount: wire.Amount[lyceum.Minor](in.Body("amount"), 1), Reason: bindReason(in), Reference: bindReference(in),
	}}
}

func (f *Face) refund(ctx context.Context, by lyceum.By, q refund) (sales.TransactionDetail, error) {
	return f.Sales.Refund(ctx, by, q.transaction, q.Refund)
}

// chargeback is what openChargeback and closeChargeback are asked.
type chargeback struct {
	transaction       lyceum.TransactionID
	fee               lyceum.Minor
	outcome           lyceum.MovementKind
	reason, reference lyceum.Opt[string]
}

func bindChargeback(in *wire.Input) chargeback {
	return chargeback{
		transaction: bindTransaction(in), fee: wire.Amount[lyceum.Minor](in.Body("fee"), 0).Value,
		reason: bindReason(in), reference: bindReference(in),
	}
}

func (f *Face) openChargeback(ctx context.Context, by lyceum.By, q chargeback) (sales.TransactionDetail, error) {
	return f.Sales.OpenChargeback(ctx, by, q.transaction, q.fee, q.reason, q.reference)
}

func bindOutcome(in *wire.Input) chargeback {
	outcome := in.Body("outcome").Required()
	q := chargeback{transaction: bindTransaction(in), outcome: lyceum.ChargebackLost, reason: bindReason(in)}
	if wire.OneOf(outcome, gen.Won, gen.Lost).Value == gen.Won {
		q.outcome = lyceum.ChargebackWon
	}
	return q
}

func (f *Face) closeChargeback(ctx context.Context, by lyceum.By, q chargeback) (sales.TransactionDetail, error) {
	return f.Sales.CloseChargeback(ctx, by, q.transaction, q.outcome, q.reason)
}

func transactionDetail(d sales.TransactionDetail) shownTransaction {
	return shownTransaction{&d.Transaction, d.Reference, movements(d.Movements)}
}

// shownTransaction is a transaction as version 1 writes it, and what only this
// face adds. Inside a sale it has no movements of its own: nil.
type shownTransaction struct {
	transaction *lyceum.Transaction
	reference   lyceum.Opt[string]
	movements   []gen.Movement
}

// MarshalJSON implements json.Marshaler.
func (s shownTransaction) MarshalJSON() ([]byte, error) {
	b := wire.AppendTransaction(nil, s.transaction)
	b = wire.AppendOptWord(b[:len(b)-1], `,"reference":`, s.reference)
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
		Kind: gen.MovementKind(m.Kind), Amount: int32(m.Amount), AmountRefunded: int32(m.Refunded),
		At: wire.Moment(m.At), Reason: wire.Optional(m.Reason), Reference: wire.Optional(m.Reference),
	}
}
