package demo

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// TestProducts checks that the catalogue has two of every noun, except for one archived course,
// and that the products of its plans, collections and tiers exist.
func TestProducts(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := New(3, 10)
	if _, err := store.CreateSchool(t.Context(), s.School, "sandbox"); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	v := store.In(t.Context(), s.School.ID)
	var named []lyceum.Product
	note := func(p lyceum.Product) error {
		named = append(named, p)
		return nil
	}
	for _, each := range []func() error{
		func() error {
			return v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, func(p *lyceum.PricingPlan) error { return note(p.Product().Value) })
		},
		func() error {
			return v.CollectionProducts.Each(v, lyceum.InclusionFilter[lyceum.ProductCollectionID]{}, func(p *lyceum.CollectionProduct) error { return note(p.Product) })
		},
		func() error {
			return v.TierProducts.Each(v, lyceum.InclusionFilter[lyceum.MembershipTierID]{}, func(p *lyceum.TierProduct) error { return note(p.Product) })
		},
	} {
		before := len(named)
		if err := each(); err != nil || len(named) < before+2 {
			t.Errorf("%d products named, %v; want two", len(named)-before, err)
		}
	}
	found, err := lyceum.FindProducts(v.Tables, v, named...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range named {
		if _, there := found[p]; !there {
			t.Errorf("there is no %s", p)
		}
	}
	count := map[string]func() (int64, error){
		"memberships": func() (int64, error) {
			l, err := v.Memberships.List(v, lyceum.ProductFilter{}, lyceum.Page{Number: 1, Size: 1})
			return l.Total, err
		},
		"tiers": func() (int64, error) {
			l, err := v.MembershipTiers.List(v, lyceum.MembershipTierFilter{}, lyceum.Page{Number: 1, Size: 1})
			return l.Total, err
		},
		"collections": func() (int64, error) {
			l, err := v.ProductCollections.List(v, lyceum.ProductFilter{}, lyceum.Page{Number: 1, Size: 1})
			return l.Total, err
		},
		"coaching": func() (int64, error) {
			l, err := v.Coaching.List(v, lyceum.ProductFilter{}, lyceum.Page{Number: 1, Size: 1})
			return l.Total, err
		},
		"archived courses": func() (int64, error) {
			l, err := v.Courses.List(v, lyceum.CourseFilter{IsArchived: lyceum.Some(true)}, lyceum.Page{Number: 1, Size: 1})
			return l.Total + 1, err
		},
	}
	for what, total := range count {
		if n, err := total(); err != nil || n < 2 {
			t.Errorf("%d %s, %v; want two", n, what, err)
		}
	}
}
