package learning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// bundle is a school with courses 1 to 3, where course 3 is archived, download 1,
// coaching 1, collection 1 of courses 1 and 2, and tier 1 of that collection.
type bundle struct {
	store   lyceum.Store
	school  lyceum.SchoolID
	clock   *storetest.Clock
	service *learning.Service
}

var (
	whole = lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
	gold  = lyceum.Product{Kind: lyceum.TierKind, ID: 1}
	chart = lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}
	talk  = lyceum.Product{Kind: lyceum.CoachingKind, ID: 1}
	first = lyceum.CourseID(1).Product()
	other = lyceum.CourseID(2).Product()
)

func onBothEngines(t *testing.T, test func(*testing.T, *bundle)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (lyceum.Store, error){
		"SQLite": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		},
		"PostgreSQL": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			test(t, newBundle(t, store))
		})
	}
}

func newBundle(t *testing.T, store lyceum.Store) *bundle {
	t.Helper()
	b := &bundle{store: store, clock: storetest.NewClock(storetest.Begin.Add(time.Hour))}
	b.service = learning.New(store, b.clock.Now)
	b.school = storetest.MakeSchool(t, store)
	at := storetest.Begin
	storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: at, UpdatedAt: at},
			lyceum.Course{ID: 2, Name: "Glass", CreatedAt: at, UpdatedAt: at},
			lyceum.Course{ID: 3, Name: "Felt", CreatedAt: at, UpdatedAt: at, ArchivedAt: lyceum.Some(at)})
		if err != nil {
			return err
		}
		if _, err := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Chart", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "Talk", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Whole", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1, CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		for i, p := range []lyceum.Product{first, other} {
			if _, err := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: lyceum.CollectionProductID(i + 1), In: 1, Product: p, CreatedAt: at}); err != nil {
				return err
			}
		}
		if _, err := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 1, In: 1, Product: whole, CreatedAt: at}); err != nil {
			return err
		}
		_, err = tx.Users.Save(tx, lyceum.User{ID: 1, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: at})
		return err
	})
	return b
}

func (b *bundle) by() lyceum.By { return lyceum.By{School: b.school, Actor: "test"} }

func (b *bundle) give(t *testing.T, p lyceum.Product, lasts time.Duration) {
	t.Helper()
	gift := learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: p}}
	if lasts > 0 {
		gift.EndsAt = lyceum.Some(b.clock.Now().Add(lasts))
	}
	if _, err := b.service.Give(t.Context(), b.by(), gift); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) end(t *testing.T, p lyceum.Product) {
	t.Helper()
	if err := b.service.Unenroll(t.Context(), b.by(), learning.UserProduct{User: 1, Product: p}); err != nil {
		t.Fatal(err)
	}
}

