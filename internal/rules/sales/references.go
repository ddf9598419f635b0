package sales

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// A reference is unique in the school among payments, among refunds and among disputes,
// permanently. If one is sent again with the same content, nothing new is recorded; with other
// content it is rejected.

// repeated compares what was sent with a reference to what is stored under it.
type repeated struct {
	reference string // as sent
	kept      string // as stored, maybe in another letter case
	what      string // such as "transaction 7"
	differs   []string
}

// unlike adds a field that was sent and differs from the stored one.
func unlike[T comparable](r *repeated, field string, sent lyceum.Opt[T], kept T) {
	if sent.Present && sent.Value != kept {
		r.differs = append(r.differs, fmt.Sprintf("%s (%v)", field, kept))
	}
}

// refusal returns an error that names the differences, or nil if there are none.
func (r *repeated) refusal() error {
	switch {
	case r.reference != r.kept:
		return conflict("reference_taken", "the reference %q is recorded already, in another letter case (%q), as %s",
			r.reference, r.kept, r.what)
	case len(r.differs) > 0:
		return conflict("reference_taken", "the reference %q is recorded already, as %s, with another %s", r.reference,
			r.what, strings.Join(r.differs, ", "))
	}
	return nil
}

// exact picks the item with exactly this reference, or else one in another letter case. Schools
// had both before references became case-insensitive.
func exact[T any](found []T, reference string, of func(*T) lyceum.Opt[string]) lyceum.Opt[*T] {
	var pick *T
	for i := range found {
		if pick == nil || of(&found[i]).Value == reference && of(pick).Value != reference {
			pick = &found[i]
		}
	}
	return lyceum.Opt[*T]{Value: pick, Present: pick != nil}
}

// again returns the refund that was recorded with the same reference, if there is one.
func (r Refund) again(tables *lyceum.Tables, from lyceum.Source) (lyceum.Opt[lyceum.Movement], error) {
	var none lyceum.Opt[lyceum.Movement]
	if !r.Reference.Present {
		return none, nil
	}
	found, err := lyceum.All(tables.Movements, from, lyceum.MovementFilter{
		Kinds: []lyceum.MovementKind{lyceum.Refunded}, Reference: r.Reference,
	})
	kept := exact(found, r.Reference.Value, func(m *lyceum.Movement) lyceum.Opt[string] { return m.Reference })
	if err != nil || !kept.Present {
		return none, err
	}
	m := kept.Value
	of := repeated{
		reference: r.Reference.Value, kept: m.Reference.Value,
		what: fmt.Sprintf("refund %d of transaction %d", m.ID, m.TransactionID),
	}
	unlike(&of, "transaction", lyceum.Some(r.Transaction), m.TransactionID)
	unlike(&of, "amount", r.Amount, m.Amount)
	unlike(&of, "total", r.Total, m.Amount+m.Tax)
	unlike(&of, "occurred_at", written(r.OccurredAt), moment(m.At))
	return lyceum.Some(*m), of.refusal()
}

// again returns the dispute that was recorded with the same reference, if there is one.
func (n NewDispute) again(tx lyceum.Tx) (lyceum.Opt[lyceum.Dispute], error) {
	var none lyceum.Opt[lyceum.Dispute]
	if !n.Reference.Present {
		return none, nil
	}
	found, err := lyceum.All(tx.Disputes, tx, lyceum.DisputeFilter{Reference: n.Reference})
	kept := exact(found, n.Reference.Value, func(d *lyceum.Dispute) lyceum.Opt[string] { return d.Reference })
	if err != nil || !kept.Present {
		return none, err
	}
	d := kept.Value
	of := repeated{
		reference: n.Reference.Value, kept: d.Reference.Value,
		what: fmt.Sprintf("dispute %d of transaction %d", d.ID, d.TransactionID),
	}
	unlike(&of, "transaction", lyceum.Some(n.Transaction), d.TransactionID)
	unlike(&of, "amount", n.Amount, d.Amount)
	unlike(&of, "fee", lyceum.Some(n.Fee), d.Fee)
	unlike(&of, "occurred_at", written(n.OccurredAt), moment(d.OpenedAt))
	return lyceum.Some(*d), of.refusal()
}

