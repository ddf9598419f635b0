package sales

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Refund is money that goes back to the buyer, in the transaction's currency.
// Without Amount and Total it is all that is left.
type Refund struct {
	Transaction lyceum.TransactionID
	Amount      lyceum.Opt[lyceum.Minor] // of the price; its share of the tax goes back with it
	Total       lyceum.Opt[lyceum.Minor] // with tax
	EndAccess   lyceum.Opt[bool]         // absent: a full refund does what the school chose
	Reason      lyceum.Opt[string]
	Reference   lyceum.Opt[string] // of the payment system
}

// Refund keeps that a transaction, or a part of it, was paid back. All refunds
// and disputes together are never more than its price with tax. When every
// payment of a sale is refunded in full, the sale ends.
func (s *Service) Refund(ctx context.Context, by lyceum.By, r Refund) (TransactionDetail, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (TransactionDetail, error) {
		a, err := openAccount(tx.Tables, tx, r.Transaction)
		if err != nil {
			return TransactionDetail{}, err
		}
		if err := checkNotes(r.Reason, r.Reference); err != nil {
			return TransactionDetail{}, err
		}
		if again, err := r.again(tx.Tables, tx); err != nil || again.Present {
			if err != nil {
				return TransactionDetail{}, err
			}
			return a.detail(tx, again.Value)
		}
		part, err := r.part(&a)
		if err != nil {
			return TransactionDetail{}, err
		}
		before := a.Transaction
		a.AmountRefunded += part.Price
		a.tax += part.Tax
		a.RefundedAt = lyceum.Some(lyceum.Second(now))
		m := lyceum.Movement{
			Kind: lyceum.Refunded, Amount: part.Price, Tax: part.Tax, Reason: r.Reason, Reference: r.Reference,
		}
		if err := a.keep(tx, before, &m, now); err != nil {
			return TransactionDetail{}, err
		}
		if a.gone() || r.EndAccess.Value {
			if err := s.settle(tx, now, a.SaleID, lyceum.SaleRefunded, r.EndAccess); err != nil {
				return TransactionDetail{}, err
			}
		}
		return a.detail(tx, m)
	})
}

// part returns what of a transaction the refund gives back.
func (r Refund) part(a *account) (lyceum.Part, error) {
	left, err := a.returnable()
	if err != nil {
		return left, err
	}
	switch {
	case r.Amount.Present && r.Total.Present:
		return left, lyceum.InvalidFields(lyceum.FieldError{
			Field: "total", Message: "must not be sent together with amount: the other follows from the one that is sent",
		})
	case r.Amount.Present && r.Amount.Value < 1:
		return left, lyceum.InvalidFields(lyceum.FieldError{Field: "amount", Message: "must be at least 1"})
	case r.Total.Present && r.Total.Value < 1:
		return left, lyceum.InvalidFields(lyceum.FieldError{Field: "total", Message: "must be at least 1"})
	case r.Amount.Value > left.Price, r.Total.Value > left.Total():
		return left, a.exceeds()
	case r.Amount.Present:
		return a.PaidPart().ByPrice(a.back(), r.Amount.Value), nil
	case r.Total.Present:
		return a.PaidPart().ByTotal(a.back(), r.Total.Value), nil
	}
	return left, nil
}

// RefundOutlook is what a refund would do as things stand now.
type RefundOutlook struct {
	Outlook

	Transaction lyceum.Transaction
	Left        lyceum.Part // before it
	Part        lyceum.Part // that goes back
}

// ForeseeRefund tells what Refund would do, and refuses what it would refuse.
// Transaction and Left are given with a refusal of the refund's fields, too.
func (s *Service) ForeseeRefund(ctx context.Context, by lyceum.By, r Refund) (RefundOutlook, error) {
	v := s.store.In(ctx, by.School)
	a, err := openAccount(v.Tables, v, r.Transaction)
	if err != nil {
		return RefundOutlook{}, err
	}
	o := RefundOutlook{Transaction: a.Transaction, Left: a.left()}
	if err := checkNotes(r.Reason, r.Reference); err != nil {
		return o, err
	}
	if again, err := r.again(v.Tables, v); err != nil || again.Present {
		if err == nil {
			err = lyceum.InvalidFields(lyceum.FieldError{Field: "reference", Message: "is that of a refund recorded already"})
		}
		return o, err
	}
	if o.Part, err = r.part(&a); err != nil {
		return o, err
	}
	a.AmountRefunded += o.Part.Price
	a.tax += o.Part.Tax
	if !a.gone() && !r.EndAccess.Value {
		return o, nil
	}
	return o, s.foreseeSettling(ctx, by, &o, &a, r.EndAccess)
}

// foreseeSettling tells whether a full refund ends the sale, as settle does it.
func (s *Service) foreseeSettling(
	ctx context.Context, by lyceum.By, o *RefundOutlook, after *account, asked lyceum.Opt[bool],
) error {
	v := s.store.In(ctx, by.School)
	accounts, err := accountsOf(v.Tables, v, after.SaleID)
	if err != nil {
		return err
	}
	for i := range accounts {
		if accounts[i].ID == after.ID {
			accounts[i] = *after
		}
	}
	sale, err := v.Sales.Get(v, after.SaleID)
	if err != nil {
		return err
	}
	of, policy, err := s.outlook(ctx, by, sale)
	if err != nil {
		return err
	}
	then := ending(accounts, lyceum.SaleRefunded, policy, asked)
	if then != lyceum.Keep {
		of.EndsSale = !sale.EndedAt.Present
		of.Access, err = s.loss(v, &of, then)
	}
	o.Outlook = of
	return err
}
