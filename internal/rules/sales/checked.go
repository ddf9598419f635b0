package sales

import (
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// checkedIDs are the users and pricing plans that a check found. They need not be checked
// again: neither is ever deleted, and the store rejects a transaction without them.
type checkedIDs map[lyceum.Sequence]*roaring.Bitmap

// besides returns a knower that queries only the ids that are not in c.
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

// keep returns a knower that adds to c what it finds.
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

// savedSales are sales about which an import already has what its next batch would query: they
// exist, none is dated after until, and none is released. This stays true while the school's
// journal ends with last, because every change of a sale has an entry.
type savedSales struct {
	ids   *roaring.Bitmap
	until time.Time
	last  int64
}

// asOf returns the sales that are known if the journal ends with last.
func (s *savedSales) asOf(last int64) *savedSales {
	if s != nil && s.last == last {
		return s
	}
	return &savedSales{ids: roaring.New()}
}

// has reports whether a sale is known and not dated back by the payments of a batch.
func (s *savedSales) has(of *batchSale) bool {
	return !of.first.CreatedAt.Before(s.until) && s.ids.Contains(uint32(of.first.SaleID))
}

// take adds the sales of a batch, and removes those with payments that it updated or took away,
// which may be released now; last is the last entry of the journal after it.
func (s *savedSales) take(batch []batchSale, updated []lyceum.SaleID, last int64) *savedSales {
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
	for _, id := range updated {
		s.ids.Remove(uint32(id))
	}
	s.last = last
	return s
}
