package sqlstore

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// moment is a school in one snapshot of the database.
type moment struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call that opened it
	store  *Store
	q      *session
	school lyceum.SchoolID
}

// AtOnce implements lyceum.Reader.
func (s *Store) AtOnce(ctx context.Context, school lyceum.SchoolID, read func(lyceum.Moment) error) error {
	return s.public(s.reads.snapshot(ctx, func(q *session) error { return read(&moment{ctx, s, q, school}) }))
}

// FindChanges implements lyceum.Moment.
func (m *moment) FindChanges(f lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
	listing, err := m.store.listChanges(m.q, m.school, f)
	if err != nil {
		return lyceum.ChangeListing{}, fmt.Errorf("find changes: %w", err)
	}
	return listing, nil
}

// EachTransaction implements lyceum.Moment.
func (m *moment) EachTransaction(f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	w := transactionWhere(m.school, f)
	var row lyceum.Transaction
	return m.q.each("SELECT "+transactionColumns+" FROM transactions t"+w.String()+orderBy(o), w.args, transactions.scan(&row), func() error {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		return visit(&row)
	})
}

// EachPricingPlan implements lyceum.Moment.
func (m *moment) EachPricingPlan(visit func(*lyceum.PricingPlan) error) error {
	all, err := all(m.q, &pricingPlans, m.school)
	if err != nil {
		return err
	}
	for i := range all {
		if err := visit(&all[i]); err != nil {
			return err
		}
	}
	return nil
}
