package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// indexAll makes every list get an index from the second time on that it is read.
func indexAll(s *Store) {
	s.IndexLists(1 << 20)
	s.lists.after, s.lists.soon = 0, 0
}

// listQuery is a list that is read in a history.
type listQuery struct {
	name string
	read func(lyceum.View, lyceum.Page) (any, error)
}

func listOf[ID lyceum.Key, T, F any](name string, rows func(lyceum.View) lyceum.Rows[ID, T, F], f F) listQuery {
	return listQuery{fmt.Sprintf("%s %+v", name, f), func(v lyceum.View, p lyceum.Page) (any, error) {
		return rows(v).List(v, f, p)
	}}
}

// history changes a school at random.
type history struct {
	*rand.Rand

	store *Store
	other *Store // on the same database, with indexes that follow; equal to store if there is only one
	now   time.Time
	users []lyceum.UserID
	sales []lyceum.SaleID

	deliveries int64 // created so far
}

const historyCourse, historyCollection = 3, 4

func (h *history) change(t *testing.T, change func(lyceum.Tx) error) {
	t.Helper()
	seed, deliveries := h.Uint64(), h.deliveries // a change that runs again is the same
	err := h.store.Write(context.Background(), lyceum.Stamp{School: 1, At: h.now, Actor: "test"}, func(tx lyceum.Tx) error {
		h.Rand, h.deliveries = rand.New(rand.NewPCG(seed, 0)), deliveries
		return change(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// moment returns a moment around now, or none.
func (h *history) moment() lyceum.Opt[time.Time] {
	if h.IntN(3) > 0 {
		return lyceum.None[time.Time]()
	}
	return lyceum.Some(h.now.Add(time.Duration(h.IntN(40)-10) * time.Second))
}

func (h *history) user() lyceum.UserID { return h.users[h.IntN(len(h.users))] }

func (h *history) add(t *testing.T) {
	var user lyceum.User
	h.change(t, func(tx lyceum.Tx) (err error) {
		user = lyceum.User{Role: lyceum.Student, CreatedAt: h.now}
		if user.ID, err = tx.Users.NextID(tx); err != nil {
			return err
		}
		h.dress(&user)
		return tx.Users.Insert(tx, user)
	})
	h.users = append(h.users, user.ID)
}

// dress gives a user a random name, address and role, often those of others.
func (h *history) dress(u *lyceum.User) {
	u.Name = lyceum.Some(string(rune('A' + h.IntN(4))))
	u.Email = fmt.Sprintf("%c%d@example.com", 'z'-rune(h.IntN(5)), u.ID)
	u.Role = []lyceum.Role{lyceum.Student, lyceum.Student, lyceum.Owner, "tutor"}[h.IntN(4)]
}

func (h *history) step(t *testing.T) {
	t.Helper()
	h.now = h.now.Add(time.Duration(h.IntN(5)) * time.Second)
	switch h.IntN(13) {
	case 10, 11, 12:
		h.deliver(t)
	case 0, 1:
		h.add(t)
	case 2:
		id := h.user()
		h.change(t, func(tx lyceum.Tx) error {
			u, err := tx.Users.Get(tx, id)
			if err != nil {
				return err
			}
			h.dress(&u)
			if h.IntN(5) == 0 {
				u.CreatedAt = h.now.Add(-time.Duration(h.IntN(100)) * time.Second)
			}
			return tx.Users.Update(tx, u)
		})
	case 3:
		id, tags := h.user(), []string{"a", "b"}[:h.IntN(3)]
		h.change(t, func(tx lyceum.Tx) error { _, err := tx.SetTags(id, tags); return err })
	case 4, 5:
		h.enroll(t)
	case 6:
		h.hold(t)
	case 7:
		h.sell(t)
	case 8:
		h.change(t, func(tx lyceum.Tx) error {
			p, found, err := tx.Progress.First(tx, lyceum.ProgressFilter{User: lyceum.Some(h.user())})
			if err != nil || !found {
				return err
			}
			p.PercentComplete = []int32{0, 100}[h.IntN(2)]
			p.CompletedAt = []lyceum.Opt[time.Time]{{}, lyceum.Some(h.now.Add(-time.Duration(h.IntN(9)) * time.Second))}[h.IntN(2)]
			return tx.Progress.Update(tx, p)
		})
	case 9:
		h.block(t)
	}
}

// enroll begins, ends or moves an enrollment.
func (h *history) enroll(t *testing.T) {
	user := h.user()
	h.change(t, func(tx lyceum.Tx) error {
		e, found, err := tx.Enrollments.First(tx, lyceum.EnrollmentFilter{User: lyceum.Some(user), Open: true})
		switch {
		case err != nil:
			return err
		case found:
			e.EndedAt, e.ExpiresAt = h.moment(), h.moment()
			if h.IntN(3) == 0 {
				e.EnrolledAt = h.now.Add(-time.Minute)
			}
			return tx.Enrollments.Update(tx, e)
		}
		e = lyceum.Enrollment{User: user, Course: historyCourse, EnrolledAt: h.now, ExpiresAt: h.moment()}
		if e.ID, err = tx.Enrollments.NextID(tx); err != nil {
			return err
		}
		_, err = tx.BeginEnrollment(e)
		return err
	})
}

// hold begins, ends or deletes an entitlement.
func (h *history) hold(t *testing.T) {
	user := h.user()
	h.change(t, func(tx lyceum.Tx) error {
		e, found, err := tx.Entitlements.First(tx, lyceum.EntitlementFilter{User: lyceum.Some(user)})
		switch {
		case err != nil:
			return err
		case found && h.IntN(4) == 0:
			return tx.Entitlements.Delete(tx, e.ID)
		case found && h.IntN(2) == 0:
			e.EndedAt, e.EndsAt = h.moment(), h.moment()
			return tx.Entitlements.Update(tx, e)
		}
		e = lyceum.Entitlement{
			User: user, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: historyCourse}, StartsAt: h.now, EndsAt: h.moment(),
		}
		if h.IntN(2) == 0 {
			e.Product = lyceum.Product{Kind: lyceum.CollectionKind, ID: historyCollection}
		}
		if e.ID, err = tx.Entitlements.NextID(tx); err != nil {
			return err
		}
		return tx.Entitlements.Insert(tx, e)
	})
}

func (h *history) sell(t *testing.T) {
	var made lyceum.SaleID
	h.change(t, func(tx lyceum.Tx) (err error) {
		made = 0
		s := lyceum.Sale{CreatedAt: h.now, PurchasedAt: h.now, UserID: lyceum.Some(h.user())}
		if len(h.sales) > 0 && h.IntN(2) == 0 {
			if s, err = tx.Sales.Get(tx, h.sales[h.IntN(len(h.sales))]); err != nil {
				return err
			}
			s.EndedAt = h.moment()
			if s.EndReason = lyceum.None[lyceum.SaleEnd](); s.EndedAt.Present {
				s.EndReason = lyceum.Some(lyceum.SaleCanceled)
			}
			s.PurchasedAt = s.PurchasedAt.Add(-time.Duration(h.IntN(9)) * time.Second)
			return tx.Sales.Update(tx, s)
		}
		if s.ID, err = tx.Sales.NextID(tx); err != nil {
			return err
		}
		made = s.ID
		return tx.Sales.Insert(tx, s)
	})
	if made > 0 {
		h.sales = append(h.sales, made)
	}
}

// block adds or deletes a block, or adds the course to the collection or removes it.
func (h *history) block(t *testing.T) {
	user, course := h.user(), lyceum.Product{Kind: lyceum.CourseKind, ID: historyCourse}
	h.change(t, func(tx lyceum.Tx) (err error) {
		if h.IntN(2) == 0 {
			deleted, err := tx.Blocks.Clear(tx, lyceum.BlockFilter{User: lyceum.Some(user)})
			if err != nil || deleted > 0 {
				return err
			}
			b := lyceum.Block{User: user, Product: course, CreatedAt: h.now}
			if b.ID, err = tx.Blocks.NextID(tx); err != nil {
				return err
			}
			return tx.Blocks.Insert(tx, b)
		}
		deleted, err := tx.CollectionProducts.Clear(tx, lyceum.InclusionFilter[lyceum.ProductCollectionID]{
			In: lyceum.Some[lyceum.ProductCollectionID](historyCollection), Leaving: true,
		})
		if err != nil || deleted > 0 {
			return err
		}
		c := lyceum.CollectionProduct{In: historyCollection, Product: course, CreatedAt: h.now}
		if c.ID, err = tx.CollectionProducts.NextID(tx); err != nil {
			return err
		}
		return tx.CollectionProducts.Insert(tx, c)
	})
}

// contents changes a course at random, and compares what is in it with what is cached.
func (h *history) contents(t *testing.T) {
	t.Helper()
	id := func(n int) int32 { return int32(1 + h.IntN(n)) }
	h.change(t, func(tx lyceum.Tx) error {
		switch h.IntN(5) {
		case 0:
			_, err := tx.Courses.Save(tx, lyceum.Course{ID: historyCourse, Name: fmt.Sprint(h.IntN(3)), CreatedAt: h.now})
			return err
		case 1, 2:
			section := lyceum.LectureSection{
				ID: lyceum.LectureSectionID(id(2)), Course: historyCourse, Name: "Part", Position: id(5), CreatedAt: h.now,
			}
			lecture := lyceum.Lecture{
				ID: lyceum.LectureID(id(3)), Course: historyCourse, Section: section.ID, Position: id(5), CreatedAt: h.now,
			}
			if _, err := tx.LectureSections.Save(tx, section); err != nil {
				return err
			}
			if _, err := tx.Lectures.Save(tx, lecture); err != nil {
				return err
			}
			a := lyceum.Attachment{
				ID: lyceum.AttachmentID(id(3)), Lecture: lecture.ID, Kind: lyceum.QuizAttachment, CreatedAt: h.now,
				Quiz: &lyceum.Quiz{ID: 1, Questions: lyceum.Questions{{Question: fmt.Sprint(h.IntN(9))}}},
			}
			a.Quiz.ID = lyceum.QuizID(a.ID)
			_, err := tx.Attachments.Save(tx, a)
			return err
		case 3:
			_, err := tx.Attachments.Clear(tx, lyceum.AttachmentFilter{Lecture: lyceum.Some(lyceum.LectureID(id(3)))})
			return err
		}
		return nil
	})
	read := func(memory int64) string {
		h.store.IndexLists(memory)
		text := ""
		err := h.store.AtOnce(context.Background(), 1, func(v lyceum.View) error {
			course, err := v.Courses.Get(v, historyCourse)
			if err != nil {
				return err
			}
			sections, e1 := lyceum.All(v.LectureSections, v, lyceum.LectureSectionFilter{Course: lyceum.Some(course.ID)})
			lectures, e2 := lyceum.All(v.Lectures, v, lyceum.LectureFilter{Course: lyceum.Some(course.ID)})
			text = fmt.Sprintf("%+v\n%+v\n%+v", course, sections, lectures)
			for _, l := range lectures {
				again, e3 := v.Lectures.Get(v, l.ID)
				attachments, e4 := lyceum.All(v.Attachments, v, lyceum.AttachmentFilter{Lecture: lyceum.Some(l.ID)})
				text += fmt.Sprintf("\n%+v", again)
				for _, a := range attachments {
					text += fmt.Sprintf("\n%d %v", a.ID, a.Quiz.Questions)
					a.Quiz.Questions[0].Question = "changed by a reader"
				}
				e2 = errors.Join(e2, e3, e4)
			}
			return errors.Join(e1, e2)
		})
		if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
			t.Fatal(err)
		}
		return text
	}
	if want, first, again := read(0), read(1<<20), read(1<<20); first != want || again != want {
		t.Fatalf("contents:\ngot  %s\nthen %s\nwant %s", first, again, want)
	}
}

// lists returns the lists that are read after each change.
func (h *history) lists() (all []listQuery) {
	window := lyceum.Period{After: h.now.Add(-2 * time.Minute), Until: h.now.Add(-time.Duration(h.IntN(60)) * time.Second)}
	if h.IntN(2) == 0 {
		window = lyceum.Period{}
	}
	users := func(v lyceum.View) lyceum.Rows[lyceum.UserID, lyceum.User, lyceum.UserFilter] { return v.Users }
	for by := lyceum.UserByID; by <= lyceum.UserBySignIn; by++ {
		f := lyceum.UserFilter{Order: lyceum.UserOrder{By: by, Descending: h.IntN(2) == 0}, Created: window}
		switch h.IntN(4) {
		case 0:
			f.Role = lyceum.Some([]lyceum.Role{lyceum.Owner, lyceum.CustomRole, lyceum.Student}[h.IntN(3)])
		case 1:
			f.Tag = lyceum.Some("a")
		case 2:
			f.Name = lyceum.Some("b")
		}
		all = append(all, listOf("users", users, f))
	}
	order := []lyceum.Order{lyceum.NewestFirst, lyceum.OldestFirst}[h.IntN(2)]
	enrolled := lyceum.EnrolledFilter{Course: historyCourse, ActiveAt: h.now, Enrolled: window, Order: order}
	held := lyceum.HoldingFilter{
		Product: lyceum.Product{Kind: lyceum.CourseKind, ID: historyCourse}, At: h.now, Enrolled: window, Order: order,
	}
	if h.IntN(2) == 0 {
		statuses := []lyceum.HoldingStatus{
			lyceum.HoldingActive, lyceum.HoldingCompleted, lyceum.HoldingExpired, lyceum.HoldingDisabled,
		}
		held.Statuses = statuses[h.IntN(4):]
	}
	held.ByCompletion = h.IntN(2) == 0
	sold := lyceum.PurchaseFilter{Purchased: window}
	if h.IntN(2) == 0 {
		sold.Active = lyceum.Some(h.IntN(2) == 0)
	}
	return append(append(all, h.deliveryLists(window)...),
		listQuery{fmt.Sprintf("enrolled %+v", enrolled), func(v lyceum.View, p lyceum.Page) (any, error) {
			return v.FindEnrolled(enrolled, p)
		}},
		listQuery{fmt.Sprintf("holdings %+v", held), func(v lyceum.View, p lyceum.Page) (any, error) {
			return v.FindHoldings(held, p)
		}},
		listOf("purchases", func(v lyceum.View) lyceum.Rows[lyceum.SaleID, lyceum.Sale, lyceum.SaleFilter] { return v.Sales },
			lyceum.SaleFilter{Purchases: lyceum.Some(sold)}),
	)
}

// rowsOf returns the part of a listing that must be the same.
func rowsOf(listing any) string {
	l := reflect.ValueOf(listing)
	rows := l.FieldByName("Rows")
	text := fmt.Sprintf("%d %v", l.FieldByName("Total").Int(), l.FieldByName("Page"))
	for i := range rows.Len() {
		text += fmt.Sprintf("\n%+v", rows.Index(i))
	}
	return text
}

// compare reads a page with and without the index.
func (h *history) compare(t *testing.T, l listQuery, p lyceum.Page) {
	t.Helper()
	read := func(s *Store, memory int64) string {
		s.IndexLists(memory)
		var got any
		err := s.AtOnce(context.Background(), 1, func(v lyceum.View) (err error) {
			got, err = l.read(v, p)
			return err
		})
		if h.IntN(2) == 0 {
			got, err = l.read(s.In(context.Background(), 1), p)
		}
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		s.lists.work.Wait() // wait until a wanted index is built
		return rowsOf(got)
	}
	if want, got := read(h.store, 0), read(h.other, 1<<20); got != want {
		t.Fatalf("%s, page %d of %d:\ngot  %s\nwant %s", l.name, p.Number, p.Size, got, want)
	}
}

// testListIndex compares lists of one store with those from the indexes of another one.
func testListIndex(t *testing.T, s, other *Store, seed uint64, steps int) {
	t.Helper()
	indexAll(s)
	indexAll(other)
	h := &history{Rand: rand.New(rand.NewPCG(seed, 1)), store: s, other: other, now: storetest.Begin}
	if _, err := s.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: h.now}, "test"); err != nil {
		t.Fatal(err)
	}
	h.change(t, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: historyCourse, Name: "Bread", CreatedAt: h.now})
		if err != nil {
			return err
		}
		_, err = tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: historyCollection, Name: "All", CreatedAt: h.now})
		return errors.Join(err, h.receivers(tx))
	})
	for range 20 {
		h.add(t)
	}
	for range steps {
		h.contents(t)
		for range 1 + h.IntN(4) {
			h.step(t)
		}
		for _, l := range h.lists() {
			h.compare(t, l, lyceum.Page{Number: int32(1 + h.IntN(4)), Size: int32(1 + h.IntN(9))})
		}
	}
	if stats := other.ListStats(); stats.Hits < int64(steps) || stats.Lists == 0 {
		t.Errorf("an index answered %d times after %d steps, and there are %d", stats.Hits, steps, stats.Lists)
	}
}

