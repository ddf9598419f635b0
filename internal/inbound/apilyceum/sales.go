package apilyceum

import (
	"context"
	"encoding/json"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// The lengths of texts, in characters.
const (
	maxReference = 255
	maxReason    = 500
)

// amountNames are the members of a body that bindAmounts reads.
var amountNames = []string{"final_price", "currency", "tax_charge", "charge", "affiliate_fees", "author_fees"}

func bindAmounts(in *wire.Input) sales.Amounts {
	a := sales.Amounts{
		FinalPrice: as[lyceum.Minor](in.Amount("final_price", 0)), TaxCharge: as[lyceum.Minor](in.Amount("tax_charge", 0)), Charge: as[lyceum.USDCents](in.Amount("charge", 0)),
		AffiliateFees: as[lyceum.Minor](in.Amount("affiliate_fees", 0)), AuthorFees: as[lyceum.Minor](in.Amount("author_fees", 0)),
	}
	if text := in.Text("currency"); text.Present {
		currency, err := lyceum.ParseCurrency(text.Value)
		if err != nil {
			in.Refuse("currency", lyceum.Public(err).Detail)
		}
		a.Currency = lyceum.Some(currency)
	}
	return a
}

// as gives a number that may be absent another type.
func as[T, S ~int32 | ~int64](n lyceum.Opt[S]) lyceum.Opt[T] {
	return lyceum.Opt[T]{Value: T(n.Value), Present: n.Present}
}

func bindNewSale(in *wire.Input) sales.NewSale {
	in.ReadJSON(append([]string{"user_id", "pricing_plan_id", "coupon_id", "affiliate_id", "author_id", "reference"}, amountNames...)...)
	return sales.NewSale{
		User: lyceum.UserID(in.RequiredID("user_id")), Plan: lyceum.PricingPlanID(in.RequiredID("pricing_plan_id")),
		Coupon: as[lyceum.CouponID](in.Amount("coupon_id", 1)), Affiliate: as[lyceum.AffiliateID](in.Amount("affiliate_id", 1)), Author: as[lyceum.AuthorID](in.Amount("author_id", 1)),
		Amounts: bindAmounts(in), Reference: in.Sentence("reference", maxReference),
	}
}

func bindSale(in *wire.Input) lyceum.SaleID { return lyceum.SaleID(in.PathID("sale_id")) }

// ShowSale serves GET /lyceum/v1/sales/{sale_id}.
func (f *Face) ShowSale(ctx context.Context, who wire.Principal, id lyceum.SaleID) (wire.JSON, error) {
	d, err := f.Sales.Show(ctx, who.Caller.School, id)
	return wire.JSON{Value: oneSale(d)}, err
}

// renewal is what createRenewal is asked.
type renewal struct {
	sale      lyceum.SaleID
	amounts   sales.Amounts
	reference lyceum.Opt[string]
}

func bindNewRenewal(in *wire.Input) renewal {
	in.ReadJSON(append([]string{"reference"}, amountNames...)...)
	return renewal{bindSale(in), bindAmounts(in), in.Sentence("reference", maxReference)}
}

func (f *Face) renew(ctx context.Context, by lyceum.By, q renewal) (sales.TransactionDetail, error) {
	return f.Sales.Renew(ctx, by, q.sale, q.amounts, q.reference)
}

func bindCancel(in *wire.Input) lyceum.SaleID {
	in.ReadNothing()
	return bindSale(in)
}

func bindTransaction(in *wire.Input) lyceum.TransactionID {
	return lyceum.TransactionID(in.PathID("transaction_id"))
}

// ShowTransaction serves GET /lyceum/v1/transactions/{transaction_id}.
func (f *Face) ShowTransaction(ctx context.Context, who wire.Principal, id lyceum.TransactionID) (wire.JSON, error) {
	d, err := f.Sales.ShowTransaction(ctx, who.Caller.School, id)
	return wire.JSON{Value: oneTransaction(d)}, err
}

// refund is what createRefund is asked.
type refund struct {
	transaction lyceum.TransactionID
	sales.Refund
}

func bindNewRefund(in *wire.Input) refund {
	in.ReadJSON("amount", "reason", "reference")
	return refund{bindTransaction(in), sales.Refund{Amount: as[lyceum.Minor](in.Amount("amount", 1)), Reason: in.Sentence("reason", maxReason), Reference: in.Sentence("reference", maxReference)}}
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

func bindNewChargeback(in *wire.Input) chargeback {
	in.ReadJSON("fee", "reason", "reference")
	return chargeback{transaction: bindTransaction(in), fee: lyceum.Minor(in.Amount("fee", 0).Value), reason: in.Sentence("reason", maxReason), reference: in.Sentence("reference", maxReference)}
}

func (f *Face) openChargeback(ctx context.Context, by lyceum.By, q chargeback) (sales.TransactionDetail, error) {
	return f.Sales.OpenChargeback(ctx, by, q.transaction, q.fee, q.reason, q.reference)
}

func bindOutcome(in *wire.Input) chargeback {
	in.ReadJSON("outcome", "reason")
	q := chargeback{transaction: bindTransaction(in), outcome: lyceum.ChargebackLost, reason: in.Sentence("reason", maxReason)}
	outcome := in.Choice("outcome", string(gen.Won), string(gen.Lost))
	if !outcome.Present {
		in.Refuse("outcome", "is missing; it must be won or lost")
	}
	if outcome.Value == string(gen.Won) {
		q.outcome = lyceum.ChargebackWon
	}
	return q
}

func (f *Face) closeChargeback(ctx context.Context, by lyceum.By, q chargeback) (sales.TransactionDetail, error) {
	return f.Sales.CloseChargeback(ctx, by, q.transaction, q.outcome, q.reason)
}

func oneSaleSummary(s lyceum.Sale) any { return gen.OneSaleSummary{Sale: saleOf(&s)} }

func oneSale(d sales.SaleDetail) any {
	// gen.SaleDetail has the same fields, written out once more.
	shown := struct {
		gen.Sale

		Transactions []shownTransaction `json:"transactions"`
		Movements    []gen.Movement     `json:"movements"`
	}{saleOf(&d.Sale), []shownTransaction{}, movementsOf(d.Movements)}
	for i := range d.Transactions {
		t := &d.Transactions[i]
		shown.Transactions = append(shown.Transactions, shownTransaction{t, d.Reference(t.ID), nil})
	}
	return map[string]any{"sale": shown}
}

func oneTransaction(d sales.TransactionDetail) any {
	return map[string]any{"transaction": shownTransaction{&d.Transaction, d.Reference, movementsOf(d.Movements)}}
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

func saleOf(s *lyceum.Sale) gen.Sale {
	return gen.Sale{
		ID: int32(s.ID), CreatedAt: wire.Moment(s.CreatedAt), UserID: wire.Number(s.UserID), PricingPlanID: wire.Number(s.PricingPlanID),
		CouponID: wire.Number(s.CouponID), AffiliateID: wire.Number(s.AffiliateID), AuthorID: wire.Number(s.AuthorID),
		FinalPrice: amount(s.FinalPrice), Currency: text(s.Currency), IsActive: !s.EndedAt.Present,
		PaidUntil: wire.OptMoment(s.PaidUntil), EndedAt: wire.OptMoment(s.EndedAt), EndReason: (*gen.SaleEndReason)(text(s.EndReason)),
	}
}

func movementsOf(all []lyceum.Movement) []gen.Movement {
	shown := []gen.Movement{}
	for i := range all {
		shown = append(shown, movementOf(&all[i]))
	}
	return shown
}

func movementOf(m *lyceum.Movement) gen.Movement {
	return gen.Movement{
		ID: int32(m.ID), TransactionID: int32(m.TransactionID), SaleID: int32(m.SaleID), Kind: gen.MovementKind(m.Kind), Amount: int32(m.Amount),
		AmountRefunded: int32(m.Refunded), At: wire.Moment(m.At), Reason: wire.Optional(m.Reason), Reference: wire.Optional(m.Reference),
	}
}

// amount is null for what is absent; the rules keep amounts to int32.
func amount(o lyceum.Opt[lyceum.Minor]) *int32 { return wire.Number(as[amount32](o)) }

type amount32 int32

func text[T ~string](o lyceum.Opt[T]) *string {
	if !o.Present {
		return nil
	}
	s := string(o.Value)
	return &s
}
