package salesindex

import (
	"slices"

	"github.com/lyceum-school/lyceum"
)

const (
	pageRows   = 64
	chunkPages = 256
	chunkRows  = pageRows * chunkPages
)

type page [pageRows]row

// chunk holds the rows of consecutive handles, and their extras by page.
type chunk struct {
	pages  [chunkPages]*page
	extras [chunkPages][]extra
	// A bit for each row of a page: the marks of its sale.
	first, renewal [chunkPages]uint64
}

// rowTable stores rows under handles, which are numbered from 0 in order of arrival.
type rowTable struct {
	chunks []*chunk
	used   uint32
	names  currencies
}

// makeRows returns a table of n rows whose pages are still missing.
func makeRows(n uint32, names currencies) rowTable {
	s := rowTable{chunks: make([]*chunk, (int(n)+chunkRows-1)/chunkRows), used: n, names: names}
	for i := range s.chunks {
		s.chunks[i] = &chunk{}
	}
	return s
}

func (s *rowTable) row(h uint32) *row {
	return &s.chunks[h/chunkRows].pages[h/pageRows%chunkPages][h%pageRows]
}

func (s *rowTable) extra(h uint32) *extra {
	extras := s.chunks[h/chunkRows].extras[h/pageRows%chunkPages]
	for i := range extras {
		if extras[i].offset == uint8(h%pageRows) {
			return &extras[i]
		}
	}
	return nil
}

func (s *rowTable) key(h uint32) key { return s.row(h).key() }

func (s *rowTable) read(h uint32, t *lyceum.Transaction) {
	r := s.row(h)
	var x *extra
	if r.flags&hasExtra != 0 {
		x = s.extra(h)
	}
	r.decode(x, s.names, t)
}

func (s *rowTable) fullyRefunded(h uint32) bool {
	r := s.row(h)
	if r.flags&hasExtra == 0 {
		return false
	}
	x := s.extra(h)
	return x.refunded > 0 && x.refunded >= r.price
}

// search returns how many of the handles, which are in list order, are before k.
func (s *rowTable) search(handles []uint32, k key) int {
	if n := len(handles); n > 0 && s.key(handles[n-1]).compare(k) < 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(handles, k, func(h uint32, k key) int { return s.key(h).compare(k) })
	return i
}

// append adds a row where no version sees it yet, and returns its handle.
func (s *rowTable) append(own owned, r *row, x extra) uint32 {
	h := s.used
	s.used++
	if h%chunkRows == 0 {
		c := &chunk{}
		own.take(c)
		s.chunks = append(s.chunks, c)
	}
	if h%pageRows == 0 {
		p := &page{}
		own.take(p)
		// Readers of this chunk do not access pages beyond their handles.
		s.chunks[h/chunkRows].pages[h/pageRows%chunkPages] = p
	}
	*s.row(h) = *r
	if r.flags&hasExtra != 0 {
		s.setExtra(s.ownChunk(own, h), h, x, true)
	}
	return h
}

// set replaces a row that versions may be reading.
func (s *rowTable) set(own owned, h uint32, r *row, x extra) {
	c := s.ownChunk(own, h)
	p := &c.pages[h/pageRows%chunkPages]
	if !own.has(*p) {
		copied := **p
		*p = &copied
		own.take(*p)
	}
	(*p)[h%pageRows] = *r
	s.setExtra(c, h, x, r.flags&hasExtra != 0)
}

func (s *rowTable) ownChunk(own owned, h uint32) *chunk {
	c := s.chunks[h/chunkRows]
	if !own.has(c) {
		copied := *c
		c = &copied
		own.take(c)
		s.chunks = slices.Clone(s.chunks)
		s.chunks[h/chunkRows] = c
	}
	return c
}

func (s *rowTable) setExtra(c *chunk, h uint32, x extra, present bool) {
	x.offset = uint8(h % pageRows)
	at := &c.extras[h/pageRows%chunkPages]
	if len(*at) == 0 && !present {
		return
	}
	extras := make([]extra, 0, len(*at)+1)
	for _, e := range *at {
		if e.offset != x.offset {
			extras = append(extras, e)
		}
	}
	if present {
		extras = append(extras, x)
	}
	*at = extras
}

// ids maps transactions to handles. Only the writer uses it.
type ids map[uint32]*idPage

// idPage holds the handles of adjacent ids, plus 1. It is small, because ids that are far apart
// take one page each.
type idPage [32]uint32

func idPlace(id uint32) (page, at uint32) {
	return id / uint32(len(idPage{})), id % uint32(len(idPage{}))
}

func (m ids) get(id lyceum.TransactionID) (uint32, bool) {
	page, at := idPlace(uint32(id))
	p := m[page]
	if p == nil || p[at] == 0 {
		return 0, false
	}
	return p[at] - 1, true
}

func (m ids) set(id int32, h uint32) {
	page, at := idPlace(uint32(id))
	m.own(page)[at] = h + 1
}

// own returns a page, and creates it if necessary.
func (m ids) own(page uint32) *idPage {
	p := m[page]
	if p == nil {
		p = new(idPage)
		m[page] = p
	}
	return p
}

func (m ids) remove(id lyceum.TransactionID) {
	page, at := idPlace(uint32(id))
	m[page][at] = 0
}

// owned is the set of parts that a change has created or copied and may write to until it is
// published. If nil, during a build, everything is owned.
type owned map[any]struct{}

func (o owned) has(part any) bool {
	if o == nil {
		return true
	}
	_, is := o[part]
	return is
}

func (o owned) take(part any) {
	if o != nil {
		o[part] = struct{}{}
	}
}