// TestListIndexIsTheList checks that a list is the same with and without an index, whatever is
// changed.
func TestListIndexIsTheList(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
		if err != nil {
			t.Fatal(err)
		}
		testListIndex(t, s, s, seed, 60)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestListIndexIsTheListOnPostgres(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	testListIndex(t, s, s, 7, 40)
}

// TestListIndexFollowsAnotherProcess checks that each page is that of the store that changes
// the school, whatever another process knew before.
func TestListIndexFollowsAnotherProcess(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	var stores [2]*Store
	for i := range stores {
		s, err := OpenPostgres(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores[i] = s
	}
	testListIndex(t, stores[0], stores[1], 8, 40)
}

// TestListIndexBesideChanges checks that a page that is read while others change the list is
// one that the list had at some moment: its ids have no gap, and the total counts all before
// them.
func TestListIndexBesideChanges(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	indexAll(s)
	h := &history{Rand: rand.New(rand.NewPCG(1, 2)), store: s, now: storetest.Begin}
	if _, err := s.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: h.now}, "test"); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		h.add(t)
	}
	newest := lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true}}
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			v := s.In(context.Background(), 1)
			for {
				select {
				case <-done:
					return
				default:
				}
				l, err := v.Users.List(v, newest, lyceum.Page{Number: 3, Size: 5})
				if err != nil {
					t.Error(err)
					return
				}
				for i, u := range l.Rows { // of users 1 to the total, the newest first
					if int64(u.ID) != l.Total-10-int64(i) {
						t.Errorf("row %d of %d is user %d", i, l.Total, u.ID)
						return
					}
				}
			}
		})
	}
	for range 300 {
		h.now = h.now.Add(time.Second)
		h.add(t)
	}
	close(done)
	readers.Wait()
	if s.ListStats().Hits == 0 {
		t.Error("no index answered")
	}
}

