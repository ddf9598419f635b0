package bulk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFailedForGood checks that a job ends, and says why, if trying again would not help. What
// is done stays done, and other jobs continue.
func TestFailedForGood(t *testing.T) {
	rows := []struct {
		name  string
		spoil func(lyceum.Tx, lyceum.BulkJobID) error
		tries int
		want  string
	}{
		{"no id is left", func(tx lyceum.Tx, _ lyceum.BulkJobID) error {
			_, err := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: lyceum.MaxID, User: 1, Product: pottery, StartsAt: storetest.Begin})
			return err
		}, 1, "User1@example.com: no entitlement_id is left"},
		{"a part is lost", func(tx lyceum.Tx, id lyceum.BulkJobID) error {
			part, _, err := tx.BulkParts.First(tx, lyceum.BulkPartFilter{Job: id})
			return errors.Join(err, tx.BulkParts.Delete(tx, part.ID))
		}, 5, "its list was not stored completely; create the bulk job again"},
	}
	onBothEngines(t, func(t *testing.T, all *crowd) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				c := newCrowd(t, all.stores[0])
				job := c.prepare(t, bulk.NewJob{Action: lyceum.BulkGiveAccess, Product: lyceum.Some(pottery), Users: everybody()})
				tags := c.prepare(t, bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Users: everybody()})
				s := c.service(0)
				s.RetryPause = 0
				for _, id := range []lyceum.BulkJobID{job.ID, tags.ID} {
					if _, err := s.Start(t.Context(), c.by(), id); err != nil {
						t.Fatal(err)
					}
				}
				storetest.Write(t, c.stores[0], c.school, func(tx lyceum.Tx) error { return row.spoil(tx, job.ID) })
				for try := range row.tries {
					if kept, err := s.Show(t.Context(), c.by(), job.ID); err != nil || kept.State != lyceum.BulkRunning {
						t.Errorf("before try %d: %+v, %v", try+1, kept, err)
					}
					if _, err := s.Continue(t.Context(), c.school); err == nil {
						t.Error("nobody hears of it")
					}
				}
				kept, err := s.Show(t.Context(), c.by(), job.ID)
				if err != nil || kept.State != lyceum.BulkBroken || !strings.HasPrefix(kept.Problem.Value, row.want) || !kept.EndedAt.Present {
					t.Errorf("%+v, %v", kept, err)
				}
				if _, err := s.Cancel(t.Context(), c.by(), job.ID); lyceum.Public(err).Code != "finished" {
					t.Errorf("cancelled: %v", err)
				}
				if done := c.work(t, tags.ID); done.State != lyceum.BulkFinished || done.Results.Done != many {
					t.Errorf("the other: %+v", done)
				}
			})
		}
	})
}

// TestFailedWaits checks that a job whose step failed waits while the others continue.
func TestFailedWaits(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		spoiled := c.prepare(t, bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Users: everybody()})
		other := c.prepare(t, bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"b"}, Users: everybody()})
		s := c.service(0)
		s.RetryPause = time.Hour
		for _, id := range []lyceum.BulkJobID{spoiled.ID, other.ID} {
			if _, err := s.Start(t.Context(), c.by(), id); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Write(t, c.stores[0], c.school, func(tx lyceum.Tx) error {
			part, _, err := tx.BulkParts.First(tx, lyceum.BulkPartFilter{Job: spoiled.ID})
			return errors.Join(err, tx.BulkParts.Delete(tx, part.ID))
		})
		if more, err := s.Continue(t.Context(), c.school); !more || err == nil {
			t.Errorf("the first time: %v, %v", more, err)
		}
		for more := true; more; {
			var err error
			if more, err = s.Continue(t.Context(), c.school); err != nil {
				t.Fatal(err)
			}
		}
		for id, want := range map[lyceum.BulkJobID]lyceum.BulkState{spoiled.ID: lyceum.BulkRunning, other.ID: lyceum.BulkFinished} {
			if job, err := s.Show(t.Context(), c.by(), id); err != nil || job.State != want {
				t.Errorf("job %d: %+v, %v", id, job, err)
			}
		}
	})
}

// TestSalesThatEnd checks that a job lists the subscriptions that end with access, before and
// after it runs, and counts the users whose access changes.
func TestSalesThatEnd(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		storetest.Write(t, c.stores[0], c.school, func(tx lyceum.Tx) error {
			_, e1 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 1, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Monthly", Price: 900, Currency: "USD", Frequency: lyceum.Subscription},
				lyceum.PricingPlan{ID: 2, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Once", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment})
			var e2, e3 error
			for n := range lyceum.SaleID(2) {
				user := lyceum.UserID(5 + n)
				sale := lyceum.Sale{ID: n + 41, UserID: lyceum.Some(user), PricingPlanID: lyceum.Some(lyceum.PricingPlanID(n + 1)), CreatedAt: storetest.Begin}
				_, err := tx.Sales.Save(tx, sale)
				e2 = errors.Join(e2, err)
				_, err = tx.Entitlements.Save(tx, lyceum.Entitlement{ID: lyceum.EntitlementID(100 + n), User: user, Product: pottery, Sale: lyceum.Some(sale.ID), StartsAt: storetest.Begin})
				e3 = errors.Join(e3, err)
			}
			return errors.Join(e1, e2, e3)
		})
		job := c.prepare(t, bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(pottery), Users: []lyceum.UserID{1, 3, 5, 6}})
		want := lyceum.BulkCounts{Done: 3, Unchanged: 1, EndedSales: 1}
		if job.Expected != want || job.Access != (lyceum.AccessCount{Losing: 3}) {
			t.Errorf("prepared: %+v", job)
		}
		c.wantEnds(t, job.ID, "[] [] [41] []")
		if done := c.do(t, job.ID); done.Results != want {
			t.Errorf("done: %+v", done)
		}
		c.wantEnds(t, job.ID, "[] [] [41] []")
		late := c.prepare(t, bulk.NewJob{Action: lyceum.BulkEnroll, Product: lyceum.Some(pottery), Users: everybody()})
		if late.Access != (lyceum.AccessCount{Gaining: many - 1}) { // user 2 already has access
			t.Errorf("enroll: %+v", late)
		}
	})
}

