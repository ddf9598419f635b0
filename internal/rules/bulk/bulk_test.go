package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// many is how many users the school has: three parts of a bulk job.
const many = 130

// crowd is a school with course 1, archived course 2, and many users. Users 1 to
// 3 were enrolled by hand, and user 3 was unenrolled. User 4 has the tag vip.
type crowd struct {
	stores []lyceum.Store // of one database
	school lyceum.SchoolID
	clock  *storetest.Clock
}

var pottery = lyceum.CourseID(1).Product()

func onBothEngines(t *testing.T, test func(*testing.T, *crowd)) {
	t.Helper()
	kept := func(t *testing.T, store lyceum.Store, err error) lyceum.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	t.Run("SQLite", func(t *testing.T) {
		store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		test(t, newCrowd(t, kept(t, store, err)))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := storetest.Postgres(t)
		one, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
		first := kept(t, one, err)
		other, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
		test(t, newCrowd(t, first, kept(t, other, err)))
	})
}

func newCrowd(t *testing.T, stores ...lyceum.Store) *crowd {
	t.Helper()
	c := &crowd{stores: stores, clock: storetest.NewClock(storetest.Begin.Add(time.Hour))}
	c.school = storetest.MakeSchool(t, stores[0])
	at := storetest.Begin
	storetest.Write(t, stores[0], c.school, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: at, UpdatedAt: at},
			lyceum.Course{ID: 2, Name: "Felt", CreatedAt: at, UpdatedAt: at, ArchivedAt: lyceum.Some(at)})
		if err != nil {
			return err
		}
		var users []lyceum.User
		for id := range lyceum.UserID(many) {
			users = append(users, lyceum.User{ID: id + 1, Email: fmt.Sprintf("User%d@example.com", id+1), Role: lyceum.Student, CreatedAt: at})
		}
		if _, err := tx.Users.Save(tx, users...); err != nil {
			return err
		}
		if _, err = tx.SetTags(4, []string{"vip"}); err != nil {
			return err
		}
		_, err = tx.APIKeys.Save(tx, lyceum.APIKey{ID: 1, Name: "Sync", Permissions: lyceum.Read | lyceum.Write, CreatedAt: at})
		return err
	})
	lessons := learning.New(stores[0], c.clock.Now)
	for user := range lyceum.UserID(3) {
		if err := lessons.Enroll(t.Context(), c.by(), user+1, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := lessons.Unenroll(t.Context(), c.by(), learning.UserProduct{User: 3, Product: pottery}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *crowd) by() lyceum.By { return lyceum.By{School: c.school, Actor: "api_key:1"} }

func (c *crowd) service(place int) *bulk.Service { return c.serviceAt(place, c.clock.Now) }

func (c *crowd) serviceAt(place int, clock func() time.Time) *bulk.Service {
	store := c.stores[place%len(c.stores)]
	return bulk.New(store, clock, learning.New(store, clock), people.New(store, clock), access.StillStartsBulk)
}

func (c *crowd) view(t *testing.T) lyceum.View { return c.stores[0].In(t.Context(), c.school) }

// prepare prepares a job completely, and checks that nothing else changes.
func (c *crowd) prepare(t *testing.T, q bulk.NewJob) lyceum.BulkJob {
	t.Helper()
	before, err := c.view(t).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.service(0).Prepare(t.Context(), c.by(), q)
	if err != nil {
		t.Fatal(err)
	}
	if short := job.Rows <= lyceum.BulkPartRows; short != (job.State == lyceum.BulkDraft) {
		t.Errorf("%d rows are %s at once", job.Rows, job.State)
	}
	job = c.work(t, job.ID)
	if after, err := c.view(t).LastEntry(); err != nil || after != before {
		t.Errorf("preparing appended entries %d to %d: %v", before, after, err)
	}
	if job.State != lyceum.BulkDraft || job.Results.Total() != 0 || job.Expected.Total() != job.Rows {
		t.Errorf("prepared: %+v", job)
	}
	return job
}

// work calls Continue until there is nothing left to do, and returns a job.
func (c *crowd) work(t *testing.T, id lyceum.BulkJobID) lyceum.BulkJob {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = c.service(0).Continue(t.Context(), c.school); err != nil {
			t.Fatal(err)
		}
	}
	job, err := c.service(0).Show(t.Context(), c.by(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// do starts a job and finishes it.
func (c *crowd) do(t *testing.T, id lyceum.BulkJobID) lyceum.BulkJob {
	t.Helper()
	started, err := c.service(0).Start(t.Context(), c.by(), id)
	if err != nil || started.State != lyceum.BulkRunning || started.Results.Total() != 0 {
		t.Fatalf("started: %+v, %v", started, err)
	}
	return c.work(t, id)
}

// rows returns the results and messages of a job, such as "done" or "failed: why".
func (c *crowd) rows(t *testing.T, id lyceum.BulkJobID) (all []string) {
	t.Helper()
	list, err := c.service(0).Rows(t.Context(), c.by(), bulk.RowFilter{Job: id}, lyceum.Page{Number: 1, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range list.Rows {
		said := string(row.Now())
		if row.Message != "" {
			said += ": " + row.Message
		}
		all = append(all, said)
	}
	return all
}

func everybody() (ids []lyceum.UserID) {
	for id := range lyceum.UserID(many) {
		ids = append(ids, id+1)
	}
	return ids
}

// TestOncePerRow checks that a job that is interrupted after each part, and continued by two
// processes concurrently, processes each row once and with the expected result.
func TestOncePerRow(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		end := c.clock.Now().Add(48 * time.Hour)
		job := c.prepare(t, bulk.NewJob{
			Action: lyceum.BulkGiveAccess, Product: lyceum.Some(pottery), EndsAt: lyceum.Some(end),
			Users: append(everybody(), 7, 999),
		})
		want := lyceum.BulkCounts{Done: many, Unchanged: 1, Failed: 1}
		if job.Rows != many+2 || job.Expected != want {
			t.Errorf("prepared: %+v", job)
		}
		if _, err := c.service(0).Start(t.Context(), c.by(), job.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := c.service(0).Start(t.Context(), c.by(), job.ID); lyceum.Public(err).Code != "not_draft" {
			t.Errorf("started again: %v", err)
		}
		if busy, err := c.service(0).Busy(t.Context()); err != nil || !slices.Equal(busy, []lyceum.SchoolID{c.school}) {
			t.Errorf("%v are busy: %v", busy, err)
		}
		c.continueInterrupted(t)
		done, err := c.service(0).Show(t.Context(), c.by(), job.ID)
		if err != nil || done.State != lyceum.BulkFinished || done.Results != want || !done.EndedAt.Present {
			t.Errorf("finished: %+v, %v", done, err)
		}
		c.wantGifts(t, end)
		if findings, err := c.stores[0].Check(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("check: %v, %v", findings, err)
		}
	})
}

// continueInterrupted continues with two processes concurrently. In two of three turns, one of
// them is stopped in the middle.
func (c *crowd) continueInterrupted(t *testing.T) {
	t.Helper()
	for turn := range 10 * many {
		var group sync.WaitGroup
		more, errs := make([]bool, 2), make([]error, 2)
		for i := range errs {
			group.Go(func() {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				more[i], errs[i] = c.serviceAt(i, func() time.Time {
					if turn%3 == i {
						stop()
					}
					return c.clock.Now()
				}).Continue(ctx, c.school)
			})
		}
		group.Wait()
		for i := range errs {
			if turn%3 != i && errs[i] != nil {
				t.Fatal(errs[i])
			}
		}
		if turn%3 == 2 && !more[0] {
			return
		}
	}
	t.Fatal("it never ends")
}

// wantGifts checks that each user was given access once, by the actor who started the job.
func (c *crowd) wantGifts(t *testing.T, end time.Time) {
	t.Helper()
	given := map[lyceum.UserID]int{}
	v := c.view(t)
	err := v.Entitlements.Each(v, lyceum.EntitlementFilter{}, func(e *lyceum.Entitlement) error {
		if e.EndsAt.Present {
			if given[e.User]++; !e.EndsAt.Value.Equal(end) {
				t.Errorf("user %d has it until %v", e.User, e.EndsAt.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range everybody() {
		if given[user] != 1 {
			t.Errorf("user %d was given it %d times", user, given[user])
		}
	}
}

func TestActions(t *testing.T) {
	const mail = "user2@example.com"
	vip := lyceum.Some(bulk.Filter{Tag: lyceum.Some("vip")})
	rows := []struct {
		name string
		job  bulk.NewJob
		want []string
	}{
		{
			"enroll",
			bulk.NewJob{Action: lyceum.BulkEnroll, Product: lyceum.Some(pottery), Users: []lyceum.UserID{1, 3, 5}},
			[]string{"unchanged: the user has access already", "done", "done"},
		},
		{
			"unenroll",
			bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(pottery), Emails: []string{"USER1@example.com", " user3@example.com ", "user5@example.com", "nobody@example.com", mail, mail}},
			[]string{"done", "unchanged: the user no longer has access", "failed: user 5 is not enrolled in course 1", "failed: no user of this school has this email address", "done", "unchanged: the same user is in row 5"},
		},
		{
			"unenroll who has it",
			bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(pottery), Filter: lyceum.Some(bulk.Filter{Product: lyceum.Some(pottery)})},
			[]string{"done", "done"},
		},
		{"add tags", bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"vip", "new"}, Users: []lyceum.UserID{4, 5}}, []string{"done", "done"}},
		{"add tags again", bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"vip"}, Users: []lyceum.UserID{4}}, []string{"unchanged: the user has these tags already"}},
		{"remove tags", bulk.NewJob{Action: lyceum.BulkRemoveTags, Tags: []string{"vip"}, Filter: vip}, []string{"done"}},
		{"remove tags that are not there", bulk.NewJob{Action: lyceum.BulkRemoveTags, Tags: []string{"old"}, Filter: vip}, []string{"unchanged: the user has none of these tags"}},
	}
	onBothEngines(t, func(t *testing.T, all *crowd) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				c := newCrowd(t, all.stores[0])
				job := c.prepare(t, row.job)
				if got := c.rows(t, job.ID); !slices.Equal(got, foreseen(row.job.Action, row.want)) {
					t.Errorf("foreseen: %q", got)
				}
				if done := c.do(t, job.ID); done.State != lyceum.BulkFinished || done.Results != job.Expected {
					t.Errorf("done: %+v", done)
				}
				if got := c.rows(t, job.ID); !slices.Equal(got, row.want) {
					t.Errorf("done: %q", got)
				}
			})
		}
	})
}

