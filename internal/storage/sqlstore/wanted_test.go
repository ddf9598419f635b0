package sqlstore

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFindInAChange checks that a change finds existing rows, rows that it saved and rows that
// others saved before it, and does not look for rows that cannot exist.
func TestFindInAChange(t *testing.T) {
	var looked atomic.Int64
	trace := func(text string) {
		if strings.Contains(text, "FROM coupons") {
			looked.Add(1)
		}
	}
	bothEngines(t, Options{Trace: trace}, func(t *testing.T, s *Store) {
		school := storetest.MakeSchool(t, s)
		coupons := func(from, to int32) (ids []lyceum.CouponID) {
			for id := from; id <= to; id++ {
				ids = append(ids, lyceum.CouponID(id))
			}
			return ids
		}
		saved := func(ids []lyceum.CouponID) (rows []lyceum.Coupon) {
			for _, id := range ids {
				rows = append(rows, lyceum.Coupon{ID: id})
			}
			return rows
		}
		find := func(tx lyceum.Tx, ids []lyceum.CouponID) (found []lyceum.CouponID, err error) {
			kept, err := tx.Coupons.Find(tx, ids...)
			return slices.Sorted(maps.Keys(kept)), err
		}

		storetest.Write(t, s, school, func(tx lyceum.Tx) error { return tx.Coupons.Insert(tx, saved(coupons(1, 20))...) })
		looked.Store(0)
		var found, later []lyceum.CouponID
		storetest.Write(t, s, school, func(tx lyceum.Tx) (err error) {
			found, err = find(tx, coupons(21, 60))
			return err
		})
		if n := looked.Load(); n > 0 || len(found) > 0 {
			t.Errorf("%d statements looked for coupons that cannot be there; found %v", n, found)
		}
		storetest.Write(t, s, school, func(tx lyceum.Tx) (err error) {
			if found, err = find(tx, coupons(11, 60)); err != nil {
				return err
			}
			if err := tx.Coupons.Insert(tx, saved(coupons(31, 50))...); err != nil {
				return err
			}
			later, err = find(tx, coupons(11, 60))
			return err
		})
		if want := coupons(11, 20); !slices.Equal(found, want) || !slices.Equal(later, append(want, coupons(31, 50)...)) {
			t.Errorf("found %v, and %v after more were saved", found, later)
		}
	})
}
