package sqlstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// What a user has access to is found by their entitlements, and its names by keys: no table is
// read in full, however large the school is.
func TestHeldProductsAreFoundByIndexes(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	page := lyceum.Page{Number: 1, Size: 20}
	tier := lyceum.Product{Kind: lyceum.TierKind, ID: 1}
	find := func(f lyceum.HeldFilter) func() error {
		f.User = 1
		return func() error { _, err := v.FindHeld(f, page); return err }
	}
	for name, read := range map[string]func() error{
		"all":         find(lyceum.HeldFilter{}),
		"of a kind":   find(lyceum.HeldFilter{Kind: lyceum.Some(lyceum.DownloadKind)}),
		"one":         find(lyceum.HeldFilter{Kind: lyceum.Some(lyceum.CourseKind), ID: lyceum.Some[int32](1)}),
		"in a tier":   find(lyceum.HeldFilter{In: lyceum.Some(tier)}),
		"memberships": find(lyceum.HeldFilter{Kind: lyceum.Some(lyceum.TierKind), Newest: true}),
		"by name": func() error {
			_, err := v.FindNamed(1, ofMicros(0), []lyceum.Product{tier, lyceum.CourseID(1).Product()})
			return err
		},
	} {
		plan := planOf(t, store, by.statements(t, name, read)[0])
		for _, step := range plan {
			// The tables of the statement, unlike its subqueries, have these names.
			words := strings.Fields(step)
			if words[0] == "SCAN" && slices.Contains([]string{"c", "d", "b", "t", "m", "k", "e", "i", "u"}, words[1]) {
				t.Errorf("%s reads all of a table: %s\nin\n%s", name, step, strings.Join(plan, "\n"))
			}
		}
		if got := strings.Join(plan, "\n"); !strings.Contains(got, "INDEX entitlements_user (school_id=? AND user_id=?") {
			t.Errorf("%s is found by\n%s", name, got)
		}
	}
}

// The counts of products are read in one statement, whose text does not depend on the time and
// which reads no table in full.
func TestProductsAreCountedByIndexes(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	for _, kind := range []lyceum.ProductKind{lyceum.DownloadKind, lyceum.CollectionKind, lyceum.CourseKind} {
		by.seen = nil
		for at := range int64(2) {
			if _, err := v.CountProducts(kind, []int32{1, 2}, ofMicros(at)); err != nil {
				t.Fatal(err)
			}
		}
		texts := slices.Compact(slices.Clone(by.seen))
		if len(texts) != 1 {
			t.Fatalf("%s: asked %q", kind, texts)
		}
		for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(texts[0], "1"), 4) {
			if strings.HasPrefix(step[3], "SCAN") && step[3] != "SCAN h" { // h is the subquery of the holders
				t.Errorf("%s: %s", kind, step[3])
			}
		}
	}
}