// want checks what the user may use, and why, such as "course 1: open: manual through Whole".
// The enrollments must agree.
func (b *bundle) want(t *testing.T, step string, want ...string) {
	t.Helper()
	listing, err := b.service.Access(t.Context(), b.by(), 1, lyceum.Page{Number: 1, Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range listing.Rows {
		got = append(got, b.said(h))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant\n  %s", step, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if findings, err := b.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("%s: check: %v, %v", step, findings, err)
	}
}

func (b *bundle) said(h learning.HeldProduct) string {
	text := h.Product.String() + ": "
	switch {
	case h.BlockedAt.Present:
		text += "blocked"
	case !h.HasAccess:
		text += "closed"
	case h.EndsAt.Present:
		text += fmt.Sprintf("open for %s", h.EndsAt.Value.Sub(b.clock.Now()))
	default:
		text += "open"
	}
	for _, r := range h.Reasons {
		text += "; " + string(r.Kind())
		if r.Through.Present {
			text += " through " + r.Through.Value.Name
		}
		if r.Left.Present {
			text += " left by " + r.Left.Value.Name
		}
		switch {
		case !r.Active:
			text += " ended " + string(r.EndReason.Value)
		case r.Blocked:
			text += " blocked"
		}
	}
	return text
}

// TestWhy checks that every reason is listed, and that the resulting access agrees with the
// union of the entitlements and the blocks.
func TestWhy(t *testing.T) {
	onBothEngines(t, func(t *testing.T, b *bundle) {
		b.want(t, "nothing")
		b.give(t, first, 48*time.Hour)
		b.want(t, "a gift", "course 1: open for 48h0m0s; manual")
		b.clock.Pass(time.Hour)
		b.give(t, whole, 0)
		b.want(t, "a collection", "course 1: open; manual through Whole; manual", "course 2: open; manual through Whole",
			"product collection 1: open; manual")
		b.end(t, first)
		b.want(t, "a course that also comes with a collection", "course 1: blocked; manual through Whole blocked; manual ended unenrolled",
			"course 2: open; manual through Whole", "product collection 1: open; manual")
		b.end(t, first)
		b.clock.Pass(time.Hour)
		b.give(t, first, 0)
		b.want(t, "a gift lifts the block", "course 1: open; manual; manual through Whole; manual ended unenrolled",
			"course 2: open; manual through Whole", "product collection 1: open; manual")
		b.clock.Pass(time.Hour)
		b.give(t, gold, 72*time.Hour)
		b.end(t, whole)
		b.want(t, "a collection that also comes with a tier", "course 1: open; manual through Gold blocked; manual; manual through Whole ended unenrolled; manual ended unenrolled",
			"course 2: closed; manual through Gold blocked; manual through Whole ended unenrolled",
			"product collection 1: blocked; manual through Gold blocked; manual ended unenrolled", "membership tier 1: open for 72h0m0s; manual")
		b.clock.Pass(time.Hour)
		b.give(t, whole, time.Hour)
		b.want(t, "a gift lifts its block", "course 1: open; manual through Whole; manual through Gold; manual; manual through Whole ended unenrolled; manual ended unenrolled",
			"course 2: open for 71h0m0s; manual through Whole; manual through Gold; manual through Whole ended unenrolled",
			"product collection 1: open for 71h0m0s; manual; manual through Gold; manual ended unenrolled", "membership tier 1: open for 71h0m0s; manual")
		b.end(t, whole)
		b.end(t, other) // the user had it with what is blocked
		b.end(t, gold)
		b.end(t, first)
		for _, h := range b.held(t) {
			if h.HasAccess {
				t.Errorf("after all has ended: %s", b.said(h))
			}
		}
	})
}

func (b *bundle) held(t *testing.T) []learning.HeldProduct {
	t.Helper()
	listing, err := b.service.Access(t.Context(), b.by(), 1, lyceum.Page{Number: 1, Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	return listing.Rows
}

// TestUnenrollFromEveryKind gives and ends access to products of every kind.
func TestUnenrollFromEveryKind(t *testing.T) {
	onBothEngines(t, func(t *testing.T, b *bundle) {
		for _, p := range []lyceum.Product{first, chart, whole, gold, talk} {
			never := b.service.Unenroll(t.Context(), b.by(), learning.UserProduct{User: 1, Product: p})
			if lyceum.KindOf(never) != lyceum.NotFound {
				t.Errorf("%s: never enrolled: %v", p, never)
			}
			b.give(t, p, 0)
			b.end(t, p)
			b.end(t, p)
			one, err := b.service.AccessTo(t.Context(), b.by(), learning.UserProduct{User: 1, Product: p})
			if err != nil || one.HasAccess || one.Reasons[0].EndReason != lyceum.Some(lyceum.EndedByUnenrollment) {
				t.Errorf("%s: %+v, %v", p, one, err)
			}
		}
	})
}

func TestGiftsRefused(t *testing.T) {
	rows := []struct {
		name string
		gift learning.Gift
		want string
	}{
		{"an archived product", learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: lyceum.CourseID(3).Product()}}, "product_id 3 names a course that is archived"},
		{"an unknown product", learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: lyceum.Product{Kind: lyceum.TierKind, ID: 9}}}, "product_id 9 matches no membership tier"},
		{"an unknown user", learning.Gift{UserProduct: learning.UserProduct{User: 9, Product: first}}, "user_id 9 matches no user"},
		{"an end in the past", learning.Gift{UserProduct: learning.UserProduct{User: 1, Product: first}, EndsAt: lyceum.Some(storetest.Begin)}, "ends_at must be in the future"},
	}
	onBothEngines(t, func(t *testing.T, b *bundle) {
		for _, row := range rows {
			if _, err := b.service.Give(t.Context(), b.by(), row.gift); lyceum.KindOf(err) != lyceum.Invalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, want %q", row.name, err, row.want)
			}
		}
		if held := b.held(t); len(held) > 0 {
			t.Errorf("refused gifts left %v", held)
		}
	})
}