// foreseen returns the expected results of an action on course 1 before it is done.
func foreseen(action lyceum.BulkAction, done []string) []string {
	effects := map[lyceum.BulkAction]string{
		lyceum.BulkEnroll: "done: opens access to Pottery", lyceum.BulkUnenroll: "done: ends access to Pottery",
		lyceum.BulkAddTags: "done", lyceum.BulkRemoveTags: "done",
	}
	said := slices.Clone(done)
	for i := range said {
		if said[i] == "done" {
			said[i] = effects[action]
		}
	}
	return said
}

func TestJobsRefused(t *testing.T) {
	course := lyceum.Some(pottery)
	one := []lyceum.UserID{1}
	rows := []struct {
		name string
		job  bulk.NewJob
		want string
	}{
		{"no product", bulk.NewJob{Action: lyceum.BulkEnroll, Users: one}, "product_id is required for an action about a product"},
		{"an unknown product", bulk.NewJob{Action: lyceum.BulkEnroll, Product: lyceum.Some(lyceum.CourseID(99).Product()), Users: one}, "product_id 99 matches no course"},
		{"an unknown product to end", bulk.NewJob{Action: lyceum.BulkUnenroll, Product: lyceum.Some(lyceum.CourseID(99).Product()), Users: one}, "product_id 99 matches no course"},
		{"an archived product", bulk.NewJob{Action: lyceum.BulkGiveAccess, Product: lyceum.Some(lyceum.CourseID(2).Product()), Users: one}, "product_id 2 names a course that is archived"},
		{"an end in the past", bulk.NewJob{Action: lyceum.BulkGiveAccess, Product: course, EndsAt: lyceum.Some(storetest.Begin), Users: one}, "ends_at must be in the future"},
		{"an end of an enrollment", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, EndsAt: lyceum.Some(storetest.Begin.AddDate(1, 0, 0)), Users: one}, "ends_at is only for give_access"},
		{"tags with a product", bulk.NewJob{Action: lyceum.BulkAddTags, Product: course, Tags: []string{"a"}, Users: one}, "product_id is not for an action about tags"},
		{"no tags", bulk.NewJob{Action: lyceum.BulkAddTags, Users: one}, "tags is required"},
		{"an empty tag", bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{""}, Users: one}, "tags must be 1 to 255 bytes long each"},
		{"tags of a product", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Tags: []string{"a"}, Users: one}, "tags is not for an action about a product"},
		{"nobody", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course}, "user_ids or emails or filter is required"},
		{"two ways", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Users: one, Emails: []string{"a"}}, "only one of them"},
		{"an empty list", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Emails: []string{}}, "emails must have 1 to 10000 elements; it has 0"},
		{"a list that is too long", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Users: make([]lyceum.UserID, 10_001)}, "user_ids must have 1 to 10000 elements; it has 10001"},
		{"an empty filter", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Filter: lyceum.Some(bulk.Filter{})}, "filter must name a tag, a product or both"},
		{"a filter without users", bulk.NewJob{Action: lyceum.BulkEnroll, Product: course, Filter: lyceum.Some(bulk.Filter{Tag: lyceum.Some("none")})}, "filter matches no user"},
	}
	onBothEngines(t, func(t *testing.T, c *crowd) {
		for _, row := range rows {
			if _, err := c.service(0).Prepare(t.Context(), c.by(), row.job); lyceum.KindOf(err) != lyceum.Invalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, want %q", row.name, err, row.want)
			}
		}
		if list, err := c.service(0).List(t.Context(), c.by(), struct{}{}, lyceum.Page{Number: 1, Size: 5}); err != nil || list.Total != 0 {
			t.Errorf("%d jobs are kept: %v", list.Total, err)
		}
	})
}

