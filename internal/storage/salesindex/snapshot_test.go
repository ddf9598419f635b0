package salesindex_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"pgregory.net/rapid"
)

var header = salesindex.SnapshotHeader{School: 7, Identity: [32]byte{1, 2, 31: 3}, Number: 1 << 40}

func written(t interface{ Fatal(args ...any) }, x *salesindex.Index) []byte {
	var b bytes.Buffer
	if err := x.View().WriteSnapshot(&b, header); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (*salesindex.Index, salesindex.SnapshotHeader, error) {
	return salesindex.ReadSnapshot(bytes.NewReader(b), int64(len(b)))
}

func load(path string) (*salesindex.Index, salesindex.SnapshotHeader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, salesindex.SnapshotHeader{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, salesindex.SnapshotHeader{}, err
	}
	return salesindex.ReadSnapshot(file, info.Size())
}

// TestSnapshotModel compares indexes loaded from snapshots of random histories, and later changes
// to them, with the naive list.
func TestSnapshotModel(t *testing.T) {
	salesindex.Shrink(t)
	rapid.Check(t, func(r *rapid.T) {
		m, x := begun(r, 150)
		n := func(to int32) int32 { return rapid.Int32Range(0, to).Draw(r, "filter") }
		hour := func() time.Time { return begin.Add(time.Duration(n(60)) * time.Hour) }
		for range 2 {
			for range rapid.IntRange(0, 30).Draw(r, "puts") {
				m.put(r, x)
			}
			m.move(r, x)
			file := written(r, x)
			back, h, err := read(file)
			if err != nil {
				r.Fatal(err)
			}
			want := header
			if want.Sales = int64(len(m.sales)); h != want {
				r.Fatalf("header %+v, want %+v", h, want)
			}
			if !bytes.Equal(file, written(r, back)) {
				r.Fatal("written again it differs")
			}
			m.check(r, back, filters(hour, n))
			x = back
		}
	})
}

// TestSnapshotKeepsAll uses more currencies than fit in a byte, and plans without sales or a
// course.
func TestSnapshotKeepsAll(t *testing.T) {
	m := newModel()
	m.courses = map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{1: lyceum.Some(lyceum.CourseID(lyceum.MaxID)), 2: {}, lyceum.MaxID: lyceum.Some(lyceum.CourseID(4))}
	for i := range 300 {
		s := extreme(lyceum.TransactionID(i + 1))
		s.Currency = lyceum.Currency("C" + strconv.Itoa(i))
		if i%3 == 0 {
			s.AmountRefunded, s.RefundedAt, s.ChargebackFee = 0, lyceum.None[time.Time](), lyceum.Some(lyceum.Minor(0))
		}
		m.sales[s.ID] = s
	}
	file := written(t, m.build(t, false))
	x, _, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	record(file, 0, 0)[62] = 255
	salesindex.Seal(file)
	if _, _, err := read(file); err == nil || !strings.Contains(err.Error(), "transaction 1: currency 255 and extra do not fit") {
		t.Errorf("a rare currency without an extra: %v", err)
	}
	m.check(t, x, []lyceum.TransactionFilter{{}, {CourseID: lyceum.Some(lyceum.CourseID(4))}})
	s := extreme(301)
	s.PricingPlanID = 1
	m.sales[301] = s
	if err := put(x, s); err != nil {
		t.Fatal(err)
	}
	m.check(t, x, []lyceum.TransactionFilter{{CourseID: lyceum.Some(lyceum.CourseID(lyceum.MaxID))}})
}

// small returns the snapshot of 150 sales in three segments, the n-th at hour n.
func small(t testing.TB) []byte {
	b := salesindex.NewBuilder()
	b.Plan(3, lyceum.Some(lyceum.CourseID(1)))
	b.Plan(5, lyceum.None[lyceum.CourseID]())
	r := rand.New(rand.NewPCG(6, 6))
	for id := range lyceum.TransactionID(150) {
		s := randomSale(r, id+1, 1)
		s.CreatedAt = begin.Add(time.Duration(id) * time.Hour)
		s.Currency = lyceum.Currency([]string{"EUR", "USD"}[id%2])
		s.FinalPrice, s.AmountRefunded = 5, lyceum.Minor(id/64) // 0 in the first segment
		if err := b.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	return written(t, b.Build(lyceum.Version{}))
}

// damage is a modification of a snapshot. Unless raw is set, the checksums are corrected
// afterwards.
type damage struct {
	name string
	raw  bool
	do   func(b []byte) []byte
	want string
}

// record returns record i of a segment.
func record(b []byte, segment, i int) []byte {
	at, _ := salesindex.SegmentAt(b, segment)
	return b[at+4+64*i:][:64]
}

// rare returns the first extra of the last segment of small.
func rare(b []byte) []byte {
	at, _ := salesindex.SegmentAt(b, 2)
	return b[at+4+64*22:][:20]
}

func in(do func(b []byte)) func([]byte) []byte {
	return func(b []byte) []byte { do(b); return b }
}

func set32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

var damages = []damage{
	{"empty", true, func([]byte) []byte { return nil }, "head: the file has 0 bytes"},
	{"magic", true, in(func(b []byte) { b[3] = 'x' }), "not a sales index snapshot"},
	{"another format", true, in(func(b []byte) { b[8]++ }), "its format is 2, not 1"},
	{"another school", true, in(func(b []byte) { b[12]++ }), "head: its checksum is wrong"},
	{"another identity", true, in(func(b []byte) { b[47]++ }), "head: its checksum is wrong"},
	{"another number", true, in(func(b []byte) { b[55]++ }), "head: its checksum is wrong"},
	{"a plan's course", true, in(func(b []byte) { b[salesindex.HeadBytes+4]++ }), "head: its checksum is wrong"},
	{"a currency", true, in(func(b []byte) { b[salesindex.HeadBytes+19]++ }), "head: its checksum is wrong"},
	{"a record", true, in(func(b []byte) { record(b, 1, 9)[17]++ }), "segment 2 of 3: its checksum is wrong"},
	{"an extra", true, in(func(b []byte) { rare(b)[9]++ }), "segment 3 of 3: its checksum is wrong"},
	{"a segment of another snapshot", true, in(func(b []byte) {
		other := bytes.Clone(b)
		other[48]++
		salesindex.Seal(other)
		at, n := salesindex.SegmentAt(b, 1)
		copy(b[at:at+n], other[at:at+n])
	}), "segment 2 of 3: its checksum is wrong"},
	{"a byte after the end", true, func(b []byte) []byte { return append(b, 0) }, "and should have"},
	{"a segment after the end", true, func(b []byte) []byte {
		at, n := salesindex.SegmentAt(b, 2)
		return append(b, b[at:at+n]...)
	}, "and should have"},
	{"no last segment", true, func(b []byte) []byte {
		at, _ := salesindex.SegmentAt(b, 2)
		return b[:at]
	}, "too few for 150 sales"},

	{"countless sales", false, in(func(b []byte) { set32(b[56:], math.MaxUint32) }), "too few for 4294967295 sales"},
	{"a sale too many", false, in(func(b []byte) { b[56]++ }), "and should have"},
	{"a sale too few", false, in(func(b []byte) { b[56]-- }), "segment 3: 22 extras for 21 sales"},
	{"countless plans", false, in(func(b []byte) { set32(b[60:], math.MaxUint32) }), "and should have"},
	{"countless bytes of currencies", false, in(func(b []byte) { set32(b[68:], math.MaxUint32) }), "and should have"},
	{"countless currencies", false, in(func(b []byte) { set32(b[64:], math.MaxUint32) }), "4294967295 currencies do not fill"},
	{"a currency too few", false, in(func(b []byte) { b[64]-- }), "1 currencies do not fill"},
	{"a currency too long", false, in(func(b []byte) { b[salesindex.HeadBytes+18+4]++ }), "currencies do not fill"},
	{"a currency too few and the other too long", false, in(func(b []byte) { b[64]--; b[salesindex.HeadBytes+18+4]++ }), "currencies do not fill"},
	{"plans out of order", false, in(func(b []byte) { b[salesindex.HeadBytes] = 9 }), "plan 5 is invalid"},
	{"a plan twice", false, in(func(b []byte) { b[salesindex.HeadBytes] = 5 }), "plan 5 is invalid"},
	{"a course half there", false, in(func(b []byte) { b[salesindex.HeadBytes+8] = 2 }), "plan 3 is invalid"},
	{"countless extras", false, in(func(b []byte) {
		at, _ := salesindex.SegmentAt(b, 1)
		set32(b[at:], math.MaxUint32)
	}), "segment 2: 4294967295 extras for 64 sales"},
	{"an extra without a sale", false, in(func(b []byte) { record(b, 2, 21)[63] ^= 1 << 7 }), "more extras than its sales"},
	{"a sale without an extra", false, in(func(b []byte) { record(b, 0, 5)[63] ^= 1 << 7 }), "fewer extras than its sales"},
	{"an unknown bit of an extra", false, in(func(b []byte) { rare(b)[18] |= 4 }), "its extra is invalid"},
	{"the last byte of an extra", false, in(func(b []byte) { rare(b)[19] = 1 }), "its extra is invalid"},
	{"a currency beyond the last", false, in(func(b []byte) { record(b, 0, 5)[62] = 2 }), "transaction 6: currency 2 is not one of 2"},
	{"a rare currency beyond the last", false, in(func(b []byte) { record(b, 2, 0)[62], rare(b)[17] = 255, 9 }), "transaction 129: currency 23"},
	{"two currencies", false, in(func(b []byte) { record(b, 2, 0)[62] ^= 1 }), "transaction 129: currency 1 and extra do not fit"},
	{"made in the year 17000", false, in(func(b []byte) { record(b, 2, 21)[60] = 127 }), "transaction 150: a time"},
	{"bought in the year 17000", false, in(func(b []byte) { record(b, 0, 0)[61] = 127 }), "transaction 1: a time"},
	{"refunded before the year 1", false, in(func(b []byte) { rare(b)[7] = 255 }), "transaction 129: a time"},
	{"two sales in the wrong order", false, in(func(b []byte) {
		first := bytes.Clone(record(b, 0, 3))
		copy(record(b, 0, 3), record(b, 0, 4))
		copy(record(b, 0, 4), first)
	}), "segment 1 of 3: transaction 4 is out of order"},
	{"a sale twice in a row", false, in(func(b []byte) { copy(record(b, 0, 4), record(b, 0, 3)) }), "transaction 4 is out of order"},
	{"segments in the wrong order", false, in(func(b []byte) { record(b, 1, 0)[52], record(b, 1, 0)[53], record(b, 1, 0)[54] = 0, 0, 0 }), "segment 2 does not follow"},
	{"an id twice", false, in(func(b []byte) { record(b, 2, 3)[0] = 2 }), "transaction 2 is there twice"},
}

func TestSnapshotDamage(t *testing.T) {
	salesindex.Shrink(t)
	whole := small(t)
	for _, tc := range damages {
		t.Run(tc.name, func(t *testing.T) {
			b := tc.do(bytes.Clone(whole))
			if !tc.raw {
				salesindex.Seal(b)
			}
			if x, _, err := read(b); err == nil || x != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q, want one with %q", err, tc.want)
			}
		})
	}
	if _, _, err := read(whole); err != nil {
		t.Errorf("without damage: %v", err)
	}
}

func TestSnapshotEveryByte(t *testing.T) {
	salesindex.Shrink(t)
	whole := small(t)
	for i := range whole {
		for _, bits := range []byte{1 << (i % 8), 0xff} {
			b := bytes.Clone(whole)
			b[i] ^= bits
			if _, _, err := read(b); err == nil {
				t.Fatalf("byte %d of %d is another one by %#x and nobody sees", i, len(whole), bits)
			}
		}
		if _, _, err := read(whole[:i]); err == nil {
			t.Fatalf("%d of %d bytes are taken for all", i, len(whole))
		}
	}
}

// TestSnapshotUnreadable reads a file that ends before its stated size, and writes to a full
// disk.
func TestSnapshotUnreadable(t *testing.T) {
	salesindex.Shrink(t)
	whole := small(t)
	for _, n := range []int{0, 10, 80, 300, len(whole) - 1} {
		if _, _, err := salesindex.ReadSnapshot(bytes.NewReader(whole[:n]), int64(len(whole))); !errors.Is(err, io.EOF) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	x, _, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	for room := range whole {
		if err := x.View().WriteSnapshot(&disk{room}, header); !errors.Is(err, errFull) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
	}
	if err := x.View().WriteSnapshot(&disk{len(whole)}, header); err != nil {
		t.Error(err)
	}
}

// disk is a writer with limited room.
type disk struct{ room int }

var errFull = errors.New("the disk is full")

func (d *disk) Write(b []byte) (int, error) {
	if d.room < len(b) {
		return d.room, errFull
	}
	d.room -= len(b)
	return len(b), nil
}

func TestSaveSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	partial := path + ".partial"
	if err := os.WriteFile(partial, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{1000, 0, 300} {
		x := school(t, r, n)
		h := header
		h.Number = int64(n)
		if err := salesindex.SaveSnapshot(path, x.View(), h); err != nil {
			t.Fatal(err)
		}
		h.Sales = int64(n)
		back, got, err := load(path)
		if err != nil || got != h || back.Len() != n {
			t.Fatalf("%d sales: %v %+v", n, err, got)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("the file is %v, %v", info.Mode(), err)
		}
		if _, err := os.Stat(partial); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a temporary file stays: %v", err)
		}
	}
	if err := salesindex.SaveSnapshot(filepath.Join(path, "not a folder", "snapshot"), school(t, r, 1).View(), header); err == nil {
		t.Error("saved in a folder that is none")
	}
	// A failed write leaves the old file and no temporary one.
	b, s := salesindex.NewBuilder(), extreme(1)
	s.Currency = lyceum.Currency(strings.Repeat("x", 256))
	if err := b.Add(&s); err != nil {
		t.Fatal(err)
	}
	if err := salesindex.SaveSnapshot(path, b.Build(lyceum.Version{}).View(), header); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a currency of 256 letters: %v", err)
	}
	if x, _, err := load(path); err != nil || x.Len() != 300 {
		t.Errorf("the old snapshot: %v", err)
	}
	if _, err := os.Stat(partial); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file stays: %v", err)
	}
}

