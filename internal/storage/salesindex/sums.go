package salesindex

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SumSales sums in memory where there is an index.
func (s *Store) SumSales(
	ctx context.Context, id lyceum.SchoolID, queries ...lyceum.SalesSumQuery,
) ([][]lyceum.SalesSum, error) {
	if x := s.ask(id); x != nil {
		return x.Sum(queries...)
	}
	return s.Store.SumSales(ctx, id, queries...)
}

// Sum returns the sums that each query asks for, all of one version.
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
	in := spanOf(lyceum.Days(lyceum.Some(q.First), lyceum.Some(q.Last), q.Zone))
	f := q.Filter
	f.Created = lyceum.Period{}
	t := &totals{
		adder: newAdder(v.main, q.Group, q.Zone, in), zone: q.Zone, first: q.First.Number(), last: q.Last.Number(),
	}
	if f == (lyceum.TransactionFilter{}) {
		t.blocks()
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
	sums := make([]lyceum.SalesSum, len(t.list))
	for i := range t.list {
		sums[i] = t.list[i].sum(v.main.names)
	}
	return q.Finish(sums)
}

// totals are the sums of one query.
type totals struct {
	*adder

	zone        *time.Location
	first, last int32 // days
}

// aside sums n parts on all processors and adds what comes of them. Part is called
// with the number of a part.
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
		for i := range a.list {
			c := t.at(a.list[i].cellKey)
			c.addSales(&a.list[i])
			c.refunded += a.list[i].refunded
		}
	}
}

// partRows is how many sales are summed in one go.
const partRows = 1 << 14

// set adds the sales of the main part that are in a set.
func (t *totals) set(of set) {
	n := of.len()
	t.aside((n+partRows-1)/partRows, func(a *adder, i int) {
		for _, h := range of.handles(make([]uint32, 0, partRows), i*partRows, min(partRows, n-i*partRows)) {
			a.handle(h)
		}
	})
}

// blocks adds all sales of the main part: those of most blocks from their sums.
func (t *totals) blocks() {
	group := t.group
	if group == lyceum.AllSales {
		group = lyceum.SalesByDay // whose sums serve any period
	}
	t.aside(len(t.main.blocks), func(a *adder, i int) {
		b := t.main.blocks[i]
		switch kept := t.main.sumsOf(b, group, t.zone); {
		case kept.over:
			t.block(a, b, kept)
		case group == lyceum.SalesByDay:
			t.days(a, kept.list)
		default:
			t.whole(a, b, kept)
		}
	})
}

// days adds the days of the period.
func (t *totals) days(a *adder, days []cell) {
	for i := range days {
		if c := &days[i]; t.first <= c.id && c.id <= t.last {
			k := c.cellKey
			if t.group == lyceum.AllSales {
				k.id, k.has = 0, false
			}
			to := a.at(k)
			to.addSales(c)
			to.refunded += c.refunded
		}
	}
}

// whole adds the sums of a block that lies in the period, or does not meet it; sales
// and refunds each.
func (t *totals) whole(a *adder, b *block, kept *keptSums) {
	sold := t.main.sold(b)
	sales, refunds := t.in.covers(sold), t.in.covers(kept.refunds)
	if !sales && t.in.meets(sold) || !refunds && t.in.meets(kept.refunds) {
		a.block(b)
		return
	}
	if !sales && !refunds {
		return
	}
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

// block adds a block without sums.
func (t *totals) block(a *adder, b *block, kept *keptSums) {
	if t.in.meets(t.main.sold(b)) || t.in.meets(kept.refunds) {
		a.block(b)
	}
}

// reach returns when sales were made that the period may concern: in it, or so that
// they were refunded in it. It returns false if there are none.
func (t *totals) reach() (created lyceum.Period, concerns bool) {
	concerned := make([]bool, len(t.main.blocks))
	spread(len(concerned), func() func(int) {
		return func(i int) {
			b := t.main.blocks[i]
			concerned[i] = t.in.meets(t.main.sold(b)) ||
				t.in.meets(t.main.sumsOf(b, lyceum.SalesByDay, t.zone).refunds)
		}
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

// sold returns when the sales of a block were made.
func (m *main) sold(b *block) span64 {
	return span64{m.key(b.handle(0)).at, m.key(b.handle(b.n - 1)).at}
}

// blockSums are the sums of a block by each group, as far as they were asked for and
// are small beside its sales.
type blockSums struct {
	cells  atomic.Int64 // that are kept
	groups [salesGroups]atomic.Pointer[keptSums]
}

// keptSums are the sums of a block by one group.
type keptSums struct {
	list    []cell
	over    bool   // they would be too large
	zone    string // of days
	refunds span64
}

// salesPerCell is how many sales a block has for each cell that it may keep: cells
// take at most 12 bytes a sale. Tests lower it.
var salesPerCell int64 = 9

// sumsOf returns the sums of a block, and makes and keeps them.
func (m *main) sumsOf(b *block, group lyceum.SalesGroup, zone *time.Location) *keptSums {
	sums := b.sums.Load()
	if sums == nil {
		b.sums.CompareAndSwap(nil, &blockSums{})
		sums = b.sums.Load()
	}
	at := &sums.groups[group]
	was := at.Load()
	if was != nil && (group != lyceum.SalesByDay || was.zone == zone.String()) {
		return was
	}
	a := newAdder(m, group, zone, allTime)
	a.block(b)
	made := &keptSums{list: append([]cell(nil), a.list...), zone: zone.String(), refunds: a.refunds}
	more := int64(len(made.list))
	if was != nil {
		more -= int64(len(was.list))
	}
	if (sums.cells.Load()+more)*salesPerCell > int64(b.n) {
		made.list, made.over = nil, true
		more -= int64(len(a.list))
	}
	if at.CompareAndSwap(was, made) {
		sums.cells.Add(more)
	}
	return made
}