// TestCancel checks that what is done when a job is canceled stays done.
func TestCancel(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		q := bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Users: everybody()}
		draft, running := c.prepare(t, q), c.prepare(t, q)
		s := c.service(0)
		if _, err := s.Start(t.Context(), c.by(), running.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Continue(t.Context(), c.school); err != nil {
			t.Fatal(err)
		}
		for _, id := range []lyceum.BulkJobID{draft.ID, running.ID, running.ID} {
			if job, err := s.Cancel(t.Context(), c.by(), id); err != nil || job.State != lyceum.BulkCanceled {
				t.Errorf("cancelled: %+v, %v", job, err)
			}
		}
		if job := c.work(t, running.ID); job.Results.Total() == 0 || job.Results.Total() > lyceum.BulkPartRows {
			t.Errorf("after it was cancelled: %+v", job)
		}
		short := c.prepare(t, bulk.NewJob{Action: lyceum.BulkRemoveTags, Tags: []string{"a"}, Users: []lyceum.UserID{1}})
		c.do(t, short.ID)
		if _, err := s.Cancel(t.Context(), c.by(), short.ID); lyceum.Public(err).Code != "finished" {
			t.Errorf("cancelled when it had finished: %v", err)
		}
	})
}

// TestKept checks that drafts are deleted after a day and other jobs after 30, and that the
// number of drafts is limited.
func TestKept(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		q := bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Users: []lyceum.UserID{1}}
		done := c.prepare(t, q)
		c.do(t, done.ID)
		long := c.prepare(t, bulk.NewJob{Action: lyceum.BulkAddTags, Tags: []string{"a"}, Emails: make([]string, 1000)})
		for range lyceum.MaxBulkDrafts - 1 {
			c.prepare(t, q)
		}
		if _, err := c.service(0).Prepare(t.Context(), c.by(), q); lyceum.Public(err).Code != "too_many_drafts" {
			t.Errorf("one more: %v", err)
		}
		c.clock.Pass(25 * time.Hour)
		if busy, err := c.service(0).Busy(t.Context()); err != nil || len(busy) != 1 {
			t.Errorf("%v are busy: %v", busy, err)
		}
		c.work(t, done.ID)
		c.wantJobs(t, 1)
		if _, err := c.service(0).Show(t.Context(), c.by(), long.ID); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("an old draft: %v", err)
		}
		c.clock.Pass(30 * 24 * time.Hour)
		if _, err := c.service(0).Continue(t.Context(), c.school); err != nil {
			t.Fatal(err)
		}
		c.wantJobs(t, 0)
		if busy, err := c.service(0).Busy(t.Context()); err != nil || len(busy) > 0 {
			t.Errorf("%v are busy: %v", busy, err)
		}
	})
}