// TestSnapshotWhileWriting writes snapshots while sales are added late or changed. Each snapshot
// must contain the first n sales as they were at the same time.
func TestSnapshotWhileWriting(t *testing.T) {
	salesindex.Shrink(t)
	r := rand.New(rand.NewPCG(8, 8))
	x := salesindex.NewBuilder().Build(lyceum.Version{})
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		for id := range lyceum.TransactionID(3000) {
			s := randomSale(r, id+1, 300)
			s.FinalPrice = 0
			put(x, s)
			first := extreme(1) // its price is the number of the other sales
			first.FinalPrice, first.CreatedAt = lyceum.Minor(id+1), begin
			put(x, first)
		}
	}()
	for last := false; !last; {
		last = done.Load()
		back, _, err := read(written(t, x))
		if err != nil {
			t.Fatal(err)
		}
		all := back.Find(lyceum.TransactionFilter{}, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: 9999})
		var ids, noted int64
		for _, s := range all.All() {
			ids += int64(s.ID)
			noted = max(noted, int64(s.FinalPrice))
		}
		n := all.Total
		if ids != n*(n+1)/2 || noted != n && noted != n-1 {
			t.Fatalf("%d sales with ids that add up to %d, when %d are noted", n, ids, noted)
		}
	}
}

// FuzzReadSnapshot reads arbitrary bytes, as they are and with correct checksums. What is
// accepted must be written as it was read.
func FuzzReadSnapshot(f *testing.F) {
	salesindex.Shrink(f)
	f.Add([]byte(nil))
	f.Add(written(f, salesindex.NewBuilder().Build(lyceum.Version{})))
	whole := small(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	for _, d := range damages {
		f.Add(d.do(bytes.Clone(whole)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sealed := bytes.Clone(b)
		salesindex.Seal(sealed)
		for _, b := range [][]byte{b, sealed} {
			x, h, err := read(b)
			if err != nil {
				continue
			}
			var again bytes.Buffer
			if err := x.View().WriteSnapshot(&again, h); err != nil || !bytes.Equal(b, again.Bytes()) {
				t.Fatalf("written again it differs: %v", err)
			}
			all := x.Find(lyceum.TransactionFilter{}, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: math.MaxInt32})
			if all.Total != h.Sales || len(all.All()) != int(h.Sales) {
				t.Fatalf("%d sales of %d, the head says %d", len(all.All()), all.Total, h.Sales)
			}
			for i, s := range all.All()[:min(9, len(all.All()))] {
				same := x.Find(lyceum.TransactionFilter{UserID: lyceum.Some(s.UserID), PricingPlanID: lyceum.Some(s.PricingPlanID)}, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: math.MaxInt32})
				if len(same.All()) == 0 {
					t.Fatalf("sale %d cannot be found: %s", i, gocmp.Diff(s, same))
				}
			}
		}
	})
}
