package learning_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// members is the number of users who hold something: more than one read returns.
const members = 2*lyceum.MaxUsers + 76

var (
	collection1 = lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
	tier1       = lyceum.Product{Kind: lyceum.TierKind, ID: 1}
)

// engines opens a store of each engine.
func engines(t *testing.T, o sqlstore.Options) map[string]lyceum.Store {
	t.Helper()
	sqlite, e1 := sqlstore.Open(t.Context(), t.TempDir(), o)
	postgres, e2 := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), o)
	if err := errors.Join(e1, e2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = sqlite.Close(), postgres.Close() })
	return map[string]lyceum.Store{"SQLite": sqlite, "PostgreSQL": postgres}
}

// newMembers makes a school with collection 1, which has courses 1 and 2, and tier 1, which has
// the collection, course 3 and course 2 a second time. What a user holds depends on their id.
func newMembers(t *testing.T, store lyceum.Store) *holders {
	t.Helper()
	h := &holders{store: store, clock: storetest.NewClock(storetest.Begin.Add(time.Hour)), many: members}
	h.service = learning.New(store, h.clock.Now)
	h.school = storetest.MakeSchool(t, store)
	at, soon := storetest.Begin, lyceum.Some(storetest.Begin.Add(48*time.Hour))
	storetest.Write(t, store, h.school, func(tx lyceum.Tx) error {
		if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		for id := lyceum.CourseID(1); id <= 3; id++ {
			if _, err := tx.Courses.Save(tx, lyceum.Course{ID: id, Name: fmt.Sprint("Course ", id), CreatedAt: at, UpdatedAt: at}); err != nil {
				return err
			}
			if id < 3 {
				if _, err := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: lyceum.CollectionProductID(id), In: 1, Product: id.Product(), CreatedAt: at}); err != nil {
					return err
				}
			}
		}
		var users []lyceum.User
		var held []lyceum.Entitlement
		give := func(user lyceum.UserID, p lyceum.Product, ends lyceum.Opt[time.Time]) {
			held = append(held, lyceum.Entitlement{ID: lyceum.EntitlementID(len(held) + 1), User: user, Product: p, StartsAt: at, EndsAt: ends})
		}
		none := lyceum.None[time.Time]()
		for id := lyceum.UserID(1); id <= members; id++ {
			users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("user%d@example.com", id), Role: lyceum.Student, CreatedAt: at})
			switch id % 7 {
			case 0:
				give(id, collection1, none)
			case 1:
				give(id, tier1, none)
			case 2:
				give(id, tier1, none)
				give(id, collection1, soon)
			case 3:
				give(id, collection1, none)
				give(id, lyceum.CourseID(1).Product(), soon)
			case 4:
				give(id, tier1, soon)
				give(id, lyceum.CourseID(1).Product(), none)
			case 5:
				give(id, collection1, lyceum.Some(at.Add(time.Minute))) // already over
			}
		}
		var blocked []lyceum.Block
		for id := lyceum.UserID(1); id <= members; id += 49 { // these are members
			blocked = append(blocked, lyceum.Block{ID: lyceum.BlockID(id), User: id, Product: lyceum.CourseID(1).Product(), CreatedAt: at})
		}
		for id := lyceum.UserID(8); id <= members; id += 98 { // these are members, too
			blocked = append(blocked, lyceum.Block{ID: lyceum.BlockID(10_000 + id), User: id, Product: collection1, CreatedAt: at})
		}
		_, e1 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club", CreatedAt: at, UpdatedAt: at})
		_, e2 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1, CreatedAt: at, UpdatedAt: at})
		_, e3 := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 1, In: 1, Product: collection1, CreatedAt: at}, lyceum.TierProduct{ID: 2, In: 1, Product: lyceum.CourseID(3).Product(), CreatedAt: at},
			lyceum.TierProduct{ID: 3, In: 1, Product: lyceum.CourseID(2).Product(), CreatedAt: at})
		_, e4 := tx.Users.Save(tx, users...)
		_, e5 := tx.Entitlements.Save(tx, held...)
		_, e6 := tx.Blocks.Save(tx, blocked...)
		for _, err := range []error{e1, e2, e3, e4, e5, e6} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	return h
}

