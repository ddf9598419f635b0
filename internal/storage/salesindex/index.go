package salesindex

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lyceum-school/lyceum"
)

// Index answers the list of one school's sales. Any number of goroutines may
// ask while one at a time writes; writers wait for each other.
type Index struct {
	current atomic.Pointer[version]

	write sync.Mutex
	ids   ids // of the main part
}

// version is what readers see; nothing of it changes.
type version struct {
	state lyceum.Version
	main  *main
	tail  []*lyceum.Transaction // in list order, none of them in the main part
	late  *lateMarks
}

// Version gives the state that the index answers from.
func (x *Index) Version() lyceum.Version { return x.current.Load().state }

// Len counts the sales.
func (x *Index) Len() int { return x.current.Load().len() }

func (v *version) len() int { return v.main.len() + len(v.tail) }

// place gives where a sale stands in the tail or would be put.
func (v *version) place(t *lyceum.Transaction) int {
	i, _ := slices.BinarySearchFunc(v.tail, keyOf(t),
		func(t *lyceum.Transaction, k key) int { return keyOf(t).compare(k) })
	return i
}
