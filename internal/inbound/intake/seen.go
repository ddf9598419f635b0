package intake

import (
	"hash/maphash"
	"slices"
	"strings"
)

// seen remembers the ids and addresses of the good rows of a file, so that
// none stands in it a second time.
type seen[T any] struct {
	kind   Kind[T]
	ids    idSet
	seed   maphash.Seed
	emails map[uint64]struct{}

	// Those of rows whose fate is open.
	openIDs    map[int32]struct{}
	openEmails map[uint64]struct{}
}

func newSeen[T any](kind Kind[T]) *seen[T] {
	return &seen[T]{
		kind: kind, seed: maphash.MakeSeed(), emails: map[uint64]struct{}{},
		openIDs: map[int32]struct{}{}, openEmails: map[uint64]struct{}{},
	}
}

const seenTwice = "appears twice in the file"

// clash names the columns of v that stood in an earlier good row.
func (s *seen[T]) clash(v *T) (columns []string) {
	if id := s.kind.id(v); id != 0 && s.ids.has(id) {
		columns = append(columns, s.kind.columns[0].name)
	}
	if s.kind.email == nil {
		return columns
	}
	if _, ok := s.emails[s.hash(v)]; ok {
		columns = append(columns, "email")
	}
	return columns
}

// doubtful tells whether v clashes with an earlier row, good or open.
func (s *seen[T]) doubtful(v *T) bool {
	if len(s.clash(v)) > 0 {
		return true
	}
	id := s.kind.id(v)
	_, ok := s.openIDs[id]
	ok = ok && id != 0
	if !ok && len(s.openEmails) > 0 {
		_, ok = s.openEmails[s.hash(v)]
	}
	return ok
}

// doubt remembers v as a row whose fate is open, until settle.
func (s *seen[T]) doubt(v *T) {
	s.openIDs[s.kind.id(v)] = struct{}{}
	if s.kind.email != nil {
		s.openEmails[s.hash(v)] = struct{}{}
	}
}

// settle forgets the rows whose fate was open.
func (s *seen[T]) settle() {
	clear(s.openIDs)
	clear(s.openEmails)
}

func (s *seen[T]) add(v *T) {
	s.ids.add(s.kind.id(v))
	if s.kind.email != nil {
		s.emails[s.hash(v)] = struct{}{}
	}
}

func (s *seen[T]) remove(v *T) {
	s.ids.remove(s.kind.id(v))
	if s.kind.email != nil {
		delete(s.emails, s.hash(v))
	}
}

// hash stands for an address whatever its case. Among ten million addresses
// two share one by chance in three of a million files.
func (s *seen[T]) hash(v *T) uint64 {
	return maphash.String(s.seed, strings.ToLower(s.kind.email(v)))
}

// idSet is a set of positive ids. Ids that lie close take a bit each, ids that
// lie far apart two bytes.
type idSet struct{ chunks []idChunk }

// idChunk holds the ids that share their upper 15 bits, by their lower 16: a
// sorted list while there are few, a bitmap from then on.
type idChunk struct {
	few  []uint16
	bits *[1 << 16 / 64]uint64
}

// fewIDs is the length of list from which a bitmap takes no more memory.
const fewIDs = 1 << 16 / 16

func (s *idSet) chunk(id int32) (*idChunk, uint16) {
	if s.chunks == nil {
		s.chunks = make([]idChunk, 1<<15)
	}
	return &s.chunks[id>>16], uint16(id)
}

func (s *idSet) has(id int32) bool {
	c, low := s.chunk(id)
	if c.bits != nil {
		return c.bits[low/64]>>(low%64)&1 == 1
	}
	_, found := slices.BinarySearch(c.few, low)
	return found
}

func (s *idSet) add(id int32) {
	c, low := s.chunk(id)
	if c.bits == nil && len(c.few) == fewIDs {
		c.bits = new([1 << 16 / 64]uint64)
		for _, low := range c.few {
			c.bits[low/64] |= 1 << (low % 64)
		}
		c.few = nil
	}
	if c.bits != nil {
		c.bits[low/64] |= 1 << (low % 64)
		return
	}
	if at, found := slices.BinarySearch(c.few, low); !found {
		c.few = slices.Insert(c.few, at, low)
	}
}

func (s *idSet) remove(id int32) {
	c, low := s.chunk(id)
	if c.bits != nil {
		c.bits[low/64] &^= 1 << (low % 64)
		return
	}
	if at, found := slices.BinarySearch(c.few, low); found {
		c.few = slices.Delete(c.few, at, at+1)
	}
}
