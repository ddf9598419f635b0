package salesindex

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// SalesAtOnce brings the index of the school to the moment that read sees, and holds it
// there until its version is taken. Without an index, the store below answers alone.
func (s *Store) SalesAtOnce(ctx context.Context, id lyceum.SchoolID, read func(lyceum.View) error) error {
	k := s.of(id)
	if s.ask(id) == nil && s.await(ctx, k) == nil {
		return s.AtOnce(ctx, id, read)
	}
	k.mu.Lock() // the index must not go past the moment that is about to be seen
	unlock := sync.OnceFunc(k.mu.Unlock)
	defer unlock()
	return s.AtOnce(ctx, id, func(v lyceum.View) error {
		if k.index != nil && s.advance(k, v.FindChanges) == nil {
			tables := *v.Tables
			tables.Transactions = &momentary{v.Transactions, v.Movements, k.index.current.Load()}
			v.Tables = &tables
		}
		unlock()
		return read(v)
	})
}

// momentary are the transactions of one moment: the table of the store below, with lists
// from a version of the index that knows exactly what that does.
type momentary struct {
	lyceum.Table[lyceum.TransactionID, lyceum.Transaction, lyceum.TransactionQuery]

	movements lyceum.Table[lyceum.MovementID, lyceum.Movement, lyceum.MovementFilter]
	version   *version
}

func (m *momentary) Each(
	from lyceum.Source, q lyceum.TransactionQuery, visit func(*lyceum.Transaction) error,
) error {
	visit = unlessOver(from.Context(), visit)
	switch {
	case ofSales(&q):
		return m.Table.Each(from, q, visit)
	case q.RefundedElsewhere.Present:
		return m.refundedElsewhere(from, q, visit)
	}
	return m.version.each(q.TransactionFilter, q.Order, false, visit)
}

// movementsAtOnce is of how many transactions movements are looked for in one go.
const movementsAtOnce = 500

func (m *momentary) refundedElsewhere(
	from lyceum.Source, q lyceum.TransactionQuery, visit func(*lyceum.Transaction) error,
) error {
	var refunded []lyceum.Transaction
	collect := unlessOver(from.Context(), func(t *lyceum.Transaction) error {
		if t.RefundedAt.Present && t.AmountRefunded > 0 && q.RefundedElsewhere.Value.Has(t.RefundedAt.Value) {
			refunded = append(refunded, *t)
		}
		return nil
	})
	if err := m.version.each(q.TransactionFilter, q.Order, true, collect); err != nil {
		return err
	}
	slices.SortFunc(refunded, func(a, b lyceum.Transaction) int {
		return cmp.Or(a.RefundedAt.Value.Compare(b.RefundedAt.Value), cmp.Compare(a.ID, b.ID))
	})
	for part := range slices.Chunk(refunded, movementsAtOnce) {
		ids := make([]lyceum.TransactionID, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		here := map[lyceum.TransactionID]bool{}
		of := lyceum.MovementFilter{Transactions: ids, Kinds: []lyceum.MovementKind{lyceum.Refunded}}
		err := m.movements.Each(from, of, func(x *lyceum.Movement) error {
			here[x.TransactionID] = true
			return nil
		})
		if err != nil {
			return err
		}
		for i := range part {
			if here[part[i].ID] {
				continue
			}
			if err := visit(&part[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
