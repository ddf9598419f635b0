package salesindex

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/lyceum-school/lyceum"
)

// afterKey returns a key that sorts before all sales later than t and after all others.
func afterKey(t time.Time) key { return key{t.Unix() - yearOne + 1, math.MinInt32} }

// Find returns a page and the exact total, both of the same version. It never blocks. The caller
// may keep the result.
func (x *Index) Find(f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) lyceum.TransactionListing {
	v := x.current.Load()
	q := v.query(&f)
	total := int64(q.len())
	from := min(max(p.Offset(), 0), total)
	to := min(from+int64(p.Size), total)
	return lyceum.TransactionListing{Total: total, Page: p, Version: v.state, Transactions: q.slice(o, int(from), int(to))}
}

// eachPart is how many sales Each looks up at a time.
const eachPart = 1024

// Each calls visit with every sale of one version that matches the filter, until visit fails. The
// pointer is valid only during the call.
func (x *Index) Each(f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	return x.current.Load().each(f, o, visit)
}

// each is Index.Each for a version.
func (v *version) each(f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	return v.walk(f, o, func(*found, int) bool { return true }, visit)
}

// eachWithExtra is each, oldest first, for all sales that have an extra, and possibly others.
func (v *version) eachWithExtra(f lyceum.TransactionFilter, visit func(*lyceum.Transaction) error) error {
	return v.walk(f, lyceum.OldestFirst, (*found).mayHaveExtra, visit)
}

func (v *version) walk(
	f lyceum.TransactionFilter, o lyceum.Order, read func(*found, int) bool, visit func(*lyceum.Transaction) error,
) error {
	q := v.query(&f)
	var t lyceum.Transaction
	for from, total := 0, q.len(); from < total; from += eachPart {
		rows := q.slice(o, from, min(from+eachPart, total))
		for i := range rows.Len() {
			if !read(rows, i) {
				continue
			}
			rows.Read(i, &t)
			if err := visit(&t); err != nil {
				return err
			}
		}
	}
	return nil
}

// query is the sales of a version that match a filter: those of the main part and those of the
// tail, each in list order.
type query struct {
	main *main
	base set
	tail []*lyceum.Transaction
}

func (v *version) query(f *lyceum.TransactionFilter) query {
	return query{v.main, v.main.set(f), v.recent(f)}
}

func (q *query) len() int { return q.base.len() + len(q.tail) }

// recent returns the sales of the tail that match a filter.
func (v *version) recent(f *lyceum.TransactionFilter) []*lyceum.Transaction {
	if *f == (lyceum.TransactionFilter{}) {
		return v.tail
	}
	var passed []*lyceum.Transaction
	for _, t := range v.tail {
		if f.Match(t, v.main.courses[t.PricingPlanID]) {
			passed = append(passed, t)
		}
	}
	return passed
}

// found is a part of a result: handles in the main part and, marked with ofTail, indexes into the
// tail.
type found struct {
	main *main
	refs []uint32
	tail []*lyceum.Transaction
}

// ofTail marks an index into the tail. Handles are smaller, because there are no more sales than
// positive ids.
const ofTail = 1 << 31

func (p *found) Len() int { return len(p.refs) }

func (p *found) Read(i int, t *lyceum.Transaction) {
	if ref := p.refs[i]; ref&ofTail != 0 {
		*t = *p.tail[ref&^ofTail]
	} else {
		p.main.read(ref, t)
	}
}

// mayHaveExtra returns false for a sale of the main part without an extra.
func (p *found) mayHaveExtra(i int) bool {
	return p.refs[i]&ofTail != 0 || p.main.row(p.refs[i]).flags&hasExtra != 0
}

// slice returns the sales at positions [from, to) in the given order.
func (q *query) slice(o lyceum.Order, from, to int) *found {
	if from >= to {
		return &found{}
	}
	if o == lyceum.OldestFirst {
		return q.merge(from, to)
	}
	total := q.len()
	part := q.merge(total-to, total-from)
	slices.Reverse(part.refs)
	return part
}

// merge returns the sales at positions [from, to) in ascending order.
func (q *query) merge(from, to int) *found {
	// skip is how many of the sales before from are in the tail.
	skip := sort.Search(len(q.tail), func(i int) bool { return i+q.base.rank(keyOf(q.tail[i])) >= from })
	part := &found{main: q.main, tail: q.tail[skip:], refs: make([]uint32, 0, to-from)}
	if len(part.tail) == 0 {
		part.refs = q.base.handles(part.refs, from-skip, to-from)
		return part
	}
	var space [128]uint32
	handles := q.base.handles(space[:0], from-skip, min(to-from, q.base.len()-(from-skip)))
	next := uint32(0)
	for range to - from {
		if len(handles) == 0 || (int(next) < len(part.tail) && keyOf(part.tail[next]).compare(q.main.key(handles[0])) < 0) {
			part.refs = append(part.refs, ofTail|next)
			next++
			continue
		}
		part.refs = append(part.refs, handles[0])
		handles = handles[1:]
	}
	return part
}
