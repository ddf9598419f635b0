package salesindex

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SumSales sums in memory if there is an index.
func (s *Store) SumSales(
	ctx context.Context, id lyceum.SchoolID, queries ...lyceum.SalesSumQuery,
) ([][]lyceum.SalesSum, error) {
	if x := s.serving(id); x != nil {
		return x.Sum(queries...)
	}
	return s.Store.SumSales(ctx, id, queries...)
}

// Sum returns the sums for each query, all of the same version.
func (x *Index) Sum(queries ...lyceum.SalesSumQuery) ([][]lyceum.SalesSum, error) {
	v := x.current.Load()
	all := make([][]lyceum.SalesSum, len(queries))
	for i := range queries {
		var err error
		if all[i], err = v.sum(&queries[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (v *version) sum(q *lyceum.SalesSumQuery) ([]lyceum.SalesSum, error) {
	f := q.Filter
	f.Created = lyceum.Period{}
	in := spanOf(lyceum.Days(lyceum.Some(q.First), lyceum.Some(q.Last), q.Zone))
	t := &totals{
		adder: newAdder(v.main, q.Group, q.Zone, in), zone: q.Zone, first: q.First.Number(), last: q.Last.Number(),
	}
	if of, sole := v.main.sole(&f); sole {
		t.blocks(of)
	} else if created, concerns := t.reach(); concerns {
		within := f
		within.Created = created
		t.set(v.main.set(&within))
	}
	late := v.marked()
	for i, sale := range v.tail {
		if f.Match(sale, v.main.courses[sale.PricingPlanID]) {
			t.transaction(sale, late.tail[i])
		}
	}
	for i := range late.wrong {
		if v.main.matches(&f, late.wrong[i].handle) {
			t.correct(&late.wrong[i])
		}
	}
	return q.Finish(t.sums(v.main.names))
}

// totals computes the sums for one query.
type totals struct {
	*adder

	zone        *time.Location
	first, last int32 // days
}

// aside sums n parts on all processors and adds the results. part is called with the index of
// each part.
func (t *totals) aside(n int, part func(a *adder, i int)) {
	var mu sync.Mutex
	var made []*adder
	spread(n, func() func(int) {
		a := newAdder(t.main, t.group, t.zone, t.in)
		mu.Lock()
		made = append(made, a)
		mu.Unlock()
		return func(i int) { part(a, i) }
	})
	for _, a := range made {
		if len(t.list) == 0 {
			t.cells = a.cells
			continue
		}
		for i := range a.list {
			t.at(a.list[i].cellKey).add(&a.list[i])
		}
	}
}

// partRows is how many sales are summed at a time.
const partRows = 1 << 14

// set adds the sales of the main part that are in a set.
func (t *totals) set(of set) {
	n := of.len()
	t.aside((n+partRows-1)/partRows, func(a *adder, i int) {
		a.handles(of.handles(make([]uint32, 0, partRows), i*partRows, min(partRows, n-i*partRows)))
	})
}

// blocks adds sales of the main part, those of most blocks from their sums.
func (t *totals) blocks(of subset) {
	if of.others {
		t.blocks(subset{kind: everySale})
		rest := *t
		rest.adder = newAdder(t.main, t.group, t.zone, t.in)
		of.others = false
		rest.blocks(of)
		for i := range rest.list {
			rest.list[i].negate()
			t.at(rest.list[i].cellKey).add(&rest.list[i])
		}
		return
	}
	group := t.group
	if group == lyceum.AllSales {
		group = lyceum.SalesByDay // its sums work for any period
	}
	t.aside(len(t.main.blocks), func(a *adder, i int) {
		if of.members != nil && (of.in(i) == nil || !t.concerns(i)) {
			return
		}
		switch kept := t.main.sumsOf(i, of, group, t.zone); {
		case kept.over:
			if t.in.meets(t.main.sold(t.main.blocks[i])) || t.in.meets(kept.refunds) {
				a.part(of, i)
			}
		case group == lyceum.SalesByDay:
			t.days(a, kept.list)
		default:
			t.whole(a, of, i, kept)
		}
	})
}

// days adds the days in the period.
func (t *totals) days(a *adder, days []cell) {
	for i := range days {
		if c := &days[i]; t.first <= c.id && c.id <= t.last {
			k := c.cellKey
			if t.group == lyceum.AllSales {
				k.id, k.has = 0, false
			}
			a.at(k).add(c)
		}
	}
}

// whole adds the sums of a block: its sales if they are all in the period, and likewise its
// refunds. If only some sales are in the period, it adds the block sale by sale.
func (t *totals) whole(a *adder, of subset, i int, kept *keptSums) {
	sold := t.main.sold(t.main.blocks[i])
	sales, refunds := t.in.covers(sold), t.in.covers(kept.refunds)
	if !sales && t.in.meets(sold) {
		a.part(of, i)
		return
	}
	if sales || refunds {
		for i := range kept.list {
			c := &kept.list[i]
			if sales {
				a.at(c.cellKey).addSales(c)
			}
			if refunds && c.refundedOf != 0 {
				a.at(c.cellKey).refunded += c.refundedOf
			}
		}
	}
	if !refunds && t.in.meets(kept.refunds) {
		a.partRefunds(of, i)
	}
}

// concerns reports whether sales of a block were made or refunded in the period.
func (t *totals) concerns(i int) bool {
	return t.in.meets(t.main.sold(t.main.blocks[i])) ||
		t.in.meets(t.main.sumsOf(i, subset{kind: everySale}, lyceum.SalesByDay, t.zone).refunds)
}

// reach returns the range of creation times of all sales that the period may concern, because
// they were made or refunded in it. It returns false if there are none.
func (t *totals) reach() (created lyceum.Period, concerns bool) {
	concerned := make([]bool, len(t.main.blocks))
	spread(len(concerned), func() func(int) {
		return func(i int) { concerned[i] = t.concerns(i) }
	})
	first := slices.Index(concerned, true)
	if first < 0 {
		return lyceum.Period{}, false
	}
	last := len(concerned) - 1
	for !concerned[last] {
		last--
	}
	return lyceum.Period{
		After: time.Unix(t.main.sold(t.main.blocks[first]).from+yearOne-1, 0).UTC(),
		Until: time.Unix(t.main.sold(t.main.blocks[last]).to+yearOne, 0).UTC(),
	}, true
}

// sold returns the range of creation times of a block's sales.
func (m *main) sold(b *block) span64 {
	return span64{m.key(b.handle(0)).at, m.key(b.handle(b.n - 1)).at}
}
