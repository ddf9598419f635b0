package salesindex

import (
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lyceum-school/lyceum"
)

// maxBlockRows is the largest number of handles in a block.
const maxBlockRows = 1 << 15

// Limits, which tests lower.
var (
	blockRows = maxBlockRows
	// listRows is the number of sales up to which a value has a list rather than a bitmap; with
	// many blocks the list may be longer.
	listRows = 1024
	// longRows is the length from which a list is stored separately.
	longRows = 40
	// tailRows is how many sales older than the newest one of the main part the tail holds before
	// they are moved, and likewise how many newer ones.
	tailRows = 128
)

// block is a range of the list. Consecutive handles are not stored individually.
type block struct {
	first   uint32
	n       int
	handles []uint32 // nil means first, first+1, …
	sums    blockSums
}

func (b *block) handle(o int) uint32 {
	if b.handles != nil {
		return b.handles[o]
	}
	return b.first + uint32(o)
}

// list returns the handles. The caller must not modify them.
func (b *block) list() []uint32 {
	if b.handles != nil {
		return b.handles[:b.n]
	}
	list := make([]uint32, b.n)
	for i := range list {
		list[i] = b.first + uint32(i)
	}
	return list
}

// makeBlock stores the handles only if they are not consecutive.
func makeBlock(handles []uint32) *block {
	for i, h := range handles {
		if h != handles[0]+uint32(i) {
			return &block{first: handles[0], n: len(handles), handles: handles}
		}
	}
	return &block{first: handles[0], n: len(handles)}
}

// kind is a property with many values by which a filter can select.
type kind int

const (
	byUser kind = iota
	byAffiliate
	byPlan
	byCourse
	byAuthor
	kinds
)

// postings are the handles of each value of a kind: in bitmaps for values with many sales, in
// lists for the others.
type postings struct {
	lists   lists
	bitmaps map[int32]*bitmap
}

// main is the indexed part of a version.
type main struct {
	rowTable
	blocks      []*block
	before      []int // number of sales before each block, and in total
	postings    [kinds]postings
	refunded    *bitmap
	chargebacks *bitmap
	courses     map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
	cache       *cache
}

func (m *main) len() int { return m.before[len(m.blocks)] }

func (m *main) count() {
	m.before = make([]int, 1, len(m.blocks)+1)
	for i, b := range m.blocks {
		m.before = append(m.before, m.before[i]+b.n)
	}
}

// place is a block and an offset in it.
type place struct{ block, offset int }

func (m *main) end() place { return place{len(m.blocks), 0} }

// lastKey returns the key of the newest sale.
func (m *main) lastKey() (key, bool) {
	if len(m.blocks) == 0 {
		return key{}, false
	}
	b := m.blocks[len(m.blocks)-1]
	return m.key(b.handle(b.n - 1)), true
}

// find returns the place of the first sale that is not before k.
func (m *main) find(k key) place {
	if last, some := m.lastKey(); !some || last.compare(k) < 0 {
		return m.end()
	}
	i := sort.Search(len(m.blocks), func(i int) bool {
		b := m.blocks[i]
		return m.key(b.handle(b.n-1)).compare(k) >= 0
	})
	b := m.blocks[i]
	return place{i, sort.Search(b.n, func(o int) bool { return m.key(b.handle(o)).compare(k) >= 0 })}
}

// position returns the number of sales before a place.
func (m *main) position(p place) int { return m.before[p.block] + p.offset }

// values returns the value of each kind that a sale has.
func (m *main) values(t *lyceum.Transaction) (v [kinds]lyceum.Opt[int32]) {
	v[byUser], v[byPlan] = lyceum.Some(int32(t.UserID)), lyceum.Some(int32(t.PricingPlanID))
	v[byAffiliate] = lyceum.Opt[int32]{Value: int32(t.AffiliateID.Value), Present: t.AffiliateID.Present}
	v[byAuthor] = lyceum.Opt[int32]{Value: int32(t.AuthorID.Value), Present: t.AuthorID.Present}
	course := m.courses[t.PricingPlanID]
	v[byCourse] = lyceum.Opt[int32]{Value: int32(course.Value), Present: course.Present}
	return v
}

