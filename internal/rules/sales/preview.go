package sales

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Preview is what an act on a sale does. It is computed by the act.
type Preview struct {
	lyceum.AccessPreview

	Sale     lyceum.Sale // after the act
	EndsSale bool
	Reopens  lyceum.Opt[lyceum.SaleID]        // another sale, which Sale had replaced
	Drops    lyceum.Opt[lyceum.PricingPlanID] // that Sale was to change to
	Money    lyceum.Opt[MoneyPreview]         // of an act on a transaction
	Warnings []lyceum.SaleWarning             // that would be recorded
}

// MoneyPreview is what an act does to the money of a transaction.
type MoneyPreview struct {
	Transaction lyceum.Transaction // after the act
	Refunded    lyceum.Part        // by the act
	Disputed    lyceum.Part        // that the bank holds more than before; below 0, what it returns
	Fee         lyceum.Minor       // of disputes, more than before; below 0, what came back
	Left        lyceum.Part        // that can go back after the act
}

// perform does something to a sale or its money.
func perform[Q, T any](
	ctx context.Context, s *Service, by lyceum.By, q Q, act func(lyceum.Tx, time.Time, Q) (T, error),
) (T, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) { return act(tx, now, q) })
}

// preview returns what an act does, and takes it back. It fails as the act does.
func preview[Q, T any](
	ctx context.Context, s *Service, by lyceum.By, p lyceum.Page, q Q,
	about subject, act func(lyceum.Tx, time.Time, Q) (T, error),
) (Preview, error) {
	var out Preview
	var before standing
	of := func(tx lyceum.Tx) (users []lyceum.UserID, products []lyceum.Product, err error) {
		if before, err = about(tx); err != nil {
			return nil, nil, err
		}
		if before.sale.UserID.Present {
			users = append(users, before.sale.UserID.Value)
		}
		products, err = before.products(tx)
		return users, products, err
	}
	access, err := s.enroller.Preview(ctx, by, p, of, func(tx lyceum.Tx, now time.Time) error {
		if _, err := act(tx, now, q); err != nil {
			return err
		}
		after, err := about(tx)
		out = before.until(&after)
		return err
	})
	if out.AccessPreview = access; out.EndsSale {
		out.Ends = append(out.Ends, out.Sale.ID)
	}
	return out, err
}

// standing is how a sale stands, and the money of its transaction that an act is
// about.
type standing struct {
	sale     lyceum.Sale
	replaced lyceum.Sale      // by it; the zero Sale for none
	next     []lyceum.Product // that the act leads to
	account  *account         // nil if it is about no transaction
}

// subject reads how what an act is about stands. It fails with NotFound.
type subject func(lyceum.Tx) (standing, error)

func ofSale(id lyceum.SaleID) subject {
	return func(tx lyceum.Tx) (s standing, err error) {
		if s.sale, err = tx.Sales.Get(tx, id); err == nil && s.sale.Replaces.Present {
			s.replaced, err = tx.Sales.Get(tx, s.sale.Replaces.Value)
		}
		return s, err
	}
}

func ofTransaction(id lyceum.TransactionID) subject {
	return func(tx lyceum.Tx) (standing, error) {
		a, err := openAccount(tx.Tables, tx, id)
		if err != nil {
			return standing{}, err
		}
		s, err := ofSale(a.SaleID)(tx)
		s.account = &a
		return s, err
	}
}

func ofDispute(id lyceum.DisputeID) subject {
	return func(tx lyceum.Tx) (standing, error) {
		d, err := tx.Disputes.Get(tx, id)
		if err != nil {
			return standing{}, err
		}
		return ofTransaction(d.TransactionID)(tx)
	}
}

// products returns what the entitlements of the sale, and of the one that it
// replaced, are to, and what the act leads to.
func (s *standing) products(tx lyceum.Tx) ([]lyceum.Product, error) {
	all := slices.Clone(s.next)
	for _, sale := range []*lyceum.Sale{&s.sale, &s.replaced} {
		if sale.ID == 0 {
			continue
		}
		of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID)}
		err := tx.Entitlements.Each(tx, of, func(e *lyceum.Entitlement) error {
			all = append(all, e.Product)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// until returns what changed between two standings.
func (s *standing) until(after *standing) Preview {
	out := Preview{Sale: after.sale, EndsSale: after.sale.EndedAt.Present && !s.sale.EndedAt.Present}
	if s.replaced.EndedAt.Present && !after.replaced.EndedAt.Present {
		out.Reopens = lyceum.Some(after.replaced.ID)
	}
	if !after.sale.NextPlan.Present {
		out.Drops = s.sale.NextPlan
	}
	if was, is := s.account, after.account; was != nil {
		out.Money = lyceum.Some(MoneyPreview{
			Transaction: is.Transaction, Refunded: is.refunded().Minus(was.refunded()),
			Disputed: is.disputed().Minus(was.disputed()), Fee: is.ChargebackFee.Value - was.ChargebackFee.Value,
			Left: is.left(),
		})
	}
	return out
}