// pay runs record, which records a payment. If that fails and a payment was already recorded
// with the reference, it returns the result of again instead. So a payment that is sent once
// costs no extra query.
func pay[T any](
	ctx context.Context, s *Service, by lyceum.By, reference lyceum.Opt[string],
	record func(lyceum.Tx, time.Time) (T, error),
	again func(lyceum.Tx, lyceum.Transaction, *repeated) (T, error),
) (T, error) {
	now := s.clock()
	made, refused := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) { return record(tx, now) })
	if refused == nil || !reference.Present || !changeable(refused) {
		return made, refused
	}
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) {
		return paidBefore(tx, reference.Value, refused, again)
	})
}

// paidBefore returns the result of again for the payment that was recorded with a reference
// before, or refused if there is none.
func paidBefore[T any](
	tx lyceum.Tx, reference string, refused error,
	again func(lyceum.Tx, lyceum.Transaction, *repeated) (T, error),
) (T, error) {
	var none T
	found, err := lyceum.All(tx.References, tx, lyceum.ReferenceFilter{AnyCase: lyceum.Some(reference)})
	kept := exact(found, reference, func(r *lyceum.Reference) lyceum.Opt[string] { return lyceum.Some(r.Name) })
	if err != nil {
		return none, err
	}
	if !kept.Present {
		return none, refused
	}
	t, err := tx.Transactions.Get(tx, kept.Value.Transaction)
	if err != nil {
		return none, err
	}
	return again(tx, t, &repeated{reference: reference, kept: kept.Value.Name, what: fmt.Sprintf("transaction %d", t.ID)})
}

// changeable reports whether an error may be due to an earlier recording of the same payment.
func changeable(refused error) bool {
	kind := lyceum.KindOf(refused)
	return lyceum.Public(refused).Code != "idempotency_key_reused" &&
		(kind == lyceum.Invalid || kind == lyceum.Conflict || kind == lyceum.NotFound)
}

// compare adds the amounts that were sent and differ from those of a transaction.
func (a Amounts) compare(r *repeated, t *lyceum.Transaction) {
	unlike(r, "final_price", a.FinalPrice, t.FinalPrice)
	unlike(r, "currency", a.Currency, t.Currency)
	unlike(r, "tax_charge", a.TaxCharge, t.TaxCharge)
	unlike(r, "charge", a.Charge, t.Charge)
	unlike(r, "occurred_at", written(a.OccurredAt), moment(t.PurchasedAt))
}

// recordAgain returns the sale of a payment that is already recorded.
func (s *Service) recordAgain(tx lyceum.Tx, n NewSale, t *lyceum.Transaction, r *repeated) (SaleDetail, error) {
	unlike(r, "user_id", lyceum.Some(n.User), t.UserID)
	unlike(r, "pricing_plan_id", lyceum.Some(n.Plan), t.PricingPlanID)
	if err := unlikeMeans(tx, n.Means, t.SaleID, r); err != nil {
		return SaleDetail{}, err
	}
	n.TaxCharge = lyceum.Some(n.TaxCharge.Value)
	n.compare(r, t)
	if err := r.refusal(); err != nil {
		return SaleDetail{}, err
	}
	return s.saleDetail(tx.Tables, tx, t.SaleID)
}

// renewAgain returns a renewal that is already recorded.
func renewAgain(tx lyceum.Tx, n Renewal, t lyceum.Transaction, r *repeated) (TransactionDetail, error) {
	sale, err := tx.Sales.Get(tx, t.SaleID)
	if err != nil {
		return TransactionDetail{}, err
	}
	if sale.Replaces != lyceum.Some(n.Sale) { // otherwise the sale changed its plan with this payment
		unlike(r, "sale", lyceum.Some(n.Sale), t.SaleID)
	}
	n.compare(r, &t)
	if err := r.refusal(); err != nil {
		return TransactionDetail{}, err
	}
	return transactionDetail(tx.Tables, tx, t)
}

// completeAgain returns the sale of an order that is already completed.
func (s *Service) completeAgain(tx lyceum.Tx, p OrderPayment, t *lyceum.Transaction, r *repeated) (SaleDetail, error) {
	order, err := tx.Orders.Get(tx, p.Order)
	if err != nil {
		return SaleDetail{}, err
	}
	unlike(r, "sale", lyceum.Some(order.SaleID.Value), t.SaleID)
	if err := unlikeMeans(tx, p.Means, t.SaleID, r); err != nil {
		return SaleDetail{}, err
	}
	p.FinalPrice = p.FinalPrice.Or(order.FinalPrice)
	p.TaxCharge = lyceum.Some(p.TaxCharge.Value)
	p.compare(r, t)
	if err := r.refusal(); err != nil {
		return SaleDetail{}, err
	}
	return s.saleDetail(tx.Tables, tx, t.SaleID)
}
