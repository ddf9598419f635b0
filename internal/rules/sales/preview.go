package sales

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Preview is what an act on a sale would do. It is computed by running the act and rolling it
// back.
type Preview struct {
	lyceum.AccessPreview

	Sale     lyceum.Sale // after the act
	EndsSale bool
	Reopens  lyceum.Opt[lyceum.SaleID]        // another sale, which Sale had replaced
	Drops    lyceum.Opt[lyceum.PricingPlanID] // which Sale was to change to
	Money    lyceum.Opt[MoneyPreview]         // for an act on a transaction
	Warnings []lyceum.SaleWarning             // that would be recorded
}

// MoneyPreview is what an act would do to the money of a transaction.
type MoneyPreview struct {
	Transaction lyceum.Transaction // after the act
	Refunded    lyceum.Part        // refunded by the act
	Disputed    lyceum.Part        // taken by the bank; negative: returned by it
	Fee         lyceum.Minor       // added for disputes; negative: returned
	Left        lyceum.Part        // what can still be returned after the act
}

// perform runs an act on a sale or its money in one write.
func perform[Q, T any](
	ctx context.Context, s *Service, by lyceum.By, q Q, act func(lyceum.Tx, time.Time, Q) (T, error),
) (T, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) { return act(tx, now, q) })
}

// preview runs an act, rolls it back, and returns what it did. It fails like the act.
func preview[Q, T any](
	ctx context.Context, s *Service, by lyceum.By, p lyceum.Page, q Q,
	about subject, act func(lyceum.Tx, time.Time, Q) (T, error),
) (Preview, error) {
	var out Preview
	var before standing
	now := s.clock()
	of := func(tx lyceum.Tx) (users []lyceum.UserID, products []lyceum.Product, err error) {
		if before, err = about(tx); err != nil {
			return nil, nil, err
		}
		if user := before.sale.UserID; user.Present {
			users = append(users, user.Value)
			// The act does so before it looks for the sale's entitlements.
			if err := s.enroller.Relink(tx, now, user.Value); err != nil {
				return nil, nil, err
			}
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

// standing is the state of a sale, and the account of the transaction that an act is about.
type standing struct {
	sale     lyceum.Sale
	replaced []lyceum.Sale    // by sale, and by each other in turn: the latest first
	next     []lyceum.Product // that the act leads to
	account  *account         // nil if the act is not about a transaction
}

// subject reads the state of what an act is about. It fails with NotFound.
type subject func(lyceum.Tx) (standing, error)

func ofSale(id lyceum.SaleID) subject {
	return func(tx lyceum.Tx) (s standing, err error) {
		s.sale, err = tx.Sales.Get(tx, id)
		for old := s.sale; err == nil && old.Replaces.Present; {
			if old, err = tx.Sales.Get(tx, old.Replaces.Value); err == nil {
				s.replaced = append(s.replaced, old)
			}
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

// products returns the products of the sale's entitlements, of those of the sales that it
// replaced, and the products that the act leads to.
func (s *standing) products(tx lyceum.Tx) ([]lyceum.Product, error) {
	all := slices.Clone(s.next)
	for _, sale := range append([]lyceum.Sale{s.sale}, s.replaced...) {
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
	for i := range s.replaced {
		if s.replaced[i].EndedAt.Present && !after.replaced[i].EndedAt.Present {
			out.Reopens = lyceum.Some(s.replaced[i].ID)
		}
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
