package salesindex

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// segmentRows is how many records a segment has, a multiple of pageRows. It is part of the
// format; tests lower it.
var segmentRows uint32 = 1 << 16

// countBytes is the size of the number of extras at the beginning of a segment.
const countBytes = 4

// segmentWriter writes records in segments.
type segmentWriter struct {
	w       io.Writer
	sum     uint32 // checksum of the head
	rows    uint32
	rare    uint32
	records []byte // after space for the count
	extras  []byte
	err     error // the first error
}

func newSegmentWriter(w io.Writer, sum uint32) *segmentWriter {
	return &segmentWriter{w: w, sum: sum, records: make([]byte, countBytes)}
}

// add adds a row; x is ignored unless the row has an extra.
func (s *segmentWriter) add(r *row, x *extra) {
	s.records = r.append(s.records)
	if r.flags&hasExtra != 0 {
		s.extras = x.append(s.extras)
		s.rare++
	}
	if s.rows++; s.rows == segmentRows {
		s.flush()
	}
}

func (s *segmentWriter) flush() {
	le.PutUint32(s.records, s.rare)
	s.records = append(s.records, s.extras...)
	s.records = le.AppendUint32(s.records, crc32.Update(s.sum, castagnoli, s.records))
	if s.err == nil {
		_, s.err = s.w.Write(s.records)
	}
	s.records, s.extras, s.rows, s.rare = s.records[:countBytes], s.extras[:0], 0, 0
}

func (s *segmentWriter) close() error {
	if s.rows > 0 {
		s.flush()
	}
	return s.err
}

// segment is the location of records in a file.
type segment struct {
	at    int64
	first uint32 // handle
	rows  uint32
	rare  uint32
}

func (g segment) bytes() int64 {
	return countBytes + recordBytes*int64(g.rows) + extraBytes*int64(g.rare) + sumBytes
}

// locate finds the segments, which begin at offset at and must fill the file.
func (s *snapshot) locate(at int64) ([]segment, error) {
	sales := uint32(s.header.Sales)
	if s.size-at < recordBytes*s.header.Sales {
		return nil, fmt.Errorf("the file has %d bytes, too few for %d sales", s.size, sales)
	}
	var found []segment
	var count []byte
	for first := uint32(0); first < sales; {
		var err error
		if count, err = s.read(count, at, countBytes); err != nil {
			return nil, err
		}
		g := segment{at: at, first: first, rows: min(segmentRows, sales-first), rare: le.Uint32(count)}
		if g.rare > g.rows {
			return nil, fmt.Errorf("segment %d: %d extras for %d sales", len(found)+1, g.rare, g.rows)
		}
		found = append(found, g)
		first += g.rows
		at += g.bytes()
	}
	if at != s.size {
		return nil, fmt.Errorf("the file has %d bytes and should have %d", s.size, at)
	}
	return found, nil
}

// readSegment creates the pages of a segment. It returns the buffer for reuse.
func (s *snapshot) readSegment(g segment, memory []byte) ([]byte, error) {
	b, err := s.read(memory, g.at, g.bytes())
	if err != nil {
		return b, err
	}
	end := len(b) - sumBytes
	if crc32.Update(s.sum, castagnoli, b[:end]) != le.Uint32(b[end:]) {
		return b, errors.New("its checksum is wrong")
	}
	records := b[countBytes : countBytes+recordBytes*int(g.rows)]
	d := decoder{names: len(s.rows.names), rare: b[countBytes+len(records) : end], last: key{at: -1}}
	for h := g.first; len(records) > 0; h += pageRows {
		n := min(len(records), pageRows*recordBytes)
		p := &page{}
		if err := d.page(p, records[:n]); err != nil {
			return b, err
		}
		c := s.rows.chunks[h/chunkRows]
		c.pages[h/pageRows%chunkPages], c.extras[h/pageRows%chunkPages] = p, slices.Clone(d.extras)
		records = records[n:]
	}
	if len(d.rare) > 0 {
		return b, errors.New("it has more extras than its sales")
	}
	return b, nil
}

// decoder creates rows from the records of a segment.
type decoder struct {
	names  int    // number of currencies
	rare   []byte // remaining extras
	last   key
	extras []extra // of the page
}

func (d *decoder) page(p *page, records []byte) error {
	d.extras = d.extras[:0]
	for o := 0; len(records) > 0; o++ {
		r := &p[o]
		r.parse(records[:recordBytes])
		records = records[recordBytes:]
		var x *extra
		if r.flags&hasExtra != 0 {
			if len(d.rare) < extraBytes {
				return errors.New("it has fewer extras than its sales")
			}
			d.extras = append(d.extras, extra{offset: uint8(o)})
			x = &d.extras[len(d.extras)-1]
			if !x.parse(d.rare[:extraBytes]) {
				return fmt.Errorf("transaction %d: its extra is invalid", r.id)
			}
			d.rare = d.rare[extraBytes:]
		}
		if err := r.check(x, d.names); err != nil {
			return fmt.Errorf("transaction %d: %w", r.id, err)
		}
		if d.last.compare(r.key()) >= 0 {
			return fmt.Errorf("transaction %d is out of order", r.id)
		}
		d.last = r.key()
	}
	return nil
}