func (c *crowd) wantEnds(t *testing.T, id lyceum.BulkJobID, want string) {
	t.Helper()
	list, err := c.service(0).Rows(t.Context(), c.by(), bulk.RowFilter{Job: id}, lyceum.Page{Number: 1, Size: 100})
	var got []string
	for _, row := range list.Rows {
		got = append(got, fmt.Sprint(row.Ends))
	}
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("ends %v, want %s: %v", got, want, err)
	}
}

// TestLines checks that users who are named by the lines of a file are identified by them.
func TestLines(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		job := c.prepare(t, bulk.NewJob{
			Action: lyceum.BulkAddTags, Tags: []string{"a"}, Emails: []string{"user2@example.com", "user3@example.com", "USER2@example.com"}, Lines: []int32{2, 5, 9},
		})
		if got, want := c.rows(t, job.ID), []string{"done", "done", "unchanged: the same user is in line 2"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		list, err := c.service(0).Rows(t.Context(), c.by(), bulk.RowFilter{Job: job.ID, Result: lyceum.Some(lyceum.BulkUnchanged)}, lyceum.Page{Number: 1, Size: 5})
		if err != nil || len(list.Rows) != 1 || list.Rows[0].Line != 9 || list.Rows[0].Number != 3 {
			t.Errorf("%+v, %v", list.Rows, err)
		}
	})
}

// A job stops when who started it may no longer start one, with its next part.
func TestStopsWithTheRight(t *testing.T) {
	staff := func(role lyceum.StaffRole) func(lyceum.Tx) error {
		return func(tx lyceum.Tx) error {
			_, err := tx.StaffMembers.Save(tx, lyceum.StaffMember{User: 9, Role: role, UpdatedAt: storetest.Begin})
			return err
		}
	}
	disabled := func(tx lyceum.Tx) error {
		user, err := tx.Users.Get(tx, 9)
		user.DisabledAt = lyceum.Some(storetest.Begin)
		return errors.Join(err, tx.Users.Update(tx, user))
	}
	removed := func(tx lyceum.Tx) error { return tx.StaffMembers.Delete(tx, 9) }
	revoked := func(tx lyceum.Tx) error {
		key, err := tx.APIKeys.Get(tx, 1)
		key.RevokedAt = lyceum.Some(storetest.Begin)
		return errors.Join(err, tx.APIKeys.Update(tx, key))
	}
	rows := []struct {
		actor string
		then  func(lyceum.Tx) error
		want  string
	}{
		{"user:9", staff(lyceum.ManagerRole), ""},
		{"user:9", staff(lyceum.BookkeeperRole), "the role of the person who started it no longer allows it"},
		{"user:9", removed, "the person who started it is disabled or no longer works for the school"},
		{"user:9", disabled, "the person who started it is disabled or no longer works for the school"},
		{"api_key:1", revoked, "the API key that started it no longer works"},
		{"api_key:1", removed, ""},
		{"command", removed, ""},
	}
	onBothEngines(t, func(t *testing.T, all *crowd) {
		for _, row := range rows {
			c := newCrowd(t, all.stores[0])
			storetest.Write(t, c.stores[0], c.school, staff(lyceum.ManagerRole))
			job := c.prepare(t, bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Users: everybody()})
			s := c.service(0)
			if _, err := s.Start(t.Context(), lyceum.By{School: c.school, Actor: row.actor}, job.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Continue(t.Context(), c.school); err != nil {
				t.Fatal(err)
			}
			begun, err := s.Show(t.Context(), c.by(), job.ID)
			if err != nil || begun.Results.Total() == 0 || begun.State != lyceum.BulkRunning {
				t.Fatalf("begun: %+v, %v", begun, err)
			}
			storetest.Write(t, c.stores[0], c.school, row.then)
			for more := true; more; {
				more, _ = s.Continue(t.Context(), c.school)
			}
			kept, err := s.Show(t.Context(), c.by(), job.ID)
			if err != nil || kept.Problem.Value != row.want {
				t.Errorf("%s: %+v, %v, want %q", row.actor, kept, err, row.want)
			}
			if row.want == "" && kept.State != lyceum.BulkFinished || row.want != "" && (kept.State != lyceum.BulkBroken || kept.Results != begun.Results) {
				t.Errorf("%s: %+v, after %+v", row.actor, kept, begun)
			}
		}
	})
}
