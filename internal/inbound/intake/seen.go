package intake

import (
	"hash/maphash"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// seen remembers the ids and addresses of the good rows of a file, so that
// none stands in it a second time.
type seen[T any] struct {
	kind   Kind[T]
	ids    *roaring.Bitmap
	seed   maphash.Seed
	emails map[uint64]struct{}

	// Those of rows whose fate is open.
	openIDs    map[int32]struct{}
	openEmails map[uint64]struct{}
}

func newSeen[T any](kind Kind[T]) *seen[T] {
	return &seen[T]{
		kind: kind, ids: roaring.New(), seed: maphash.MakeSeed(), emails: map[uint64]struct{}{},
		openIDs: map[int32]struct{}{}, openEmails: map[uint64]struct{}{},
	}
}

const seenTwice = "appears twice in the file"

// clash names the columns of v that stood in an earlier good row.
func (s *seen[T]) clash(v *T) (columns []string) {
	if id := s.kind.id(v); id != 0 && s.ids.Contains(uint32(id)) {
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
	s.ids.Add(uint32(s.kind.id(v)))
	if s.kind.email != nil {
		s.emails[s.hash(v)] = struct{}{}
	}
}

func (s *seen[T]) remove(v *T) {
	s.ids.Remove(uint32(s.kind.id(v)))
	if s.kind.email != nil {
		delete(s.emails, s.hash(v))
	}
}

// hash stands for an address whatever its case. Among ten million addresses
// two share one by chance in three of a million files.
func (s *seen[T]) hash(v *T) uint64 {
	return maphash.String(s.seed, strings.ToLower(s.kind.email(v)))
}