func (c *crowd) wantJobs(t *testing.T, want int64) {
	t.Helper()
	list, err := c.service(0).List(t.Context(), c.by(), struct{}{}, lyceum.Page{Number: 1, Size: 5})
	if err != nil || list.Total != want {
		t.Errorf("%d jobs are kept, want %d: %v", list.Total, want, err)
	}
}

// TestStartedTooLate checks that a job that has become impossible for all users cannot be
// started, and that if it becomes impossible later, it fails for the remaining users.
func TestStartedTooLate(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *crowd) {
		late := c.prepare(t, bulk.NewJob{
			Action: lyceum.BulkGiveAccess, Product: lyceum.Some(pottery), EndsAt: lyceum.Some(c.clock.Now().Add(time.Hour)), Users: everybody(),
		})
		running := c.prepare(t, bulk.NewJob{Action: lyceum.BulkEnroll, Product: lyceum.Some(pottery), Users: everybody()})
		if _, err := c.service(0).Start(t.Context(), c.by(), running.ID); err != nil {
			t.Fatal(err)
		}
		c.clock.Pass(time.Hour)
		if _, err := c.service(0).Start(t.Context(), c.by(), late.ID); lyceum.Public(err).Code != "not_possible" || !strings.Contains(err.Error(), "ends_at must be in the future") {
			t.Errorf("too late: %v", err)
		}
		storetest.Write(t, c.stores[0], c.school, func(tx lyceum.Tx) error {
			course, err := tx.Courses.Get(tx, 1)
			course.ArchivedAt = lyceum.Some(c.clock.Now())
			_, saveErr := tx.Courses.Save(tx, course)
			return errors.Join(err, saveErr)
		})
		if job := c.work(t, running.ID); job.State != lyceum.BulkFinished || job.Results.Failed != many {
			t.Errorf("archived meanwhile: %+v", job)
		}
		if rows := c.rows(t, running.ID); rows[0] != "failed: product_id 1 names a course that is archived" {
			t.Errorf("archived meanwhile: %s", rows[0])
		}
	})
}
