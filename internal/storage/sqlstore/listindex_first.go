package sqlstore

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// maxShort is how many lists that need no index are remembered.
const maxShort = 1_000

// await returns the index of a list that had none, if another caller is reading the list for
// the first time and that ends with an index. It returns nil if this caller should read the
// list, because it is the first one or the list is short. If many callers read all rows of a
// large school at the same time, each of them takes many times as long.
func (x *listIndex) await(ctx context.Context, school lyceum.SchoolID, r *ranking) *indexedList {
	name := r.name(school)
	x.mu.Lock()
	other := x.readings[name]
	if other == nil && !x.short[name] {
		r.reading = make(chan struct{})
		x.readings[name] = r.reading
	}
	x.mu.Unlock()
	switch {
	case other != nil:
		select {
		case <-other:
		case <-ctx.Done():
		}
	case r.reading == nil:
		return nil
	}
	return x.find(school, r) // also for the first: it may have been built since it was looked for
}

// leave ends the first reading of a list, unless its index is being built.
func (x *listIndex) leave(r *ranking) {
	if r != nil && r.reading != nil {
		x.end(r.called, r.reading)
	}
}

func (x *listIndex) end(name string, reading chan struct{}) {
	x.mu.Lock()
	delete(x.readings, name)
	x.mu.Unlock()
	close(reading)
}

// remember records whether a list is short.
func (x *listIndex) remember(school lyceum.SchoolID, r *ranking, short bool) {
	name := r.name(school)
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case !short:
		delete(x.short, name)
	case len(x.short) >= maxShort:
		clear(x.short)
		fallthrough
	default:
		x.short[name] = true
	}
}
