package salesindex

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lyceum-school/lyceum"
)

// Index serves the list of one school's sales. Any number of goroutines may read while one
// writes; writers wait for each other.
type Index struct {
	current atomic.Pointer[version]

	write sync.Mutex
	ids   ids // for the main part
}

// version is what readers see. It is immutable.
type version struct {
	state lyceum.Version
	main  *main
	tail  []*lyceum.Transaction // in list order; none is in the main part
	late  *lateMarks
}

// Version returns the state that the index reflects.
func (x *Index) Version() lyceum.Version { return x.current.Load().state }

// Len returns the number of sales.
func (x *Index) Len() int { return x.current.Load().len() }

func (v *version) len() int { return v.main.len() + len(v.tail) }

// place returns the position of a sale in the tail, or the position at which to insert it.
func (v *version) place(t *lyceum.Transaction) int {
	i, _ := slices.BinarySearchFunc(v.tail, keyOf(t),
		func(t *lyceum.Transaction, k key) int { return keyOf(t).compare(k) })
	return i
}
