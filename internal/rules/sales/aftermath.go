package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// conflict refuses what the state of a sale does not allow.
func conflict(code, format string, args ...any) error {
	return &lyceum.Error{Kind: lyceum.Conflict, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// planOfSale gives the pricing plan of a sale that has one, and refuses the
// others.
func planOfSale(tx lyceum.Tx, sale *lyceum.Sale) (lyceum.PricingPlan, error) {
	plans, err := tx.PricingPlans.Find(tx, sale.PricingPlanID.Value)
	if err != nil {
		return lyceum.PricingPlan{}, err
	}
	return planAmong(plans, sale)
}

func planAmong(plans map[lyceum.PricingPlanID]lyceum.PricingPlan, sale *lyceum.Sale) (lyceum.PricingPlan, error) {
	plan, there := plans[sale.PricingPlanID.Value]
	if !there {
		return plan, conflict("unknown_plan", "the pricing plan of sale %d is unknown", sale.ID)
	}
	return plan, nil
}

// running gives a sale that is paid for again and again and has not ended.
func running(tx lyceum.Tx, id lyceum.SaleID) (lyceum.Sale, lyceum.PricingPlan, error) {
	sale, err := tx.Sales.Get(tx, id)
	if err != nil {
		return sale, lyceum.PricingPlan{}, err
	}
	plan, err := planOfSale(tx, &sale)
	if err == nil {
		err = recurring(&sale, &plan)
	}
	return sale, plan, err
}

// recurring refuses a sale that is paid once, or has ended.
func recurring(sale *lyceum.Sale, plan *lyceum.PricingPlan) error {
	switch {
	case !plan.Recurring():
		return conflict("not_recurring", "sale %d is a single payment: its pricing plan is %s", sale.ID, plan.Frequency)
	case sale.EndedAt.Present:
		return conflict("sale_ended", "sale %d has ended: %s", sale.ID, sale.EndReason.Value)
	}
	return nil
}

// Renewal is the next payment of a sale.
type Renewal struct {
	Amounts

	Sale      lyceum.SaleID
	Reference lyceum.Opt[string] // of the payment, unique in the school
}

// Renew keeps the next payment of a subscription or a payment plan.
func (s *Service) Renew(ctx context.Context, by lyceum.By, r Renewal) (TransactionDetail, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (TransactionDetail, error) {
		if err := tx.Reserve(1, lyceum.TransactionSequence); err != nil {
			return TransactionDetail{}, err
		}
		sale, plan, err := running(tx, r.Sale)
		if err != nil {
			return TransactionDetail{}, err
		}
		first, _, err := tx.Transactions.First(tx, paymentsOf(r.Sale))
		if err != nil {
			return TransactionDetail{}, err
		}
		due := r.Amounts
		if first.FinalPrice > 0 {
			due = due.asBefore(&first)
		}
		at := lyceum.Second(now)
		t, err := charge(tx, &sale, &plan, due, plan.Price, at)
		if err != nil {
			return TransactionDetail{}, err
		}
		if err := keepCharge(tx, &t, r.Reference); err != nil {
			return TransactionDetail{}, err
		}
		from := at
		if sale.PaidUntil.Present {
			from = sale.PaidUntil.Value
		}
		sale.PaidUntil = paidUntil(&plan, from, at)
		_, err = tx.Sales.Save(tx, sale)
		return TransactionDetail{Transaction: t, Reference: r.Reference}, err
	})
}

// asBefore fills in what is absent from an earlier payment.
func (a Amounts) asBefore(t *lyceum.Transaction) Amounts {
	if !a.FinalPrice.Present && !a.Currency.Present {
		a.TaxCharge = a.TaxCharge.Or(t.TaxCharge)
		a.AffiliateFees = a.AffiliateFees.Or(t.AffiliateFees)
		a.AuthorFees = a.AuthorFees.Or(t.AuthorFees)
	}
	a.FinalPrice, a.Currency = a.FinalPrice.Or(t.FinalPrice), a.Currency.Or(t.Currency)
	return a
}

// Cancel ends a subscription or a payment plan. What becomes of the learner's
// access is the school's choice.
func (s *Service) Cancel(ctx context.Context, by lyceum.By, id lyceum.SaleID) (lyceum.Sale, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Sale, error) {
		sale, plan, err := running(tx, id)
		if err != nil {
			return sale, err
		}
		school, err := tx.GetSchool()
		if err != nil {
			return sale, err
		}
		if err := s.end(tx, now, &sale, &plan, lyceum.SaleCanceled, school.Policy.OnCancellation); err != nil {
			return sale, err
		}
		tx.Announce(lyceum.SaleUpdated, int32(sale.ID), lyceum.SubscriptionCanceledEvent, "")
		return sale, nil
	})
}

// end ends a sale that has not ended, with the consequence for its learner.
func (s *Service) end(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan, why lyceum.SaleEnd, then lyceum.Consequence,
) error {
	if sale.EndedAt.Present {
		return nil
	}
	sale.EndedAt, sale.EndReason = lyceum.Some(lyceum.Second(now)), lyceum.Some(why)
	if _, err := tx.Sales.Save(tx, *sale); err != nil {
		return err
	}
	at := now
	switch effect(now, sale, plan, then) {
	case lyceum.Keep:
		return nil
	case lyceum.AtPeriodEnd:
		at = sale.PaidUntil.Value
	default:
	}
	return s.enroller.Dismiss(tx, now, sale, plan.CourseID.Value, at)
}

