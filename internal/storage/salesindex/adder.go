package salesindex

import (
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// span64 is a range of time in seconds since the year 1, both ends included.
type span64 struct{ from, to int64 }

// allTime contains every second, noTime none.
var (
	allTime = span64{math.MinInt64, math.MaxInt64}
	noTime  = span64{math.MaxInt64, math.MinInt64}
)

func (s span64) has(at int64) bool    { return s.from <= at && at <= s.to }
func (s span64) covers(o span64) bool { return o.from > o.to || s.from <= o.from && o.to <= s.to }
func (s span64) meets(o span64) bool  { return s.from <= o.to && o.from <= s.to && o.from <= o.to }
func (s span64) with(at int64) span64 { return span64{min(s.from, at), max(s.to, at)} }
func spanOf(p lyceum.Period) span64 {
	return span64{p.After.Unix() - yearOne + 1, p.Until.Unix() - yearOne}
}

// adder sums sales. It must be used by one goroutine at a time.
type adder struct {
	cells

	main  *main
	group lyceum.SalesGroup
	in    span64
	days  *lyceum.DayFinder
	// refunds is the range of times at which the added sales were refunded.
	refunds span64
	seen    flags // keeps the compiler from removing the prefetch
}

func newAdder(m *main, group lyceum.SalesGroup, zone *time.Location, in span64) *adder {
	return &adder{main: m, group: group, in: in, days: lyceum.NewDayFinder(zone), refunds: noTime}
}

func (a *adder) key(r *row, currency uint16, at int64) cellKey {
	k := cellKey{currency: currency}
	switch a.group {
	case lyceum.AllSales:
	case lyceum.SalesByDay:
		k.id, k.has = a.days.Of(at+yearOne), true
	case lyceum.SalesByPlan:
		k.id, k.has = r.plan, true
	case lyceum.SalesByAuthor:
		k.id, k.has = r.author, r.flags&hasAuthor != 0
	case lyceum.SalesByAffiliate:
		k.id, k.has = r.affiliate, r.flags&hasAffiliate != 0
	case lyceum.SalesByCoupon:
		k.id, k.has = r.coupon, r.flags&hasCoupon != 0
	}
	return k
}

// row adds a sale. x is its extra, or nil.
func (a *adder) row(r *row, x *extra, m lyceum.SaleMarks) {
	if r.flags&paid == 0 {
		return
	}
	at, currency := r.key().at, uint16(r.currency)
	if x != nil {
		currency = x.currency
	}
	if a.in.has(at) {
		a.at(a.key(r, currency, at)).sale(r, x, m)
	}
	if x != nil && x.refunded != 0 {
		a.refund(r, x)
	}
}

// refund adds the refunded amount of a paid sale.
func (a *adder) refund(r *row, x *extra) {
	at := r.key().at
	if x.hasTime {
		at = x.refundedAt
	}
	a.refunds = a.refunds.with(at)
	if a.in.has(at) {
		a.at(a.key(r, x.currency, at)).refunded += r.refundedPrice(x)
	}
}

// handles adds sales of the main part. It first touches a few and then adds them, so that their
// cache misses overlap.
func (a *adder) handles(list []uint32) {
	for part := range slices.Chunk(list, 32) {
		for _, h := range part {
			a.seen ^= a.main.row(h).flags
		}
		for _, h := range part {
			a.handle(h)
		}
	}
}

// handle adds a sale of the main part.
func (a *adder) handle(h uint32) {
	r := a.main.row(h)
	if r.flags&paid == 0 {
		return
	}
	var x *extra
	if r.flags&hasExtra != 0 {
		x = a.main.extra(h)
	}
	a.row(r, x, a.main.marks(h))
}

// part adds the sales of a subset in a block.
func (a *adder) part(of subset, at int) {
	b, members := a.main.blocks[at], of.in(at)
	if members == nil {
		a.block(b)
		return
	}
	var handles [256]uint32
	it := members.ManyIterator()
	for n := it.NextMany(handles[:]); n > 0; n = it.NextMany(handles[:]) {
		for i, o := range handles[:n] {
			handles[i] = b.handle(int(o))
		}
		a.handles(handles[:n])
	}
}

// partRefunds adds the refunded amounts of the sales of a subset in a block. It only looks at
// sales with an extra.
func (a *adder) partRefunds(of subset, at int) {
	b, members := a.main.blocks[at], of.in(at)
	add := func(h, offset uint32, x *extra) {
		if r := a.main.row(h); r.flags&paid != 0 && (members == nil || members.Contains(offset)) {
			a.refund(r, x)
		}
	}
	if b.handles != nil {
		for o, h := range b.handles[:b.n] {
			if a.main.row(h).flags&hasExtra != 0 {
				add(h, uint32(o), a.main.extra(h))
			}
		}
		return
	}
	end := b.first + uint32(b.n)
	for page := b.first / pageRows; page*pageRows < end; page++ {
		extras := a.main.chunks[page/chunkPages].extras[page%chunkPages]
		for i := range extras {
			if h := page*pageRows + uint32(extras[i].offset); b.first <= h && h < end {
				add(h, h-b.first, &extras[i])
			}
		}
	}
}

// block adds all sales of a block.
func (a *adder) block(b *block) {
	if b.handles != nil {
		for _, h := range b.handles[:b.n] {
			a.handle(h)
		}
		return
	}
	for h, end := b.first, b.first+uint32(b.n); h < end; {
		c, i := a.main.chunks[h/chunkRows], h/pageRows%chunkPages
		p, first, renewal := c.pages[i], c.first[i], c.renewal[i]
		for o := h % pageRows; o < pageRows && h < end; o, h = o+1, h+1 {
			r := &p[o]
			var x *extra
			if r.flags&hasExtra != 0 {
				x = a.main.extra(h)
			}
			a.row(r, x, lyceum.SaleMarks{First: first>>o&1 != 0, Renewal: renewal>>o&1 != 0})
		}
	}
}

// transaction adds a sale of the tail.
func (a *adder) transaction(t *lyceum.Transaction, m lyceum.SaleMarks) {
	names := a.main.names
	r, x, err := encode(t, &names)
	if err != nil {
		panic(err) // Update encoded it before
	}
	if r.flags&hasExtra == 0 {
		a.row(&r, nil, m)
		return
	}
	a.row(&r, &x, m)
}

// correct replaces the marks with which a sale was added.
func (a *adder) correct(w *wrongMarks) {
	r := a.main.row(w.handle)
	at := r.key().at
	if r.flags&paid == 0 || !a.in.has(at) {
		return
	}
	currency := uint16(r.currency)
	if currency == otherCurrency {
		currency = a.main.extra(w.handle).currency
	}
	c := a.at(a.key(r, currency, at))
	c.buyers += ifMarked(w.is.First) - ifMarked(w.was.First)
	c.renewals += ifMarked(w.is.Renewal) - ifMarked(w.was.Renewal)
}

func ifMarked(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}
