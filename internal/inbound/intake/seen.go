package intake

import (
	"hash/maphash"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/lyceum-school/lyceum"
)

// key is a key, in addition to the id, that no two valid rows of a file share.
type key[T any] struct {
	twice lyceum.FieldError                             // the error of a row whose key occurred before
	of    func(maphash.Seed, *T) (k uint64, there bool) // rows without the key never clash
	exact bool                                          // k identifies the key; otherwise it is a hash
}

// hashed returns a key that is represented by a hash. Among ten million keys, two have the same
// hash in about three of a million files.
func hashed[T any, K comparable](twice lyceum.FieldError, of func(*T) (K, bool)) key[T] {
	return key[T]{twice: twice, of: func(seed maphash.Seed, v *T) (uint64, bool) {
		k, there := of(v)
		if !there {
			return 0, false
		}
		return maphash.Comparable(seed, k), true
	}}
}

// paired returns a key of two ids. It takes the least memory if many share the first one.
func paired[T any, A, B ~int32](twice lyceum.FieldError, of func(*T) (a A, b B, there bool)) key[T] {
	return key[T]{twice: twice, exact: true, of: func(_ maphash.Seed, v *T) (uint64, bool) {
		a, b, there := of(v)
		return uint64(a)<<32 | uint64(b), there
	}}
}

// inColumn returns the error of a row whose value in a column occurred before.
func inColumn(name string) lyceum.FieldError {
	return lyceum.FieldError{Field: name, Message: seenTwice}
}

// identity returns the error of a row whose identifying columns occurred together before.
func identity(columns string) lyceum.FieldError {
	return lyceum.FieldError{Message: seenTwice + ": its " + columns + " are those of an earlier row"}
}

// keySet is a set of keys.
type keySet interface {
	Contains(k uint64) bool
	Add(k uint64)
	Remove(k uint64)
}

// hashes is a set of hashes. A map from 64-bit numbers to empty structs would take twice
// the memory, because Go pads them to the size of a number.
type hashes struct {
	first map[uint32]uint32   // upper halves by lower halves
	more  map[uint64]struct{} // those whose lower half is in first already
}

func newHashes() hashes { return hashes{map[uint32]uint32{}, map[uint64]struct{}{}} }

func (h hashes) Contains(k uint64) bool {
	upper, there := h.first[uint32(k)]
	if !there || upper != uint32(k>>32) {
		_, there = h.more[k]
	}
	return there
}

func (h hashes) Add(k uint64) {
	if upper, there := h.first[uint32(k)]; !there {
		h.first[uint32(k)] = uint32(k >> 32)
	} else if upper != uint32(k>>32) {
		h.more[k] = struct{}{}
	}
}

func (h hashes) Remove(k uint64) {
	delete(h.more, k)
	if upper, there := h.first[uint32(k)]; there && upper == uint32(k>>32) {
		delete(h.first, uint32(k))
	}
}

func (h hashes) empty() bool { return len(h.first)+len(h.more) == 0 }

func (h hashes) clear() {
	clear(h.first)
	clear(h.more)
}

// seen remembers the ids and other keys of a file's valid rows, to find duplicates.
type seen[T any] struct {
	kind Kind[T]
	ids  *roaring.Bitmap
	seed maphash.Seed
	keys []keySet // one for each of the kind's keys

	// Those of rows that are not decided yet.
	openIDs  map[int32]struct{}
	openKeys []hashes

	begun, numbered bool // a row has been read; it had an id
}

func newSeen[T any](kind Kind[T]) *seen[T] {
	s := &seen[T]{kind: kind, ids: roaring.New(), seed: maphash.MakeSeed(), openIDs: map[int32]struct{}{}}
	for i := range kind.keys {
		var set keySet = newHashes()
		if kind.keys[i].exact {
			set = roaring64.New()
		}
		s.keys, s.openKeys = append(s.keys, set), append(s.openKeys, newHashes())
	}
	return s
}

const (
	seenTwice = "appears twice in the file"
	notAlways = "must be in every row of the file or in none"
)

// odd reports whether v has an id although the rows before have none, or lacks one
// although they have.
func (s *seen[T]) odd(v *T) bool {
	has := s.kind.id(v) != 0
	if !s.begun {
		s.begun, s.numbered = true, has
	}
	return has != s.numbered
}

// clash returns the errors of v about keys of an earlier valid row: the id, and the first
// of the other keys.
func (s *seen[T]) clash(v *T) (twice []lyceum.FieldError) {
	if id := s.kind.id(v); id != 0 && s.ids.Contains(uint32(id)) {
		twice = append(twice, inColumn(s.kind.columns[0].name))
	}
	for i := range s.kind.keys {
		if k, there := s.kind.keys[i].of(s.seed, v); there && s.keys[i].Contains(k) {
			return append(twice, s.kind.keys[i].twice)
		}
	}
	return twice
}

// doubtful reports whether v clashes with an earlier row, valid or undecided.
func (s *seen[T]) doubtful(v *T) bool {
	if len(s.clash(v)) > 0 {
		return true
	}
	if id := s.kind.id(v); id != 0 {
		if _, open := s.openIDs[id]; open {
			return true
		}
	}
	for i, open := range s.openKeys {
		if open.empty() {
			continue
		}
		if k, there := s.kind.keys[i].of(s.seed, v); there && open.Contains(k) {
			return true
		}
	}
	return false
}

// doubt remembers v as undecided until settle.
func (s *seen[T]) doubt(v *T) {
	s.openIDs[s.kind.id(v)] = struct{}{}
	for i := range s.openKeys {
		if k, there := s.kind.keys[i].of(s.seed, v); there {
			s.openKeys[i].Add(k)
		}
	}
}

// settle forgets the undecided rows.
func (s *seen[T]) settle() {
	clear(s.openIDs)
	for _, open := range s.openKeys {
		open.clear()
	}
}

func (s *seen[T]) add(v *T) {
	s.ids.Add(uint32(s.kind.id(v)))
	for i := range s.keys {
		if k, there := s.kind.keys[i].of(s.seed, v); there {
			s.keys[i].Add(k)
		}
	}
}

func (s *seen[T]) remove(v *T) {
	s.ids.Remove(uint32(s.kind.id(v)))
	for i := range s.keys {
		if k, there := s.kind.keys[i].of(s.seed, v); there {
			s.keys[i].Remove(k)
		}
	}
}