// rowValue returns the value of one kind that a sale of the main part has.
func (m *main) rowValue(k kind, r *row) (int32, bool) {
	switch k {
	case byUser:
		return r.user, true
	case byAffiliate:
		return r.affiliate, r.flags&hasAffiliate != 0
	case byAuthor:
		return r.author, r.flags&hasAuthor != 0
	case byPlan:
		return r.plan, true
	default:
		course := m.courses[lyceum.PricingPlanID(r.plan)]
		return int32(course.Value), course.Present
	}
}

// matches reports whether a sale of the main part matches a filter, ignoring the filter's period.
func (m *main) matches(f *lyceum.TransactionFilter, h uint32) bool {
	r := m.row(h)
	for k, want := range named(f) {
		if !want.Present {
			continue
		}
		if v, some := m.rowValue(kind(k), r); !some || v != want.Value {
			return false
		}
	}
	return (!f.FullyRefunded.Present || f.FullyRefunded.Value == m.fullyRefunded(h)) &&
		(!f.Chargeback.Present || f.Chargeback.Value == (r.flags&chargeback != 0))
}

// named returns the value of each kind that a filter selects.
func named(f *lyceum.TransactionFilter) (v [kinds]lyceum.Opt[int32]) {
	v[byUser] = lyceum.Opt[int32]{Value: int32(f.UserID.Value), Present: f.UserID.Present}
	v[byAffiliate] = lyceum.Opt[int32]{Value: int32(f.AffiliateID.Value), Present: f.AffiliateID.Present}
	v[byAuthor] = lyceum.Opt[int32]{Value: int32(f.AuthorID.Value), Present: f.AuthorID.Present}
	v[byPlan] = lyceum.Opt[int32]{Value: int32(f.PricingPlanID.Value), Present: f.PricingPlanID.Present}
	v[byCourse] = lyceum.Opt[int32]{Value: int32(f.CourseID.Value), Present: f.CourseID.Present}
	return v
}

// bitmapFrom is the number of sales from which a bitmap is smaller than a list.
func (m *main) bitmapFrom() int { return max(listRows, listRows/32*len(m.blocks)) }

// bitmapOf returns a bitmap of handles that are in list order.
func (m *main) bitmapOf(handles []uint32) *bitmap {
	b := &bitmap{}
	var offsets []uint32
	flush := func(block int) {
		if len(offsets) > 0 {
			b.own(nil, block).AddMany(offsets)
			b.blocks[block].RunOptimize()
			offsets = offsets[:0]
		}
	}
	at := 0
	for _, h := range handles {
		block, offset := m.after(at, h)
		if block != at {
			flush(at)
			at = block
		}
		offsets = append(offsets, uint32(offset))
	}
	flush(at)
	b.blocks = slices.Clip(b.blocks)
	b.count(0)
	return b
}

// after returns the place of a handle that is in block from or a later one.
func (m *main) after(from int, h uint32) (block, offset int) {
	if b := m.blocks[from]; b.handles == nil && h >= b.first && h < b.first+uint32(b.n) {
		return from, int(h - b.first)
	}
	p := m.find(m.key(h))
	return p.block, p.offset
}

// members appends the handles at offsets of a block, up to n of them after the first skip.
func members(to []uint32, b *block, offsets *roaring.Bitmap, skip, n int) []uint32 {
	first, err := offsets.Select(uint32(skip))
	if err != nil {
		return to
	}
	it := offsets.Iterator()
	it.AdvanceIfNeeded(first)
	for ; n > 0 && it.HasNext(); n-- {
		to = append(to, b.handle(int(it.Next())))
	}
	return to
}
