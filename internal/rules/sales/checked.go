package sales

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// checkedIDs are the users and pricing plans that a check found. They need no second look:
// neither is ever deleted, and the store refuses a transaction without them.
type checkedIDs map[lyceum.Sequence]*roaring.Bitmap

// besides asks only for the ids that are not in c.
func (c checkedIDs) besides(known knower) knower {
	return func(seq lyceum.Sequence, ids []int32) (found []int32, err error) {
		var open []int32
		for _, id := range ids {
			if checked := c[seq]; checked != nil && checked.Contains(uint32(id)) {
				found = append(found, id)
			} else {
				open = append(open, id)
			}
		}
		if len(open) == 0 {
			return found, nil
		}
		others, err := known(seq, open)
		return append(found, others...), err
	}
}

// keep adds what is found.
func (c checkedIDs) keep(known knower) knower {
	return func(seq lyceum.Sequence, ids []int32) ([]int32, error) {
		found, err := known(seq, ids)
		if c[seq] == nil {
			c[seq] = roaring.New()
		}
		for _, id := range found {
			c[seq].Add(uint32(id))
		}
		return found, err
	}
}

// savedSales are sales of which an import knows what its next batch would ask: they are
// there, none is dated after until, and none is released. That holds while the journal
// of the school ends with last, because every change of a sale has an entry.
type savedSales struct {
	ids   *roaring.Bitmap
	until time.Time
	last  int64
}

// asOf returns what is known where the journal ends with last.
func (s *savedSales) asOf(last int64) *savedSales {
	if s != nil && s.last == last {
		return s
	}
	return &savedSales{ids: roaring.New()}
}

// has reports whether a sale is known that the payments of a batch do not date back.
func (s *savedSales) has(of *batchSale) bool {
	return !of.first.CreatedAt.Before(s.until) && s.ids.Contains(uint32(of.first.SaleID))
}

// take takes over what is known of the sales of a batch with which the journal ends.
func (s *savedSales) take(batch []batchSale, last int64) *savedSales {
	for i := range batch {
		of := &batch[i]
		if of.released {
			s.ids.Remove(uint32(of.first.SaleID))
			continue
		}
		s.ids.Add(uint32(of.first.SaleID))
		if of.first.CreatedAt.After(s.until) {
			s.until = of.first.CreatedAt
		}
	}
	s.last = last
	return s
}
