package learning_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestPartnersOfTransactionsAreCompleted checks that coupons and affiliates known only from
// transactions stay incomplete until a change or a file completes them.
func TestPartnersOfTransactionsAreCompleted(t *testing.T) {
	d := newClassroom(t)
	by := lyceum.By{School: d.school, Actor: "test"}
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		if _, err := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 7}); err != nil {
			return err
		}
		_, err := tx.Coupons.Save(tx, lyceum.Coupon{ID: 7})
		return err
	})
	c, err := d.service.UpdateCoupon(t.Context(), by, learning.CouponChange{ID: 7, Code: lyceum.Some("SPRING"), Percent: lyceum.Some(lyceum.Some(0.5))})
	if err != nil || c.Code != lyceum.Some("SPRING") || c.Percent != lyceum.Some(0.5) || c.Scope.Present || c.CreatedAt.Present {
		t.Errorf("the coupon: %+v %v", c, err)
	}
	if c, err = d.service.UpdateCoupon(t.Context(), by, learning.CouponChange{ID: 7, Percent: lyceum.Some(lyceum.None[float64]())}); err != nil || c.Percent.Present {
		t.Errorf("without its discount: %+v %v", c, err)
	}
	row := lyceum.Coupon{ID: 7, Code: lyceum.Some("spring"), Amount: lyceum.Some(lyceum.Minor(5)), Currency: lyceum.Some(lyceum.Currency("USD")), Scope: lyceum.Some(lyceum.AllCourses)}
	if saved, problems, err := d.service.ImportCoupons(by).Save(t.Context(), []lyceum.Coupon{row}); saved.Updated != 1 || len(problems) > 0 || err != nil {
		t.Errorf("by a file: %+v %v %v", saved, problems, err)
	}
	a, err := d.service.UpdateAffiliate(t.Context(), by, learning.AffiliateChange{ID: 7, Name: lyceum.Some("Fairs"), Share: lyceum.Some(lyceum.Some(0.2))})
	if err != nil || a.Name != lyceum.Some("Fairs") || a.Share != lyceum.Some(0.2) {
		t.Errorf("the affiliate: %+v %v", a, err)
	}
}

func TestCouponsFitAndLower(t *testing.T) {
	course := &lyceum.PricingPlan{ID: 1, CourseID: lyceum.Some(lyceum.CourseID(3))}
	bundle := &lyceum.PricingPlan{ID: 2, Other: lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: 3})}
	unknown := &lyceum.PricingPlan{ID: 3}
	scope := func(s lyceum.CouponScope) lyceum.Coupon { return lyceum.Coupon{Scope: lyceum.Some(s)} }
	for _, tc := range []struct {
		name                    string
		coupon                  lyceum.Coupon
		course, bundle, unknown bool
	}{
		{"of unknown scope", lyceum.Coupon{}, true, true, true},
		{"all products", scope(lyceum.AllProducts), true, true, true},
		{"courses", scope(lyceum.AllCourses), true, false, false},
		{"collections", scope(lyceum.AllCollections), false, true, false},
		{"collections by another word", scope(lyceum.AllBundles), false, true, false},
		{"downloads", scope(lyceum.AllDownloads), false, false, false},
		{"tiers", scope(lyceum.AllTiers), false, false, false},
		{"a course", lyceum.Coupon{Product: lyceum.Some(lyceum.Product{Kind: lyceum.CourseKind, ID: 3})}, true, false, false},
		{"a bundle", lyceum.Coupon{Product: bundle.Other}, false, true, false},
		{"a plan", lyceum.Coupon{Plan: lyceum.Some(lyceum.PricingPlanID(3))}, false, false, true},
	} {
		if c, b, u := tc.coupon.Fits(course), tc.coupon.Fits(bundle), tc.coupon.Fits(unknown); c != tc.course || b != tc.bundle || u != tc.unknown {
			t.Errorf("%s: %v %v %v", tc.name, c, b, u)
		}
	}
	for _, tc := range []struct {
		percent float64
		price   lyceum.Minor
		want    lyceum.Minor
	}{
		{0.25, 1999, 1499}, {0.29, 50, 35}, {1, 2147483647, 0}, {0.0001, 1999, 1999}, {0.0001, 2147483647, 2147268899}, {0.5, 1, 0}, {0.15, 0, 0}, {1. / 3, 300, 200},
	} {
		c := lyceum.Coupon{Percent: lyceum.Some(tc.percent)}
		if got, known := c.Lower(tc.price, "USD"); got != tc.want || !known {
			t.Errorf("%v of %d: %d, want %d", tc.percent, tc.price, got, tc.want)
		}
	}
	off := lyceum.Coupon{Amount: lyceum.Some(lyceum.Minor(500)), Currency: lyceum.Some(lyceum.Currency("USD"))}
	for _, tc := range []struct {
		currency lyceum.Currency
		want     lyceum.Minor
		known    bool
	}{{"USD", 0, true}, {"EUR", 400, false}} {
		if got, known := off.Lower(400, tc.currency); got != tc.want || known != tc.known {
			t.Errorf("5 off 4 %s: %d %v", tc.currency, got, known)
		}
	}
}
