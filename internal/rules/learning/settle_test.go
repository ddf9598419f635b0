package learning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// holders is a school where many users hold collection 1, which has course 1.
type holders struct {
	store   lyceum.Store
	school  lyceum.SchoolID
	service *learning.Service
	clock   *storetest.Clock
	many    int
}

func newHolders(t *testing.T, many int) *holders {
	t.Helper()
	h := &holders{store: newDesk(t).store, clock: storetest.NewClock(storetest.Begin.Add(time.Hour)), many: many}
	h.service = learning.New(h.store, h.clock.Now)
	h.school = storetest.MakeSchool(t, h.store)
	at := storetest.Begin
	storetest.Write(t, h.store, h.school, func(tx lyceum.Tx) error {
		if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: at, UpdatedAt: at}); err != nil {
			return err
		}
		var users []lyceum.User
		var held []lyceum.Entitlement
		for id := range lyceum.UserID(many) {
			users = append(users, lyceum.User{ID: id + 1, Email: fmt.Sprintf("user%d@example.com", id), Role: lyceum.Student, CreatedAt: at})
			held = append(held, lyceum.Entitlement{ID: lyceum.EntitlementID(id + 1), User: id + 1, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}, StartsAt: at})
		}
		if _, err := tx.Users.Save(tx, users...); err != nil {
			return err
		}
		_, err := tx.Entitlements.Save(tx, held...)
		return err
	})
	return h
}

func (h *holders) by() lyceum.By { return lyceum.By{School: h.school, Actor: "test"} }

var pottery = learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.CourseID(1).Product()}

// want checks how many users have access and how many are enrolled.
func (h *holders) want(t *testing.T, step string, access, enrolled int) {
	t.Helper()
	v := h.store.In(t.Context(), h.school)
	open := map[lyceum.UserID]bool{}
	of := lyceum.EntitlementFilter{Products: []lyceum.Product{pottery.Product}, OpenAt: lyceum.Some(h.clock.Now())}
	err := v.Access.Each(v, of, func(e *lyceum.Entitlement) error { open[e.User] = true; return nil })
	if err != nil || len(open) != access {
		t.Errorf("%s: %d have access, want %d: %v", step, len(open), access, err)
	}
	list, err := v.FindEnrolled(lyceum.EnrolledFilter{Course: 1, ActiveAt: h.clock.Now()}, lyceum.Page{Number: 1, Size: 1})
	if err != nil || int(list.Total) != enrolled {
		t.Errorf("%s: %d are enrolled, want %d: %v", step, list.Total, enrolled, err)
	}
}

// leave adds course 1 to the collection, and removes it an hour later. Its holders keep it, which
// is not settled an hour after that.
func (h *holders) leave(t *testing.T) {
	t.Helper()
	collection := h.service.CollectionProducts()
	if _, err := collection.Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	h.clock.Pass(time.Hour)
	if err := collection.Remove(t.Context(), h.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery}); err != nil {
		t.Fatal(err)
	}
	h.clock.Pass(time.Hour)
}

// settle runs Settle, interrupting it after each write, until it is done.
func (h *holders) settle(t *testing.T) (interrupted int) {
	t.Helper()
	for range h.many {
		ctx, stop := context.WithCancel(t.Context())
		service := learning.New(&counted{Store: h.store, second: stop}, h.clock.Now)
		err := service.Settle(ctx, h.school)
		stop()
		if err == nil {
			return interrupted
		}
		interrupted++
	}
	t.Fatal("it never ends")
	return 0
}

// counted counts the writes to a store.
type counted struct {
	lyceum.Store

	writes int
	second func() // called before the second one
}

func (c *counted) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	if c.writes++; c.writes == 2 {
		c.second()
	}
	return c.Store.Write(ctx, stamp, change)
}

// TestSettlingLetsOthersWrite checks that a write that has taken long settles no more holders.
func TestSettlingLetsOthersWrite(t *testing.T) {
	const many = 30
	h := newHolders(t, many)
	if _, err := h.service.CollectionProducts().Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	store := &counted{Store: h.store, second: func() {}}
	slow := learning.New(store, func() time.Time {
		h.clock.Pass(4 * time.Millisecond)
		return h.clock.Now()
	})
	if err := slow.Settle(t.Context(), h.school); err != nil {
		t.Fatal(err)
	}
	h.want(t, "settled", many, many)
	if want := many/3 + 1; store.writes != want { // the last write finds nothing
		t.Errorf("%d holders took %d writes, want %d", many, store.writes, want)
	}
}

// TestHoldersFollow checks that access changes with the collection, and that enrollments and
// events follow in batches, in the order of the entitlements, whatever interrupts them.
func TestHoldersFollow(t *testing.T) {
	const many = 120
	h := newHolders(t, many)
	collection := h.service.CollectionProducts()
	if _, err := collection.Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	h.want(t, "added", many, 0)
	if n := h.settle(t); n < 3 {
		t.Errorf("%d holders took %d writes", many, n)
	}
	h.want(t, "added and settled", many, many)
	if err := collection.Remove(t.Context(), h.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery}); err != nil {
		t.Fatal(err)
	}
	h.want(t, "removed", many, many)
	h.settle(t)
	h.want(t, "kept", many, many)
	h.clock.Pass(time.Hour)
	if _, err := collection.Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	end := learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery, EndAccess: true}
	if err := collection.Remove(t.Context(), h.by(), end); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	h.want(t, "what was kept stays", many, many)
	if findings, err := h.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
	h.wantInOrder(t, lyceum.EnrollmentCreatedEvent)
}

