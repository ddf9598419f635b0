package sqlstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// When SQLite distributes the rows of a full page, it leaves the old bytes of the rows that it
// moves in what is then the unused part of the page. secure_delete overwrites a deleted row only
// where it is stored, not in such leftovers.

// pagesAtOnce is how many pages of a SQLite file are read or changed at a time.
const pagesAtOnce = 256

const (
	pagesText = "WITH RECURSIVE n (pgno) AS (SELECT $1 UNION ALL SELECT pgno + 1 FROM n WHERE pgno < $2) " +
		"SELECT p.pgno, p.data FROM n CROSS JOIN sqlite_dbpage p WHERE p.pgno = n.pgno"
	setPageText = "UPDATE sqlite_dbpage SET data = $2 WHERE pgno = $1"
)

// overwriteUnused overwrites the unused parts of the pages of a SQLite file with zeros. It reads
// the whole file, and blocks other writers for a few milliseconds at a time. Meanwhile no page is
// moved, because one that was not read yet could be moved to a place that was.
func (s *Store) overwriteUnused(ctx context.Context) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	return s.reading(ctx, func(q reading) error {
		var layout pageLayout
		for first, more := int64(1), true; more; first += pagesAtOnce {
			more = false
			var dirty []int64
			err := eachPage(q, first, first+pagesAtOnce-1, func(number int64, page []byte) error {
				if number == 1 {
					layout = layoutOf(page)
				}
				if more = true; !blank(layout.unused(number, page)) {
					dirty = append(dirty, number)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("read pages from %d on: %w", first, err)
			}
			if err := s.blankPages(ctx, layout, dirty); err != nil {
				return err
			}
		}
		return nil
	})
}

// blankPages overwrites the unused parts of some pages with zeros.
func (s *Store) blankPages(ctx context.Context, layout pageLayout, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	begin := time.Now()
	err := s.write(ctx, 0, func(q *session) error {
		for _, number := range numbers {
			var blanked []byte
			err := eachPage(q, number, number, func(_ int64, page []byte) error {
				if unused := layout.unused(number, page); !blank(unused) {
					clear(unused)
					blanked = page
				}
				return nil
			})
			if err == nil && blanked != nil {
				err = q.exec(setPageText, number, blanked)
			}
			if err != nil {
				return fmt.Errorf("overwrite what is unused of page %d: %w", number, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-time.After(sweepRest * time.Since(begin)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// eachPage calls visit with the existing pages of a SQLite file from first to last.
func eachPage(q reading, first, last int64, visit func(number int64, page []byte) error) error {
	var number int64
	var page valueColumn
	return q.each(pagesText, []any{first, last}, []any{scanInt(&number), &page}, func() error {
		data, is := page.value.([]byte)
		if !is {
			return wrong(page.value, "bytes")
		}
		return visit(number, data)
	})
}

// pageLayout is what the header of a SQLite file says about its pages; see
// https://sqlite.org/fileformat2.html.
type pageLayout struct {
	usable int  // usable bytes of a page
	mapped bool // some pages are pointer maps
}

const (
	fileHeader  = 100     // bytes of the file header, at the beginning of the first page
	lockedBytes = 1 << 30 // offset of the lock-byte page, which is never used
)

// layoutOf reads the layout from the first page.
func layoutOf(first []byte) pageLayout {
	return pageLayout{len(first) - int(first[20]), binary.BigEndian.Uint32(first[52:]) != 0}
}

// unused returns the unused part of a page between its cell pointers and its rows, or nil if the
// page does not belong to a table or an index.
func (l pageLayout) unused(number int64, page []byte) []byte {
	if l.isMap(number, len(page)) {
		return nil
	}
	at := 0
	if number == 1 {
		at = fileHeader
	}
	header := page[at:]
	list := at + 8
	switch header[0] {
	case 2, 5:
		list += 4 // interior pages also have a right-most pointer
	case 10, 13:
	default:
		return nil
	}
	rows := int(binary.BigEndian.Uint16(header[3:]))
	begin, end := list+2*rows, int(binary.BigEndian.Uint16(header[5:]))
	if end == 0 {
		end = 1 << 16
	}
	if begin > end || end > l.usable {
		return nil
	}
	for place := page[list:begin]; len(place) > 0; place = place[2:] {
		if of := int(binary.BigEndian.Uint16(place)); of < end || of >= l.usable {
			return nil // an overflow page whose text happens to look like the header of a page with rows
		}
	}
	return page[begin:end]
}

// isMap reports whether a page is a pointer map.
func (l pageLayout) isMap(number int64, size int) bool {
	if !l.mapped || number < 2 {
		return false
	}
	each := int64(l.usable/5 + 1)
	of := (number-2)/each*each + 2
	if of == int64(lockedBytes/size+1) {
		of++
	}
	return number == of
}

var zeros [1 << 16]byte

func blank(part []byte) bool { return bytes.Equal(part, zeros[:len(part)]) }
