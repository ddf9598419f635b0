package learning_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestACodeIsTakenByABadRow imports coupons that exchange their codes, of which one cannot be
// imported: it keeps its code, so no other coupon may get that code.
func TestACodeIsTakenByABadRow(t *testing.T) {
	t.Parallel()
	coupon := func(id lyceum.CouponID, code string, change ...func(*lyceum.Coupon)) lyceum.Coupon {
		c := lyceum.Coupon{ID: id, Code: lyceum.Some(code), Percent: lyceum.Some(0.5)}
		for _, do := range change {
			do(&c)
		}
		return c
	}
	bad := func(c *lyceum.Coupon) { c.Amount = lyceum.Some(lyceum.Minor(5)) }
	for _, test := range []struct {
		name string
		file []lyceum.Coupon
		want map[lyceum.CouponID]string
	}{
		{"both are good", []lyceum.Coupon{coupon(2, "x"), coupon(1, "y")}, map[lyceum.CouponID]string{1: "y", 2: "x"}},
		{"the other is bad", []lyceum.Coupon{coupon(2, "x"), coupon(1, "z", bad)}, map[lyceum.CouponID]string{1: "X", 2: "Y"}},
		{"the other's new code is taken", []lyceum.Coupon{coupon(2, "x"), coupon(1, "W")}, map[lyceum.CouponID]string{1: "X", 2: "Y"}},
		{"one after the other", []lyceum.Coupon{coupon(3, "y"), coupon(2, "x"), coupon(1, "z", bad)}, map[lyceum.CouponID]string{1: "X", 2: "Y", 3: "W"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newClassroom(t)
			by := lyceum.By{School: d.school, Actor: "test"}
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
				_, err := tx.Coupons.Save(tx, coupon(1, "X"), coupon(2, "Y"), coupon(3, "W"))
				return err
			})
			if _, _, err := d.service.ImportCoupons(by).Save(t.Context(), test.file); err != nil {
				t.Fatal(err)
			}
			v := d.store.In(t.Context(), d.school)
			kept, err := v.Coupons.Find(v, 1, 2, 3)
			if err != nil {
				t.Fatal(err)
			}
			for id, code := range test.want {
				if got := kept[id].Code.Value; got != code {
					t.Errorf("coupon %d has the code %q, want %q", id, got, code)
				}
			}
		})
	}
}