// effect gives what a consequence comes to for a sale: nothing is taken where
// nothing was opened, and a period that is over ends now.
func effect(now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan, then lyceum.Consequence) lyceum.Consequence {
	switch {
	case !plan.CourseID.Present:
		return lyceum.Keep
	case then == lyceum.AtPeriodEnd && (!sale.PaidUntil.Present || !sale.PaidUntil.Value.After(now)):
		return lyceum.Unenroll
	}
	return then
}

// Refund is money that goes back to the buyer.
type Refund struct {
	Transaction lyceum.TransactionID
	Amount      lyceum.Opt[lyceum.Minor] // in the transaction's currency; absent: all that is left
	Reason      lyceum.Opt[string]
	Reference   lyceum.Opt[string] // of the payment system
}

// Refund keeps that a transaction, or a part of it, was paid back. All refunds
// together are never more than its price with tax. When the last payment of a
// sale is refunded in full, the sale ends.
func (s *Service) Refund(ctx context.Context, by lyceum.By, r Refund) (TransactionDetail, error) {
	return s.move(ctx, by, r.Transaction, func(tx lyceum.Tx, now time.Time, t *lyceum.Transaction,
		last lyceum.MovementKind,
	) (lyceum.Movement, func() error, error) {
		amount, err := r.amount(t, last)
		m := lyceum.Movement{Kind: lyceum.Refunded, Amount: amount, Reason: r.Reason, Reference: r.Reference}
		if err != nil {
			return m, nil, err
		}
		full := t.FullyRefunded()
		t.AmountRefunded += m.Amount
		t.RefundedAt = lyceum.Some(lyceum.Second(now))
		if full || !t.FullyRefunded() {
			return m, nil, nil
		}
		return m, func() error { return s.endAfter(tx, now, t, lyceum.SaleRefunded) }, nil
	})
}

// refundable gives what is left of a transaction to refund, or why nothing is.
// Last is the last step of its chargebacks.
func refundable(t *lyceum.Transaction, last lyceum.MovementKind) (lyceum.Minor, error) {
	left := t.FinalPrice + t.TaxCharge - t.AmountRefunded
	switch {
	case !t.Paid || t.Charge == 0:
		return 0, conflict("nothing_charged", "nothing was charged for transaction %d", t.ID)
	case last == lyceum.ChargebackOpened:
		return 0, conflict("chargeback_open", "transaction %d has an open chargeback: the bank holds the money", t.ID)
	case t.HasChargeback == lyceum.Some(true):
		return 0, conflict("charged_back", "transaction %d was already paid back by a chargeback", t.ID)
	case left <= 0:
		return 0, conflict("refunded", "transaction %d is fully refunded", t.ID)
	}
	return left, nil
}

// amount gives what the refund gives back of a transaction.
func (r Refund) amount(t *lyceum.Transaction, last lyceum.MovementKind) (lyceum.Minor, error) {
	left, err := refundable(t, last)
	if err != nil || !r.Amount.Present {
		return left, err
	}
	if r.Amount.Value < 1 || r.Amount.Value > left {
		return 0, lyceum.InvalidFields(lyceum.FieldError{
			Field: "amount",
			Message: fmt.Sprintf("must be from 1 to %d, what is left of transaction %d in the smallest unit of %s", left, t.ID,
				t.Currency),
		})
	}
	return r.Amount.Value, nil
}

// maxNote is how long the words beside a movement may be, in characters.
const maxNote = 500

// checkNotes refuses what cannot be kept beside a movement.
func checkNotes(reason, reference lyceum.Opt[string]) error {
	var wrong []lyceum.FieldError
	for _, note := range []struct{ field, text string }{{"reason", reason.Value}, {"reference", reference.Value}} {
		if message := lyceum.CheckText(note.text, 0, maxNote); message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: note.field, Message: message})
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// Chargeback is a payment that the buyer's bank took back.
type Chargeback struct {
	Transaction lyceum.TransactionID
	Fee         lyceum.Minor // what the bank charges for it, in the transaction's currency
	Reason      lyceum.Opt[string]
	Reference   lyceum.Opt[string] // of the payment system
}

// OpenChargeback keeps that the buyer's bank took a payment back for the time
// being.
func (s *Service) OpenChargeback(ctx context.Context, by lyceum.By, c Chargeback) (TransactionDetail, error) {
	return s.move(ctx, by, c.Transaction, func(_ lyceum.Tx, _ time.Time, t *lyceum.Transaction,
		_ lyceum.MovementKind,
	) (lyceum.Movement, func() error, error) {
		m := lyceum.Movement{Kind: lyceum.ChargebackOpened, Amount: c.Fee, Reason: c.Reason, Reference: c.Reference}
		switch {
		case !t.Paid || t.Charge == 0:
			return m, nil, conflict("nothing_charged", "nothing was charged for transaction %d", t.ID)
		case t.HasChargeback == lyceum.Some(true):
			return m, nil, conflict("charged_back", "transaction %d already has a chargeback", t.ID)
		case t.AmountRefunded >= t.FinalPrice+t.TaxCharge:
			return m, nil, conflict("refunded", "transaction %d is fully refunded: there is nothing to charge back", t.ID)
		}
		t.HasChargeback, t.ChargebackFee = lyceum.Some(true), lyceum.Some(c.Fee)
		return m, nil, nil
	})
}

