package salesindex

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// SnapshotHeader says what the sales of a snapshot belong to. The caller chooses Identity and
// Number: which database, and which entry of its journal is the last one whose changes the sales
// include.
type SnapshotHeader struct {
	School   lyceum.SchoolID
	Identity [32]byte
	Number   int64
	Sales    int64 // set when the snapshot is written
}

// A snapshot is a head followed by segments. Numbers are little-endian:
//
//	magic, format, school, identity, number, sales
//	count of plans, count of currencies, bytes of the currencies
//	plans in ascending order: plan, course, whether there is a course
//	currencies in the order of their codes: length, name
//	checksum of all this
//
//	per segment: count of extras, records in list order, extras in the order
//	of their records, checksum
//
// Every segment but the last has segmentRows records. Its checksum continues that of the head, so
// that it fits no other snapshot.
const (
	snapshotMagic  = "lysales\n"
	snapshotFormat = 1

	headBytes = 72 // size up to the plans
	planBytes = 9
	sumBytes  = 4
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// SaveSnapshot writes the sales of a view to a file. If the machine stops meanwhile, the file is
// either the old or the new one. There must be no concurrent saves to the same path.
func SaveSnapshot(path string, v View, h SnapshotHeader) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(v.WriteSnapshot(file, h), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// View is an immutable view of the sales in an index.
type View struct{ version *version }

// View returns a view of the current sales.
func (x *Index) View() View { return View{x.current.Load()} }

// WriteSnapshot writes the sales of a view. It neither waits for writers nor blocks them.
func (v View) WriteSnapshot(w io.Writer, h SnapshotHeader) error { return v.version.encode(w, h) }

func (v *version) encode(w io.Writer, h SnapshotHeader) error {
	type sale struct {
		row
		extra
	}
	names := slices.Clone(v.main.names)
	late := make([]sale, len(v.tail))
	for i, t := range v.tail {
		var err error
		if late[i].row, late[i].extra, err = encode(t, &names); err != nil {
			return err
		}
	}
	h.Sales = int64(v.main.len() + len(late))
	head, err := appendHead(nil, h, v.main.courses, names)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	s := newSegmentWriter(w, le.Uint32(head[len(head)-sumBytes:]))
	for _, b := range v.main.blocks {
		for o := range b.n {
			r := v.main.row(b.handle(o))
			for ; len(late) > 0 && late[0].key().compare(r.key()) < 0; late = late[1:] {
				s.add(&late[0].row, &late[0].extra)
			}
			var x *extra
			if r.flags&hasExtra != 0 {
				x = v.main.extra(b.handle(o))
			}
			s.add(r, x)
		}
	}
	for i := range late {
		s.add(&late[i].row, &late[i].extra)
	}
	return s.close()
}

func appendHead(
	b []byte, h SnapshotHeader, courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID], names currencies,
) ([]byte, error) {
	var named []byte
	for _, name := range names {
		if len(name) > math.MaxUint8 {
			return nil, fmt.Errorf("currency %.20q… is too long for a snapshot", name)
		}
		named = append(append(named, uint8(len(name))), name...)
	}
	b = append(b, snapshotMagic...)
	b = le.AppendUint32(b, snapshotFormat)
	b = le.AppendUint32(b, uint32(h.School))
	b = append(b, h.Identity[:]...)
	b = le.AppendUint64(b, uint64(h.Number))
	b = le.AppendUint32(b, uint32(h.Sales))
	b = le.AppendUint32(b, uint32(len(courses)))
	b = le.AppendUint32(b, uint32(len(names)))
	b = le.AppendUint32(b, uint32(len(named)))
	for _, plan := range slices.Sorted(maps.Keys(courses)) {
		course := courses[plan]
		b = le.AppendUint32(b, uint32(plan))
		b = le.AppendUint32(b, uint32(course.Value))
		b = append(b, 0)
		if course.Present {
			b[len(b)-1] = 1
		}
	}
	b = append(b, named...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// ReadSnapshot builds an index from the output of WriteSnapshot. It fails if the snapshot is
// damaged, and never allocates more memory than the size of the file justifies.
func ReadSnapshot(r io.ReaderAt, size int64) (*Index, SnapshotHeader, error) {
	s := snapshot{r: r, size: size}
	x, err := s.index()
	if err != nil {
		return nil, SnapshotHeader{}, fmt.Errorf("snapshot: %w", err)
	}
	return x, s.header, nil
}

// ReadSnapshotHeader returns the header of a snapshot, and reads nothing after the head.
func ReadSnapshotHeader(r io.ReaderAt, size int64) (SnapshotHeader, error) {
	s := snapshot{r: r, size: size}
	if _, err := s.readHead(); err != nil {
		return SnapshotHeader{}, fmt.Errorf("snapshot: head: %w", err)
	}
	return s.header, nil
}

// snapshot is a file that is being read.
type snapshot struct {
	r       io.ReaderAt
	size    int64
	header  SnapshotHeader
	courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
	rows    rowTable
	sum     uint32 // checksum of the head
}

func (s *snapshot) index() (*Index, error) {
	at, err := s.readHead()
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	segments, err := s.locate(at)
	if err != nil {
		return nil, err
	}
	s.rows = makeRows(uint32(s.header.Sales), s.rows.names)
	errs := make([]error, len(segments))
	spread(len(segments), func() func(int) {
		var memory []byte
		return func(i int) {
			if memory, errs[i] = s.readSegment(segments[i], memory); errs[i] != nil {
				errs[i] = fmt.Errorf("segment %d of %d: %w", i+1, len(segments), errs[i])
			}
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for i, g := range segments[min(1, len(segments)):] {
		if s.rows.key(g.first-1).compare(s.rows.key(g.first)) >= 0 {
			return nil, fmt.Errorf("segment %d does not follow the one before", i+2)
		}
	}
	return assemble(s.rows, s.courses, nil)
}

// readHead returns the offset at which the segments begin.
func (s *snapshot) readHead() (int64, error) {
	b, err := s.read(nil, 0, headBytes)
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(b, []byte(snapshotMagic)) {
		return 0, errors.New("this is not a sales index snapshot")
	}
	if format := le.Uint32(b[8:]); format != snapshotFormat {
		return 0, fmt.Errorf("its format is %d, not %d", format, snapshotFormat)
	}
	plans, names, named := int64(le.Uint32(b[60:])), int(le.Uint32(b[64:])), int64(le.Uint32(b[68:]))
	end := headBytes + planBytes*plans + named + sumBytes
	if b, err = s.read(b, 0, end); err != nil {
		return 0, err
	}
	s.sum = le.Uint32(b[end-sumBytes:])
	if crc32.Checksum(b[:end-sumBytes], castagnoli) != s.sum {
		return 0, errors.New("its checksum is wrong")
	}
	s.header = SnapshotHeader{
		School: lyceum.SchoolID(le.Uint32(b[12:])), Number: int64(le.Uint64(b[48:])),
		Sales: int64(le.Uint32(b[56:])),
	}
	copy(s.header.Identity[:], b[16:])
	b = b[headBytes : end-sumBytes]
	if err := s.readPlans(b[:planBytes*plans]); err != nil {
		return 0, err
	}
	return end, s.readNames(b[planBytes*plans:], names)
}

func (s *snapshot) readPlans(b []byte) error {
	s.courses = make(map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID], len(b)/planBytes)
	last := int64(math.MinInt64)
	for ; len(b) > 0; b = b[planBytes:] {
		plan, present := int32(le.Uint32(b)), b[8]
		if int64(plan) <= last || present > 1 {
			return fmt.Errorf("plan %d is invalid at this position", plan)
		}
		last = int64(plan)
		s.courses[lyceum.PricingPlanID(plan)] = lyceum.Opt[lyceum.CourseID]{
			Value:   lyceum.CourseID(le.Uint32(b[4:])),
			Present: present == 1,
		}
	}
	return nil
}

func (s *snapshot) readNames(b []byte, n int) error {
	for len(b) > 0 && len(b) > int(b[0]) {
		s.rows.names = append(s.rows.names, lyceum.Currency(b[1:1+b[0]]))
		b = b[1+b[0]:]
	}
	if len(b) > 0 || len(s.rows.names) != n {
		return fmt.Errorf("%d currencies do not fill their space", n)
	}
	return nil
}

// read returns n bytes of the file, reusing b if it is large enough.
func (s *snapshot) read(b []byte, at, n int64) ([]byte, error) {
	if at+n > s.size {
		return b, fmt.Errorf("the file has %d bytes and should have %d or more", s.size, at+n)
	}
	b = slices.Grow(b[:0], int(n))[:n]
	if read, err := s.r.ReadAt(b, at); read < len(b) {
		return b, err
	}
	return b, nil
}