// TestProductComesBackByAFile checks that a product cannot be imported again while the users who
// keep it after its removal are being settled.
func TestProductComesBackByAFile(t *testing.T) {
	const many = 60
	h := newHolders(t, many)
	collection := h.service.CollectionProducts()
	if _, err := collection.Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	if err := collection.Remove(t.Context(), h.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery}); err != nil {
		t.Fatal(err)
	}
	for _, problems := range []int{1, 0} {
		_, found, err := collection.Import(h.by()).Save(t.Context(), []lyceum.CollectionProduct{{In: 1, Product: pottery.Product}})
		if err != nil || len(found) != problems {
			t.Errorf("%v, %v, want %d problems", found, err, problems)
		}
		h.settle(t)
	}
	h.want(t, "imported again", many, many)
}

// TestUnenrolledBeforeItIsSettled checks that a holder keeps a product that left a collection
// even if they are unenrolled from the collection before the removal is settled.
func TestUnenrolledBeforeItIsSettled(t *testing.T) {
	const many = 3
	h := newHolders(t, many)
	h.leave(t)
	from := learning.UserProduct{User: 1, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}}
	if err := h.service.Unenroll(t.Context(), h.by(), from); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	h.want(t, "unenrolled from the collection", many, many)
}

// TestUnenrolledFromWhatLeft checks that holders who are unenrolled from a product that left a
// collection, before the removal is settled, are not blocked from it: they have it again once it
// is back in the collection.
func TestUnenrolledFromWhatLeft(t *testing.T) {
	const many = 3
	for _, tc := range []struct {
		name string
		end  func(*testing.T, *holders) error
	}{
		{"by hand", func(t *testing.T, h *holders) error {
			return h.service.Unenroll(t.Context(), h.by(), learning.UserProduct{User: 1, Product: pottery.Product})
		}},
		{"by a file", func(t *testing.T, h *holders) error {
			row := lyceum.Enrollment{User: 1, Course: 1, EnrolledAt: storetest.Begin, EndedAt: lyceum.Some(h.clock.Now())}
			_, problems, err := h.service.ImportEnrollments(h.by()).Save(t.Context(), []lyceum.Enrollment{row})
			if len(problems) > 0 {
				t.Error(problems)
			}
			return err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHolders(t, many)
			h.leave(t)
			if err := tc.end(t, h); err != nil {
				t.Fatal(err)
			}
			h.want(t, "unenrolled", many-1, many-1)
			if _, err := h.service.CollectionProducts().Add(t.Context(), h.by(), pottery); err != nil {
				t.Fatal(err)
			}
			h.settle(t)
			h.want(t, "back in the collection", many, many)
		})
	}
}

// TestHoldersLose checks that access that ends with the removal ends immediately, and that this
// is announced once for each holder.
func TestHoldersLose(t *testing.T) {
	const many = 60
	h := newHolders(t, many)
	collection := h.service.CollectionProducts()
	if _, err := collection.Add(t.Context(), h.by(), pottery); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	end := learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery, EndAccess: true}
	for range 2 { // the second time changes nothing
		if err := collection.Remove(t.Context(), h.by(), end); err != nil {
			t.Fatal(err)
		}
	}
	h.want(t, "removed", 0, many)
	h.settle(t)
	h.want(t, "removed and settled", 0, 0)
	h.wantInOrder(t, lyceum.EnrollmentDisabledEvent)
	if findings, err := h.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// TestHoldersKeepWhatComesBack adds a product again before all users who keep it have a separate
// entitlement to it. A few are settled first; while there are many, adding the product is
// rejected. If nobody keeps it, it is added immediately.
func TestHoldersKeepWhatComesBack(t *testing.T) {
	const few, many = 120, 1100
	end := learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery, EndAccess: true}
	for _, tc := range []struct {
		name    string
		holders int
		removal learning.Removal[lyceum.ProductCollectionID]
		refused bool
		after   int // users who have access after the last removal
	}{
		{"a few keep it", few, learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery}, false, few},
		{"many keep it", many, learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery}, true, many},
		{"nobody keeps it", many, end, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHolders(t, tc.holders)
			collection := h.service.CollectionProducts()
			add := func() error { _, err := collection.Add(t.Context(), h.by(), pottery); return err }
			if err := errors.Join(add(), collection.Remove(t.Context(), h.by(), tc.removal)); err != nil {
				t.Fatal(err)
			}
			err := add()
			if refused, _ := errors.AsType[*lyceum.Error](err); tc.refused != (refused != nil && refused.Code == "product_leaving") {
				t.Fatalf("added again: %v", err)
			} else if tc.refused {
				h.settle(t)
				err = add()
			}
			if err != nil {
				t.Fatal(err)
			}
			h.settle(t)
			h.want(t, "added again", tc.holders, tc.holders)
			if err := collection.Remove(t.Context(), h.by(), end); err != nil {
				t.Fatal(err)
			}
			h.settle(t)
			h.want(t, "removed for all", tc.after, tc.after)
			if findings, err := h.store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}

// wantInOrder checks that an event is announced once for each user, ordered by user.
func (h *holders) wantInOrder(t *testing.T, event lyceum.EventName) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), h.store, h.school, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	v := h.store.In(t.Context(), h.school)
	var users []lyceum.UserID
	for _, e := range entries {
		if e.Event != lyceum.Some(event) {
			continue
		}
		stay, err := v.Enrollments.Get(v, lyceum.EnrollmentID(e.ObjectID))
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, stay.User)
	}
	if len(users) != h.many || !slices.IsSorted(users) {
		t.Errorf("%s is announced for %v", event, users)
	}
}