// spans returns the access of all users to all courses.
func (h *holders) spans(t *testing.T) map[string]lyceum.AccessSpan {
	t.Helper()
	v := h.store.In(t.Context(), h.school)
	all := map[string]lyceum.AccessSpan{}
	err := v.Access.Each(v, lyceum.EntitlementFilter{OpenAt: lyceum.Some(h.clock.Now())}, func(e *lyceum.Entitlement) error {
		key := fmt.Sprint(e.User, " ", e.Product)
		span, there := all[key]
		if e.Product.Kind == lyceum.CourseKind && (!there || e.Outlasts(span.Ends)) {
			all[key] = lyceum.AccessSpan{Open: true, Ends: e.EndsAt}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pages returns all pages of a preview as one.
func pages(t *testing.T, preview func(lyceum.Page) (lyceum.AccessPreview, error)) lyceum.AccessPreview {
	t.Helper()
	var all lyceum.AccessPreview
	for number := int32(1); ; number++ {
		p, err := preview(lyceum.Page{Number: number, Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Changes.Rows {
			if c := &p.Changes.Rows[i]; p.Users[c.User].Email != fmt.Sprintf("user%d@example.com", c.User) {
				t.Fatalf("user %d is called %q", c.User, p.Users[c.User].Email)
			}
		}
		p.Changes.Rows = append(all.Changes.Rows, p.Changes.Rows...)
		if all = p; !p.Changes.More {
			return all
		}
	}
}

// TestPreviewOfARemoval checks that all pages of a preview together list exactly what the
// removal does to access, and that this stays so once enrollments have followed.
func TestPreviewOfARemoval(t *testing.T) {
	inCollection := func(end bool) learning.Removal[lyceum.ProductCollectionID] {
		return learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery, EndAccess: end}
	}
	inTier := func(p lyceum.Product) learning.Removal[lyceum.MembershipTierID] {
		return learning.Removal[lyceum.MembershipTierID]{ProductIn: learning.ProductIn[lyceum.MembershipTierID]{In: 1, Product: p}}
	}
	for engine, store := range engines(t, sqlstore.Options{}) {
		for _, tc := range []struct {
			name    string
			preview func(*holders, lyceum.Page) (lyceum.AccessPreview, error)
			act     func(*holders) error
			from    string // which users hold what contains it, by their id modulo 7
			courses []lyceum.CourseID
		}{
			{"from a collection", func(h *holders, p lyceum.Page) (lyceum.AccessPreview, error) {
				return h.service.CollectionProducts().PreviewRemove(t.Context(), h.by(), inCollection(false), p)
			}, func(h *holders) error {
				return h.service.CollectionProducts().Remove(t.Context(), h.by(), inCollection(false))
			}, "01234", []lyceum.CourseID{1}},
			{"from a collection, ending access", func(h *holders, p lyceum.Page) (lyceum.AccessPreview, error) {
				return h.service.CollectionProducts().PreviewRemove(t.Context(), h.by(), inCollection(true), p)
			}, func(h *holders) error {
				return h.service.CollectionProducts().Remove(t.Context(), h.by(), inCollection(true))
			}, "01234", []lyceum.CourseID{1}},
			{"a collection from a tier", func(h *holders, p lyceum.Page) (lyceum.AccessPreview, error) {
				return h.service.TierProducts().PreviewRemove(t.Context(), h.by(), inTier(collection1), p)
			}, func(h *holders) error {
				return h.service.TierProducts().Remove(t.Context(), h.by(), inTier(collection1))
			}, "124", []lyceum.CourseID{1, 2}},
			{"a course from a tier", func(h *holders, p lyceum.Page) (lyceum.AccessPreview, error) {
				return h.service.TierProducts().PreviewRemove(t.Context(), h.by(), inTier(lyceum.CourseID(3).Product()), p)
			}, func(h *holders) error {
				return h.service.TierProducts().Remove(t.Context(), h.by(), inTier(lyceum.CourseID(3).Product()))
			}, "124", []lyceum.CourseID{3}},
			{"what is not there", func(h *holders, p lyceum.Page) (lyceum.AccessPreview, error) {
				return h.service.TierProducts().PreviewRemove(t.Context(), h.by(), inTier(lyceum.CourseID(1).Product()), p)
			}, func(h *holders) error {
				return h.service.TierProducts().Remove(t.Context(), h.by(), inTier(lyceum.CourseID(1).Product()))
			}, "", nil},
		} {
			t.Run(engine+", "+tc.name, func(t *testing.T) {
				h := newMembers(t, store)
				was := h.spans(t)
				said := pages(t, func(p lyceum.Page) (lyceum.AccessPreview, error) { return tc.preview(h, p) })
				if diff := cmp.Diff(was, h.spans(t)); diff != "" {
					t.Fatalf("the preview changed something:\n%s", diff)
				}
				if err := tc.act(h); err != nil {
					t.Fatal(err)
				}
				concerns := map[string]bool{} // whose access has a reason that ends
				for id := 1; id <= members; id++ {
					for _, course := range tc.courses {
						key := fmt.Sprint(id, " ", course.Product())
						shut := id%98 == 8 && course < 3 // a block of the collection keeps them out of what is in it
						concerns[key] = was[key].Open && !shut && strings.Contains(tc.from, fmt.Sprint(id%7))
					}
				}
				h.wantSaid(t, &said, was, concerns)
				h.settle(t)
				h.wantSaid(t, &said, was, concerns)
				if (said.People.Losing > 0) != (tc.from != "") {
					t.Errorf("%+v", said.People)
				}
			})
		}
	}
}

// wantSaid compares a preview with the access before and after the act, and with the users whose
// access it concerns.
func (h *holders) wantSaid(
	t *testing.T, said *lyceum.AccessPreview, was map[string]lyceum.AccessSpan, concerns map[string]bool,
) {
	t.Helper()
	want, got, is := map[string]string{}, map[string]string{}, h.spans(t)
	for key, before := range was {
		c := lyceum.AccessChange{Was: before, Is: is[key]}
		if effect := c.Effect(); effect != lyceum.AccessStays || concerns[key] {
			want[key] = fmt.Sprint(effect, " ", c.Is.Ends)
		}
	}
	people, of, stays := map[lyceum.UserID]bool{}, map[lyceum.Product]*lyceum.AccessCount{}, false
	for i := range said.Changes.Rows {
		c := &said.Changes.Rows[i]
		if stays && c.Effect() != lyceum.AccessStays {
			t.Fatalf("user %d comes after those who keep their access", c.User)
		}
		stays = c.Effect() == lyceum.AccessStays
		got[fmt.Sprint(c.User, " ", c.Product)] = fmt.Sprint(c.Effect(), " ", c.Is.Ends)
		people[c.User] = people[c.User] || !stays
		if of[c.Product] == nil {
			of[c.Product] = &lyceum.AccessCount{}
		}
		of[c.Product].Add(!stays, false)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-act +preview):\n%s", diff)
	}
	var counted lyceum.AccessCount
	for _, loses := range people {
		counted.Add(loses, false)
	}
	if said.People != counted || int64(len(said.Changes.Rows)) != said.Changes.Total {
		t.Errorf("%+v in %d rows; the preview counts %+v and %d", counted, len(said.Changes.Rows), said.People, said.Changes.Total)
	}
	for n, p := range said.Products {
		if of[p.Product] == nil || *of[p.Product] != p.AccessCount || said.Names[p.Product].Name != fmt.Sprint("Course ", p.Product.ID) {
			t.Errorf("of %s, called %q, the preview counts %+v, and names %+v", p.Product, said.Names[p.Product].Name, p.AccessCount, of[p.Product])
		}
		if n > 0 && said.Products[n-1].Product.ID >= p.Product.ID {
			t.Errorf("%s comes too late", p.Product)
		}
	}
	if len(said.Products) != len(of) {
		t.Errorf("%d products, want %d", len(said.Products), len(of))
	}
}

func TestPreviewOfARemovalRefuses(t *testing.T) {
	h := newHolders(t, 1)
	for _, q := range []learning.ProductIn[lyceum.ProductCollectionID]{{In: 9, Product: pottery.Product}, {In: 1, Product: lyceum.CourseID(9).Product()}} {
		r := learning.Removal[lyceum.ProductCollectionID]{ProductIn: q}
		_, foreseen := h.service.CollectionProducts().PreviewRemove(t.Context(), h.by(), r, lyceum.Page{Number: 1, Size: 1})
		happened := h.service.CollectionProducts().Remove(t.Context(), h.by(), r)
		if lyceum.KindOf(happened) != lyceum.NotFound || foreseen == nil || foreseen.Error() != happened.Error() {
			t.Errorf("%+v: foreseen %v, happened %v", q, foreseen, happened)
		}
	}
}
