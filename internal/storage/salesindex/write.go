package salesindex

import (
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// Update applies the new versions of sales and pricing plans, including new ones, and the
// resulting state. Every Find that begins after it returns sees all of them; no Find sees only a
// part. If the index cannot represent one, Update fails and changes nothing. If two sales have
// the same id, the last one counts.
func (x *Index) Update(state lyceum.Version, sales []lyceum.Transaction, plans []lyceum.PricingPlan) error {
	x.write.Lock()
	defer x.write.Unlock()
	v := x.current.Load()
	rows, extras := make([]row, len(sales)), make([]extra, len(sales))
	names := slices.Clip(v.main.names)
	for i := range sales {
		var err error
		if rows[i], extras[i], err = encode(&sales[i], &names); err != nil {
			return err
		}
	}
	b := &batch{version: version{state, v.main, v.tail, &lateMarks{}}, ids: x.ids}
	if len(names) > len(v.main.names) {
		b.edit().names = names
	}
	for i := range plans {
		b.plan(plans[i].ID, plans[i].CourseID)
	}
	for i := range sales {
		b.put(&rows[i], extras[i])
		b.move()
	}
	x.current.Store(&b.version)
	return nil
}

// batch is the next version while it is being made. It only modifies its own tail and what edit
// returns.
type batch struct {
	version
	ids     ids
	open    *edit
	ownTail bool
}

// edit returns the main part for writing.
func (b *batch) edit() *edit {
	if b.open == nil {
		b.open = &edit{main: b.main.shallow(), own: owned{}, ids: b.ids}
		b.main = b.open.main
	}
	return b.open
}

// put inserts a sale, or replaces it if it has changed.
func (b *batch) put(r *row, x extra) {
	names := b.main.names
	now := &lyceum.Transaction{}
	r.decode(&x, names, now)
	h, indexed := b.ids.get(now.ID)
	if !indexed {
		b.drop(now.ID)
		b.insert(now)
		return
	}
	var old lyceum.Transaction
	b.main.read(h, &old)
	switch {
	case old == *now:
	case keyOf(&old) == keyOf(now):
		b.edit().replace(h, &old, r, x, now)
	default:
		b.edit().remove(h, &old)
		b.insert(now)
	}
}

// drop removes a sale from the tail, if it is there.
func (b *batch) drop(id lyceum.TransactionID) {
	if i := slices.IndexFunc(b.tail, func(t *lyceum.Transaction) bool { return t.ID == id }); i >= 0 {
		b.takeTail()
		b.tail = slices.Delete(b.tail, i, i+1)
	}
}

// insert inserts a sale into the tail.
func (b *batch) insert(t *lyceum.Transaction) {
	b.takeTail()
	b.tail = slices.Insert(b.tail, b.place(t), t)
}

func (b *batch) takeTail() {
	if !b.ownTail {
		b.tail = append(make([]*lyceum.Transaction, 0, len(b.tail)+8), b.tail...)
		b.ownTail = true
	}
}

// plan adds a pricing plan, or updates its course.
func (b *batch) plan(id lyceum.PricingPlanID, course lyceum.Opt[lyceum.CourseID]) {
	was, known := b.main.courses[id]
	if known && was == course {
		return
	}
	e := b.edit()
	e.courses = maps.Clone(e.courses)
	e.courses[id] = course
	if was != course && e.sold(id) {
		for _, c := range [...]lyceum.Opt[lyceum.CourseID]{was, course} {
			if c.Present {
				e.gatherCourse(c.Value)
			}
		}
	}
}

// move moves a part of a long tail into the main part: what follows the newest sale there, or
// else the sales of the block that gets the most.
func (b *batch) move() {
	late := 0
	if last, some := b.main.lastKey(); some {
		late, _ = slices.BinarySearchFunc(b.tail, last, func(t *lyceum.Transaction, k key) int { return keyOf(t).compare(k) })
	}
	from, to := late, len(b.tail)
	if to-from < tailRows && late < tailRows {
		return
	}
	e := b.edit()
	if to-from >= tailRows {
		e.append(b.tail[from:])
	} else {
		from, to = b.main.crowded(b.tail[:late])
		e.insert(b.tail[from:to])
	}
	b.tail = slices.Concat(b.tail[:from], b.tail[to:])
	b.ownTail = true
}

// crowded returns the longest range of late sales that belong to the same block.
func (m *main) crowded(late []*lyceum.Transaction) (from, to int) {
	begin, block := 0, -1
	for i, t := range late {
		if at := m.find(keyOf(t)).block; at != block {
			begin, block = i, at
		}
		if i+1-begin > to-from {
			from, to = begin, i+1
		}
	}
	return from, to
}