// Outcome is how a chargeback ended.
type Outcome struct {
	Transaction lyceum.TransactionID
	Kind        lyceum.MovementKind // ChargebackWon or ChargebackLost
	Reason      lyceum.Opt[string]
}

// CloseChargeback keeps how a chargeback ended: won, the money is back and the
// fee forgotten, or lost, and the sale ends.
func (s *Service) CloseChargeback(ctx context.Context, by lyceum.By, o Outcome) (TransactionDetail, error) {
	return s.move(ctx, by, o.Transaction, func(tx lyceum.Tx, now time.Time, t *lyceum.Transaction,
		last lyceum.MovementKind,
	) (lyceum.Movement, func() error, error) {
		m := lyceum.Movement{Kind: o.Kind, Reason: o.Reason}
		if last != lyceum.ChargebackOpened {
			return m, nil, conflict("no_open_chargeback", "transaction %d has no open chargeback", t.ID)
		}
		if o.Kind == lyceum.ChargebackWon {
			t.HasChargeback, t.ChargebackFee = lyceum.Some(false), lyceum.None[lyceum.Minor]()
			return m, nil, nil
		}
		return m, func() error { return s.endAfter(tx, now, t, lyceum.SaleChargedBack) }, nil
	})
}

// step decides what happens to a transaction's money. last is the last step of
// its chargebacks; empty without any. After runs once the books are kept.
type step func(
	tx lyceum.Tx, now time.Time, t *lyceum.Transaction, last lyceum.MovementKind,
) (m lyceum.Movement, after func() error, err error)

// move keeps a movement and the transaction as it left it.
func (s *Service) move(ctx context.Context, by lyceum.By, id lyceum.TransactionID, do step) (TransactionDetail, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (TransactionDetail, error) {
		number, err := tx.Movements.NextID(tx)
		if err != nil {
			return TransactionDetail{}, err
		}
		t, err := tx.Transactions.Get(tx, id)
		if err != nil {
			return TransactionDetail{}, err
		}
		last, _, err := tx.Movements.First(tx, lyceum.MovementFilter{
			Transaction: lyceum.Some(id), Newest: true,
			Kinds: []lyceum.MovementKind{lyceum.ChargebackOpened, lyceum.ChargebackWon, lyceum.ChargebackLost},
		})
		if err != nil {
			return TransactionDetail{}, err
		}
		before := t
		m, after, err := do(tx, now, &t, last.Kind)
		if err == nil {
			err = checkNotes(m.Reason, m.Reference)
		}
		if err != nil {
			return TransactionDetail{}, err
		}
		m.ID, m.TransactionID, m.SaleID, m.At, m.Refunded = number, t.ID, t.SaleID, lyceum.Second(now),
			t.AmountRefunded
		if t != before {
			if _, err := tx.Transactions.Save(tx, t); err != nil {
				return TransactionDetail{}, err
			}
		}
		if m.Kind == lyceum.Refunded {
			// The next refund may be kept before this one is told.
			detail := fmt.Sprintf(`{"amount_refunded":%d}`, t.AmountRefunded)
			tx.Announce(lyceum.TransactionUpdated, int32(t.ID), lyceum.TransactionRefundedEvent, detail)
		}
		if err := tx.Movements.Insert(tx, m); err != nil {
			return TransactionDetail{}, err
		}
		if after != nil {
			if err := after(); err != nil {
				return TransactionDetail{}, err
			}
		}
		references, err := tx.References.Find(tx, id)
		return TransactionDetail{Transaction: t, Reference: nameIn(references, id), Movements: []lyceum.Movement{m}}, err
	})
}

// endAfter ends the sale of a transaction that was its last.
func (s *Service) endAfter(tx lyceum.Tx, now time.Time, t *lyceum.Transaction, why lyceum.SaleEnd) error {
	last, _, err := tx.Transactions.First(tx, lyceum.TransactionQuery{
		Sale:  lyceum.Some(t.SaleID),
		Order: lyceum.NewestFirst,
	})
	if err != nil || last.ID != t.ID {
		return err
	}
	sale, err := tx.Sales.Get(tx, t.SaleID)
	if err != nil {
		return err
	}
	plan, err := planOfSale(tx, &sale)
	if err != nil {
		return err
	}
	school, err := tx.GetSchool()
	if err != nil {
		return err
	}
	then := school.Policy.OnRefund
	if why == lyceum.SaleChargedBack {
		then = school.Policy.OnChargeback
	}
	if then == lyceum.Keep {
		return nil
	}
	return s.end(tx, now, &sale, &plan, why, then)
}
