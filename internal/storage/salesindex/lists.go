package salesindex

import "slices"

const (
	pageLists = 64   // values whose lists are in one page
	shelf     = 1024 // pages per shelf
)

// lists holds a list of handles for each value. Values are spread over pages and shelves, so that
// a change copies little.
type lists struct{ shelves []*listShelf }

type listShelf [shelf]*listPage

// listPage holds the lists of adjacent values one after another; list i is
// handles[from[i]:from[i+1]].
type listPage struct {
	from    [pageLists + 1]uint32
	handles []uint32
	long    []longList // stored separately, so that a change of another list copies less
}

// longList is a list that has reached longRows.
type longList struct {
	list    int
	handles []uint32
}

func (p *listPage) longAt(i int) int {
	return slices.IndexFunc(p.long, func(l longList) bool { return l.list == i })
}

func (l *lists) get(value int32) []uint32 {
	s, p, i := locate(value)
	if s >= len(l.shelves) || l.shelves[s] == nil || l.shelves[s][p] == nil {
		return nil
	}
	page := l.shelves[s][p]
	if j := page.longAt(i); j >= 0 {
		return slices.Clip(page.long[j].handles)
	}
	return page.handles[page.from[i]:page.from[i+1]:page.from[i+1]]
}

func locate(value int32) (shelfAt, pageAt, listAt int) {
	v := uint32(value)
	return int(v / (shelf * pageLists)), int(v / pageLists % shelf), int(v % pageLists)
}

// own makes the page of a value writable and returns it, and the index of the value's list in it.
func (l *lists) own(own owned, value int32) (*listPage, int) {
	s, p, i := locate(value)
	if s >= len(l.shelves) || l.shelves[s] == nil || !own.has(l.shelves[s]) {
		copied := &listShelf{}
		shelves := make([]*listShelf, max(len(l.shelves), s+1))
		copy(shelves, l.shelves)
		if shelves[s] != nil {
			*copied = *shelves[s]
		}
		shelves[s] = copied
		l.shelves = shelves
		own.take(copied)
	}
	at := &l.shelves[s][p]
	if *at == nil {
		*at = &listPage{}
		own.take(*at)
	} else if !own.has(*at) {
		*at = &listPage{from: (*at).from, handles: slices.Clone((*at).handles), long: slices.Clone((*at).long)}
		own.take(*at)
	}
	return *at, i
}

// insert inserts handles at index n of a value's list.
func (l *lists) insert(own owned, value int32, n int, handles ...uint32) {
	page, i := l.own(own, value)
	if j := page.longAt(i); j >= 0 {
		long := &page.long[j].handles
		if n == len(*long) {
			*long = append(*long, handles...) // beyond what any version sees
		} else {
			*long = slices.Concat((*long)[:n], handles, (*long)[n:])
		}
		return
	}
	page.handles = slices.Insert(page.handles, int(page.from[i])+n, handles...)
	page.shift(i, uint32(len(handles)))
	if from, to := page.from[i], page.from[i+1]; int(to-from) >= longRows {
		page.long = append(page.long, longList{i, slices.Clone(page.handles[from:to])})
		page.handles = slices.Delete(page.handles, int(from), int(to))
		page.shift(i, from-to)
	}
}

// cut removes the elements n to m of a value's list.
func (l *lists) cut(own owned, value int32, n, m int) {
	page, i := l.own(own, value)
	if j := page.longAt(i); j >= 0 {
		page.long[j].handles = slices.Concat(page.long[j].handles[:n], page.long[j].handles[m:])
		return
	}
	from := int(page.from[i])
	page.handles = slices.Delete(page.handles, from+n, from+m)
	page.shift(i, -uint32(m-n))
}

func (p *listPage) shift(i int, by uint32) {
	for j := i + 1; j < len(p.from); j++ {
		p.from[j] += by
	}
}
