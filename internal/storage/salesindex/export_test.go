package salesindex

import (
	"hash/crc32"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Shrink makes blocks, tails, lists and segments small for a test.
func Shrink(t testing.TB) {
	b, l, r, n, s := blockRows, listRows, tailRows, longRows, segmentRows
	blockRows, listRows, tailRows, longRows, segmentRows = 16, 6, 3, 3, pageRows
	t.Cleanup(func() { blockRows, listRows, tailRows, longRows, segmentRows = b, l, r, n, s })
	k, m := keptBytes, membersPerCell
	keptBytes, membersPerCell = 200, 1
	t.Cleanup(func() { keptBytes, membersPerCell = k, m })
}

// Shorten lowers maxBacklog for a test.
func Shorten(t testing.TB) {
	m := maxBacklog
	maxBacklog = 50
	t.Cleanup(func() { maxBacklog = m })
}

// Patient lets indexes serve while the journal is slow to be read, as on a busy machine. It must
// be called before any test.
func Patient() { trustPause = time.Minute }

// Impatient undoes Patient for a test of a journal that hangs.
func Impatient(t testing.TB) {
	trustPause = followPause
	t.Cleanup(Patient)
}

// Settle waits until the list of a school is served from its index, if it can have one.
func (s *Store) Settle(t testing.TB, id lyceum.SchoolID) {
	t.Helper()
	if !storetest.Await(func() bool { return s.serving(id) != nil || s.ctx.Err() != nil || s.failed.Load() > 0 }) {
		t.Fatalf("school %d has no index", id)
	}
}

// Shrink reduces the memory of the indexes, with immediate effect.
func (s *Store) Shrink(memory int64) {
	s.Memory = memory
	s.measure()
}

// Serving returns the schools whose list is served from an index.
func (s *Store) Serving() (ids []lyceum.SchoolID) {
	for k := range s.each {
		if k.ready.Load() != nil {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// HeadBytes is the offset of the plans in a snapshot.
const HeadBytes = headBytes

// SegmentAt returns the offset and the length of a segment in a snapshot.
func SegmentAt(b []byte, i int) (at, n int) {
	at = headBytes + planBytes*int(le.Uint32(b[60:])) + int(le.Uint32(b[68:])) + sumBytes
	sales := le.Uint32(b[56:])
	for {
		g := segment{rows: min(segmentRows, sales), rare: le.Uint32(b[at:])}
		if i == 0 {
			return at, int(g.bytes())
		}
		i--
		at += int(g.bytes())
		sales -= g.rows
	}
}

// Seal corrects the checksums of a snapshot, as far as its lengths make sense.
func Seal(b []byte) {
	s := snapshot{size: int64(len(b))}
	if len(b) < headBytes {
		return
	}
	end := headBytes + planBytes*int64(le.Uint32(b[60:])) + int64(le.Uint32(b[68:]))
	s.header.Sales = int64(le.Uint32(b[56:]))
	if end+sumBytes > s.size {
		return
	}
	s.sum = crc32.Checksum(b[:end], castagnoli)
	le.PutUint32(b[end:], s.sum)
	s.r = readerAt(b)
	found, err := s.locate(end + sumBytes)
	if err != nil {
		return
	}
	for _, g := range found {
		end := g.at + g.bytes() - sumBytes
		le.PutUint32(b[end:], crc32.Update(s.sum, castagnoli, b[g.at:end]))
	}
}

type readerAt []byte

func (b readerAt) ReadAt(p []byte, off int64) (int, error) { return copy(p, b[off:]), nil }

// Spoil adds a sale to the index of a school that the underlying store does not have.
func (s *Store) Spoil(t testing.TB, id lyceum.SchoolID, sale lyceum.Transaction, plans ...lyceum.PricingPlan) {
	t.Helper()
	x := s.of(id).index
	if err := x.Update(x.Version(), []lyceum.Transaction{sale}, plans); err != nil {
		t.Fatal(err)
	}
}
