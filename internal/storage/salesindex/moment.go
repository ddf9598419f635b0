package salesindex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// atMoment calls read with a snapshot of a school, and with the version of its index that
// reflects exactly that snapshot, or the reason why there is none.
func (s *Store) atMoment(ctx context.Context, k *school, read func(lyceum.View, *version, error) error) error {
	k.mu.Lock() // the index must not advance past the snapshot that is about to be taken
	unlock := sync.OnceFunc(k.mu.Unlock)
	defer unlock()
	return s.AtOnce(ctx, k.id, func(v lyceum.View) error {
		var indexed *version
		err := errNoIndex
		if ready := k.ready.Load(); k.index != nil {
			err = s.advance(k, v.FindChanges)
			switch {
			case err == nil:
				indexed = k.index.current.Load()
			case ctx.Err() != nil && k.index != nil: // it was not updated, and is what it was before
				k.ready.Store(ready)
			}
		}
		unlock()
		return read(v, indexed, err)
	})
}

// SalesAtOnce serves lists from the index as of the snapshot that read sees. Without an index,
// the underlying store serves them.
func (s *Store) SalesAtOnce(ctx context.Context, id lyceum.SchoolID, read func(lyceum.View) error) error {
	k := s.of(id)
	if s.serving(id) == nil && s.await(ctx, k) == nil {
		return s.AtOnce(ctx, id, read)
	}
	return s.atMoment(ctx, k, func(v lyceum.View, indexed *version, err error) error {
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err == nil {
			tables := *v.Tables
			tables.Transactions = &momentary{v.Transactions, v.Movements, indexed}
			v.Tables = &tables
		} else if !errors.Is(err, errNoIndex) {
			s.Log.WarnContext(ctx, "sales index is behind: the database answers the statement", "school", id, "err", err)
		}
		return read(v)
	})
}

// momentary is the table of transactions in one snapshot: that of the underlying store, with
// lists from a version of the index that reflects exactly that snapshot.
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
	return m.version.each(q.TransactionFilter, q.Order, visit)
}

// refundsAtOnce is the number of transactions whose refunds are read in one query.
const refundsAtOnce = 500

func (m *momentary) refundedElsewhere(
	from lyceum.Source, q lyceum.TransactionQuery, visit func(*lyceum.Transaction) error,
) error {
	type refund struct {
		at time.Time
		of lyceum.TransactionID
	}
	var refunds []refund
	err := m.version.eachWithExtra(q.TransactionFilter, unlessOver(from.Context(), func(t *lyceum.Transaction) error {
		if t.AmountRefunded > 0 && q.RefundedElsewhere.Value.Has(t.RefundedOn()) {
			refunds = append(refunds, refund{t.RefundedOn(), t.ID})
		}
		return nil
	}))
	if err != nil {
		return err
	}
	slices.SortFunc(refunds, func(a, b refund) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.of, b.of)) })
	for part := range slices.Chunk(refunds, refundsAtOnce) {
		ids := make([]lyceum.TransactionID, len(part))
		for i := range part {
			ids[i] = part[i].of
		}
		found, err := m.Find(from, ids...)
		if err != nil {
			return err
		}
		here := map[lyceum.TransactionID]bool{}
		of := lyceum.MovementFilter{Transactions: ids, Kinds: []lyceum.MovementKind{lyceum.Refunded}}
		err = m.movements.Each(from, of, func(x *lyceum.Movement) error {
			here[x.TransactionID] = true
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if t := found[id]; !here[id] {
				if err := visit(&t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
