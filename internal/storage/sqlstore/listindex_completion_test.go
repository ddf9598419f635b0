package sqlstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestListIndexByCompletion reads the holders of a course by completion, in both directions,
// with and without an index, while users complete the course or stop being complete, and their
// access moves.
func TestListIndexByCompletion(t *testing.T) {
	t.Parallel()
	onIndexedStores(t, func(t *testing.T, h *history) {
		h.complete(t, 60)
		if stats := h.store.ListStats(); stats.Hits < 60 || stats.Lists < 2 {
			t.Errorf("%d indexes answered %d times", stats.Lists, stats.Hits)
		}
	})
}

// complete creates a school whose users are all in its course, and makes and compares as many
// changes as steps says.
func (h *history) complete(t *testing.T, steps int) {
	t.Helper()
	const users = 12
	course := lyceum.Product{Kind: lyceum.CourseKind, ID: historyCourse}
	if _, err := h.store.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: h.now}, "test"); err != nil {
		t.Fatal(err)
	}
	h.change(t, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: historyCourse, Name: "Bread", CreatedAt: h.now})
		for id := range int32(users) {
			user := lyceum.UserID(id + 1)
			_, e1 := tx.Users.Save(tx, lyceum.User{ID: user, Email: fmt.Sprintf("u%d@example.com", id), Role: lyceum.Student, CreatedAt: h.now})
			_, e2 := tx.BeginEnrollment(lyceum.Enrollment{ID: lyceum.EnrollmentID(id + 1), User: user, Course: historyCourse, EnrolledAt: h.now})
			e3 := tx.Entitlements.Insert(tx, lyceum.Entitlement{
				ID: lyceum.EntitlementID(id + 1), User: user, Product: course, StartsAt: h.now.Add(time.Duration(h.IntN(5)) * time.Second),
			})
			err = errors.Join(err, e1, e2, e3)
		}
		return err
	})
	for range steps {
		h.now = h.now.Add(time.Second)
		user := lyceum.Some(lyceum.UserID(1 + h.IntN(users)))
		completed := []lyceum.Opt[time.Time]{{}, lyceum.Some(h.now.Add(-time.Duration(h.IntN(9)) * time.Second))}[h.IntN(2)]
		moves, starts := h.IntN(4) == 0, h.now
		h.change(t, func(tx lyceum.Tx) error {
			if moves {
				e, _, err := tx.Entitlements.First(tx, lyceum.EntitlementFilter{User: user})
				e.StartsAt = starts
				return errors.Join(err, tx.Entitlements.Update(tx, e))
			}
			p, _, err := tx.Progress.First(tx, lyceum.ProgressFilter{User: user})
			p.CompletedAt = completed
			return errors.Join(err, tx.Progress.Update(tx, p))
		})
		for _, order := range []lyceum.Order{lyceum.NewestFirst, lyceum.OldestFirst} {
			f := lyceum.HoldingFilter{Product: course, At: h.now, Order: order, ByCompletion: true}
			list := listQuery{fmt.Sprintf("%+v", f), func(v lyceum.View, p lyceum.Page) (any, error) { return v.FindHoldings(f, p) }}
			h.compare(t, list, lyceum.Page{Number: int32(1 + h.IntN(3)), Size: int32(1 + h.IntN(6))})
		}
	}
}