// TestFirstPagesWhereManyExpire checks that where many enrollments of a course expire, its
// first pages have an index, too, since the total is a counter plus those enrollments.
func TestFirstPagesWhereManyExpire(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.IndexLists(1 << 20)
	s.lists.after, s.lists.least = 5, 2
	school := storetest.MakeSchool(t, s)
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		for course := range lyceum.CourseID(2) {
			if _, err := tx.Courses.Save(tx, lyceum.Course{ID: course + 1, Name: "Bread", CreatedAt: storetest.Begin}); err != nil {
				return err
			}
		}
		for n := range int32(8) {
			user := lyceum.User{ID: lyceum.UserID(n + 1), Email: fmt.Sprintf("user%d@example.com", n), Role: lyceum.Student, CreatedAt: storetest.Begin}
			if err := tx.Users.Insert(tx, user); err != nil {
				return err
			}
			for course := range int32(2) {
				e := lyceum.Enrollment{
					ID: lyceum.EnrollmentID(2*n + course + 1), User: user.ID, Course: lyceum.CourseID(course + 1), EnrolledAt: storetest.Begin,
				}
				if n < 5-course { // five of course 1, and four of course 2
					e.ExpiresAt = lyceum.Some(storetest.Begin.Add(time.Hour))
				}
				if err := storetest.Enroll(tx, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
	first := func(course lyceum.CourseID, at time.Time, total int64, page int32) (hits int64) {
		t.Helper()
		before := s.ListStats().Hits
		l, err := s.In(t.Context(), school).FindEnrolled(lyceum.EnrolledFilter{Course: course, ActiveAt: at}, lyceum.Page{Number: page, Size: 3})
		if err != nil || l.Total != total {
			t.Errorf("course %d has %d active enrollments, %v; want %d", course, l.Total, err, total)
		}
		s.lists.work.Wait()
		return s.ListStats().Hits - before
	}
	later := storetest.Begin.Add(2 * time.Hour)
	for i, tc := range []struct {
		course lyceum.CourseID
		at     time.Time
		page   int32
		total  int64
		hits   int64
	}{
		{1, storetest.Begin, 1, 8, 0}, // the index is built after it
		{1, storetest.Begin, 1, 8, 1},
		{1, storetest.Begin, 2, 8, 1},
		{1, later, 1, 3, 1}, // without those that expired
		{1, storetest.Begin, 1, 8, 0},
		{2, storetest.Begin, 1, 8, 0},
		{2, storetest.Begin, 1, 8, 0},
		{2, storetest.Begin, 3, 8, 0}, // a late page wants one all the same
		{2, storetest.Begin, 3, 8, 1},
		{2, storetest.Begin, 1, 8, 0}, // but not a first one
	} {
		if hits := first(tc.course, tc.at, tc.total, tc.page); hits != tc.hits {
			t.Errorf("question %d: %d pages were given by an index, want %d", i, hits, tc.hits)
		}
	}
}
