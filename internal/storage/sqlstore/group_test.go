package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diffs "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// deed is a change that a test makes up, and what it found.
type deed struct {
	at      int // the index of its school
	do      func(tx lyceum.Tx, found func(string, ...any)) error
	found   []string
	failed  bool
	reason  error  // why it failed
	unknown bool   // it is unknown whether it was kept
	last    int64  // the number of its last entry, as reported to its caller
	email   string // of the user that it creates
	plain   bool   // it runs no queries ahead, and derives no results from earlier ones
	many    bool   // see change
	place   int64  // the last entry before it
}

// errRefused is an error with which a deed may end.
var errRefused = lyceum.Errorf(lyceum.Conflict, "refused")

// step is a part of a deed.
type step = func(tx lyceum.Tx, found func(string, ...any)) error

// makeDeed makes up a change of up to five steps, some of which fail, some of which violate a
// unique or a foreign key, and some of which query what others wrote. Like rules, it looks up
// a user before it writes rows that refer to them.
func makeDeed(r *rand.Rand) *deed {
	var steps []step
	saved := map[lyceum.UserID]bool{} // of two addresses that a change gives a user, the first may never be written
	for range 1 + r.IntN(5) {
		email := fmt.Sprintf("user%d@example.com", r.IntN(60))
		id, course := lyceum.UserID(1+r.IntN(30)), lyceum.CourseID(1+r.IntN(4))
		steps = append(steps, [...]step{
			func(tx lyceum.Tx, found func(string, ...any)) error {
				id, err := tx.Users.NextID(tx)
				if err != nil {
					return err
				}
				found("new user %d", id)
				return tx.Users.Insert(tx, lyceum.User{ID: id, Email: email, CreatedAt: storetest.Begin})
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				u, err := tx.Users.Get(tx, id)
				if err != nil {
					return err
				}
				found("user %d is %s", id, u.Name.Value)
				u.Name = lyceum.Some(email)
				return tx.Users.Update(tx, u)
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				c := lyceum.Course{Name: email, CreatedAt: storetest.Begin}
				var err error
				if c.ID, err = tx.Courses.NextID(tx); err != nil {
					return err
				}
				if err := tx.Courses.Insert(tx, c); err != nil {
					return err
				}
				c.Name = "Named " + email
				return tx.Courses.Update(tx, c)
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				c, err := tx.Courses.Get(tx, course)
				if err != nil {
					return err
				}
				found("course %d is %s", course, c.Name)
				for _, name := range []string{"Weaving", email} {
					c.Name = name
					if err := tx.Courses.Update(tx, c); err != nil {
						return err
					}
				}
				return nil
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				if saved[id] {
					return nil
				}
				saved[id] = true
				kept, err := tx.Users.Save(tx, lyceum.User{ID: id, Email: email, CreatedAt: storetest.Begin})
				found("saved %+v", kept)
				return err
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				return tx.Users.Each(tx, lyceum.UserFilter{Email: lyceum.Some(email)}, func(u *lyceum.User) error {
					found("%s is user %d", email, u.ID)
					return nil
				})
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				page, err := tx.Users.List(tx, lyceum.UserFilter{}, lyceum.Page{Number: 1, Size: 2})
				found("%d users, %d here", page.Total, len(page.Rows))
				return err
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				if _, err := tx.Users.Get(tx, id); err != nil {
					return err
				}
				eid, err := tx.Enrollments.NextID(tx)
				if err != nil {
					return err
				}
				begun, err := tx.BeginEnrollment(lyceum.Enrollment{ID: eid, User: id, Course: course, EnrolledAt: storetest.Begin})
				found("begun %t", begun)
				return err
			},
			func(tx lyceum.Tx, found func(string, ...any)) error {
				e, there, err := tx.Enrollments.First(tx, lyceum.EnrollmentFilter{User: lyceum.Some(id), Open: true})
				if err != nil || !there {
					return err
				}
				found("ends %d of course %d", e.ID, e.Course)
				e.EndedAt = lyceum.Some(storetest.Begin)
				return tx.Enrollments.Update(tx, e)
			},
			retag(r, id),
			func(tx lyceum.Tx, found func(string, ...any)) error {
				last, err := tx.LastEntry()
				found("entry %d", last)
				return err
			},
			unblock(id), block(id, course), lift(id), stay(r, id), leave(r, id),
			func(lyceum.Tx, func(string, ...any)) error { return errRefused },
		}[r.IntN(17)])
	}
	steps = slices.Insert(steps, 0, func(lyceum.Tx, func(string, ...any)) error { clear(saved); return nil })
	d := &deed{at: r.IntN(2)}
	ahead, id, course := 1+r.IntN(8), lyceum.UserID(1+r.IntN(30)), lyceum.CourseID(1+r.IntN(4))
	d.takes(steps, ahead, func(tx lyceum.Tx) []lyceum.Wanted {
		return []lyceum.Wanted{
			lyceum.ByID(tx.Users, id), lyceum.ByID(tx.Courses, course), lyceum.NextOf(lyceum.UserSequence),
			lyceum.FirstOf(tx.Enrollments, lyceum.EnrollmentFilter{User: lyceum.Some(id), Open: true}),
			lyceum.AllOf(tx.Blocks, lyceum.BlockFilter{User: lyceum.Some(id)}),
		}
	})
	return d
}

// takes makes a deed of steps. It runs some queries ahead of one of them.
func (d *deed) takes(steps []step, ahead int, wanted func(lyceum.Tx) []lyceum.Wanted) {
	d.do = func(tx lyceum.Tx, found func(string, ...any)) error {
		for i, step := range steps {
			var err error
			switch {
			case d.plain:
				clear(txOf(tx).q.group.lookups)
			case i == ahead:
				err = tx.Ahead(wanted(tx)...)
			}
			if err == nil {
				err = step(tx, found)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// makeAccess makes up a change to the access of three users and to payments, which also
// queries what it changes.
func makeAccess(r *rand.Rand) *deed {
	var steps []step
	for range 1 + r.IntN(6) {
		user := lyceum.UserID(1 + r.IntN(3))
		look := reach(reached(r, user), r.IntN(3) == 0)
		steps = append(steps, [...]step{
			entitle(r, user), amend(r, user), include(r), unblock(user), block(user, lyceum.CourseID(1+r.IntN(3))), pay(r, user),
			rename(r, user), func(lyceum.Tx, func(string, ...any)) error { return errRefused },
			payments(r), payments(r), look, look, look, look, lift(user), stay(r, user), leave(r, user), retag(r, user),
			drop(r, user), keep(r, user), keep(r, user),
		}[r.IntN(21)])
	}
	f, d := reached(r, lyceum.UserID(1+r.IntN(3))), &deed{at: r.IntN(2)}
	ahead, first := r.IntN(len(steps)+1), r.IntN(2) == 0
	steps = append(slices.Insert(steps, ahead, reach(f, first)), reach(f, first))
	d.takes(steps, ahead, func(tx lyceum.Tx) []lyceum.Wanted {
		return []lyceum.Wanted{
			lyceum.AllOf(tx.Access, f), lyceum.NextOf(lyceum.EntitlementSequence), lyceum.FirstOf(tx.Access, f),
		}
	})
	return d
}

// unblock deletes all blocks of a user.
func unblock(user lyceum.UserID) step {
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		n, err := tx.Blocks.Clear(tx, lyceum.BlockFilter{User: lyceum.Some(user)})
		found("%d blocks", n)
		return err
	}
}

// lift deletes the first block of a user, and looks for it again.
func lift(user lyceum.UserID) step {
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		f := lyceum.BlockFilter{User: lyceum.Some(user)}
		b, there, err := tx.Blocks.First(tx, f)
		if err != nil || !there {
			return err
		}
		if err := tx.Blocks.Delete(tx, b.ID); err != nil {
			return err
		}
		_, gone := tx.Blocks.Get(tx, b.ID)
		left, err := lyceum.All(tx.Blocks, tx, f)
		found("lifted %d: %v, left %d", b.ID, gone, len(left))
		return err
	}
}

// retag gives a user some of three tags.
func retag(r *rand.Rand, user lyceum.UserID) step {
	var tags []string
	for n := range 3 {
		if r.IntN(2) == 0 {
			tags = append(tags, fmt.Sprint("tag ", n))
		}
	}
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		changed, err := tx.SetTags(user, tags)
		found("tags changed %t", changed)
		return err
	}
}

// stay signs a user in.
func stay(r *rand.Rand, user lyceum.UserID) step {
	s := lyceum.Session{Hash: lyceum.KeyHash{byte(r.IntN(6))}, User: user, CreatedAt: storetest.Begin, SeenAt: storetest.Begin}
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		saved, err := tx.Sessions.Save(tx, s)
		found("stays %+v", saved)
		return err
	}
}

// leave signs a user out: here, or everywhere.
func leave(r *rand.Rand, user lyceum.UserID) step {
	hash, everywhere := lyceum.KeyHash{byte(r.IntN(6))}, r.IntN(2) == 0
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		if everywhere {
			n, err := tx.Sessions.Clear(tx, lyceum.SessionFilter{User: lyceum.Some(user)})
			found("%d sessions end", n)
			return err
		}
		err := tx.Sessions.Delete(tx, hash)
		found("signed out: %v", err)
		if lyceum.KindOf(err) == lyceum.NotFound {
			return nil
		}
		return err
	}
}

// block keeps a user out of a course.
func block(user lyceum.UserID, course lyceum.CourseID) step {
	return func(tx lyceum.Tx, _ func(string, ...any)) error {
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		id, err := tx.Blocks.NextID(tx)
		if err != nil {
			return err
		}
		return tx.Blocks.Insert(tx, lyceum.Block{ID: id, User: user, Product: course.Product(), CreatedAt: storetest.Begin})
	}
}

// rename renames a course, and one that does not exist, without looking for them.
func rename(r *rand.Rand, user lyceum.UserID) step {
	course := lyceum.Course{
		ID: lyceum.CourseID(1 + r.IntN(5)), Name: fmt.Sprint("Course ", r.IntN(9)), CreatedAt: storetest.Begin,
	}
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		if err := tx.Courses.Update(tx, course); err != nil {
			return err
		}
		c, there, err := tx.Courses.First(tx, lyceum.CourseFilter{AuthorID: lyceum.Some(lyceum.AuthorID(1))})
		found("course of the author %t %s", there, c.Name)
		if c, err := tx.Courses.Get(tx, course.ID); err == nil {
			found("named %s", c.Name)
		}
		return err
	}
}

// someProduct returns a course, or a collection that may include some.
func someProduct(r *rand.Rand) lyceum.Product {
	if r.IntN(4) == 0 {
		return lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
	}
	return lyceum.Product{Kind: lyceum.CourseKind, ID: int32(1 + r.IntN(3))}
}

// hours returns a time up to three hours after the beginning, or none.
func hours(r *rand.Rand) lyceum.Opt[time.Time] {
	if n := r.IntN(5); n < 4 {
		return lyceum.Some(storetest.Begin.Add(time.Duration(n) * time.Hour))
	}
	return lyceum.None[time.Time]()
}

// entitle gives a user a product.
func entitle(r *rand.Rand, user lyceum.UserID) step {
	e := lyceum.Entitlement{User: user, Product: someProduct(r), StartsAt: storetest.Begin, EndsAt: hours(r)}
	return func(tx lyceum.Tx, _ func(string, ...any)) error {
		e := e // a change may run several times
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		id, err := tx.Entitlements.NextID(tx)
		if e.ID = id; err != nil {
			return err
		}
		return tx.Entitlements.Insert(tx, e)
	}
}

// keep gives a user separately what is leaving the collection that they have. That may have ended.
func keep(r *rand.Rand, user lyceum.UserID) step {
	held := lyceum.EntitlementFilter{
		User: lyceum.Some(user), Products: []lyceum.Product{{Kind: lyceum.CollectionKind, ID: 1}}, Open: true,
	}
	leaving := lyceum.InclusionFilter[lyceum.ProductCollectionID]{
		In: lyceum.Some(lyceum.ProductCollectionID(1)), Leaving: true,
	}
	ended := r.IntN(2) == 0
	return func(tx lyceum.Tx, _ func(string, ...any)) error {
		e, there, err := tx.Entitlements.First(tx, held)
		if err != nil || !there {
			return err
		}
		all, err := lyceum.All(tx.CollectionProducts, tx, leaving)
		if err != nil {
			return err
		}
		e.KeptFrom = lyceum.Some(e.ID)
		if ended {
			e.EndedAt, e.EndReason = lyceum.Some(storetest.Begin), lyceum.Some(lyceum.EndedByUnenrollment)
		}
		for _, in := range all {
			if e.KeptFrom.Value > in.Leaving.Value {
				continue
			}
			if e.ID, err = tx.Entitlements.NextID(tx); err != nil {
				return err
			}
			e.Product = in.Product
			if err := tx.Entitlements.Insert(tx, e); err != nil {
				return err
			}
		}
		return nil
	}
}

// amend changes what a user has.
func amend(r *rand.Rand, user lyceum.UserID) step {
	f := lyceum.EntitlementFilter{User: lyceum.Some(user), Open: r.IntN(2) == 0}
	ends, ended, first := hours(r), hours(r), r.IntN(2) == 0
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		all, err := lyceum.All(tx.Entitlements, tx, f)
		if first {
			e, there, failed := tx.Entitlements.First(tx, f)
			all, err = []lyceum.Entitlement{e}[:min(len(all), 1)], failed
			found("has %t", there)
		}
		for _, e := range all {
			found("entitlement %d ends %v, ended %v", e.ID, e.EndsAt, e.EndedAt)
			e.EndsAt, e.EndedAt = ends, ended
			if e.EndReason = lyceum.None[lyceum.EntitlementEnd](); ended.Present {
				e.EndReason = lyceum.Some(lyceum.EndedByUnenrollment)
			}
			if _, err := tx.Entitlements.Save(tx, e); err != nil {
				return err
			}
		}
		return err
	}
}

// drop deletes something that a user has.
func drop(r *rand.Rand, user lyceum.UserID) step {
	at := r.IntN(9)
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		all, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{User: lyceum.Some(user)})
		if err != nil || len(all) == 0 {
			return err
		}
		e := all[at%len(all)]
		found("drops entitlement %d", e.ID)
		return tx.Entitlements.Delete(tx, e.ID)
	}
}

// reached returns a filter for what a user reaches.
func reached(r *rand.Rand, user lyceum.UserID) lyceum.EntitlementFilter {
	f := lyceum.EntitlementFilter{User: lyceum.Some(user), Blocked: r.IntN(4) == 0}
	if r.IntN(4) == 0 {
		f.User, f.Users = lyceum.None[lyceum.UserID](), []lyceum.UserID{user, 4 - user}
	}
	switch r.IntN(3) {
	case 0:
		f.Open = true
	case 1:
		f.OpenAt = lyceum.Some(storetest.Begin.Add(time.Hour))
	}
	for range r.IntN(3) {
		f.Products = append(f.Products, someProduct(r))
	}
	return f
}

// reach queries what users reach.
func reach(f lyceum.EntitlementFilter, first bool) step {
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		if first { // for which product is not determined
			e, there, err := tx.Access.First(tx, f)
			found("reaches %t by %d until %v, %v", there, e.ID, e.EndsAt, e.EndedAt)
			return err
		}
		all, err := lyceum.All(tx.Access, tx, f)
		slices.SortStableFunc(all, func(a, b lyceum.Entitlement) int { // the products of an entitlement are in any order
			return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Product.Kind, b.Product.Kind),
				cmp.Compare(a.Product.ID, b.Product.ID))
		})
		for _, e := range all {
			found("reaches %v by %d until %v, %v", e.Product, e.ID, e.EndsAt, e.EndedAt)
		}
		return err
	}
}

// include adds a course to the collection, or makes it leave.
func include(r *rand.Rand) step {
	course, leaves := lyceum.Product{Kind: lyceum.CourseKind, ID: int32(1 + r.IntN(3))}, r.IntN(2) == 0
	of := lyceum.InclusionFilter[lyceum.ProductCollectionID]{
		In: lyceum.Some(lyceum.ProductCollectionID(1)), Product: lyceum.Some(course), Leaving: true,
	}
	return func(tx lyceum.Tx, _ func(string, ...any)) error {
		in, there, err := tx.CollectionProducts.First(tx, of)
		if err == nil && !there {
			in = lyceum.CollectionProduct{In: 1, Product: course, CreatedAt: storetest.Begin}
			in.ID, err = tx.CollectionProducts.NextID(tx)
		}
		if err != nil {
			return err
		}
		in.Leaving, in.LeftAt = lyceum.None[lyceum.EntitlementID](), lyceum.None[time.Time]()
		if leaves {
			last, err := tx.Entitlements.NextID(tx)
			if err != nil {
				return err
			}
			in.Leaving, in.LeftAt = lyceum.Some(last), lyceum.Some(storetest.Begin)
		}
		_, err = tx.CollectionProducts.Save(tx, in)
		return err
	}
}

// pay inserts a payment of one of a few sales.
func pay(r *rand.Rand, user lyceum.UserID) step {
	t := lyceum.Transaction{
		UserID: user, PricingPlanID: 1, SaleID: lyceum.SaleID(1 + r.IntN(3)), Currency: "USD",
		CreatedAt: storetest.Begin.Add(time.Duration(r.IntN(4)) * time.Minute), PurchasedAt: storetest.Begin,
	}
	return func(tx lyceum.Tx, _ func(string, ...any)) error {
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		id, err := tx.Transactions.NextID(tx)
		if t.ID = id; err != nil {
			return err
		}
		return tx.Transactions.Insert(tx, t)
	}
}

// payments queries the payments of a sale, and may change the first one.
func payments(r *rand.Rand) step {
	q := lyceum.TransactionQuery{Sale: lyceum.Some(lyceum.SaleID(1 + r.IntN(3))), Order: lyceum.Order(r.IntN(2))}
	if r.IntN(3) == 0 { // which cannot be told from a row
		q.Chargeback = lyceum.Some(r.IntN(2) == 0)
	}
	at, of, first := r.IntN(4), lyceum.SaleID(1+r.IntN(3)), r.IntN(2) == 0
	return func(tx lyceum.Tx, found func(string, ...any)) error {
		all, err := lyceum.All(tx.Transactions, tx, q)
		for _, t := range all {
			found("payment %d of %d, %v", t.ID, t.SaleID, t.CreatedAt)
		}
		if err != nil || !first {
			return err
		}
		t, there, err := tx.Transactions.First(tx, q)
		if err != nil || !there {
			return err
		}
		found("first %d", t.ID)
		if at > 0 {
			t.SaleID = of
		}
		t.CreatedAt = storetest.Begin.Add(time.Duration(at) * time.Minute)
		t.HasChargeback = lyceum.Some(at > 1)
		_, err = tx.Transactions.Save(tx, t)
		return err
	}
}

// together runs deeds as one group, each in its school.
func together(s *Store, deeds []*deed, schools ...lyceum.SchoolID) {
	l := newQueue(1, 0, 0)
	group := make([]*change, len(deeds))
	for i, d := range deeds {
		group[i] = d.in(s, schools[d.at%len(schools)])
	}
	for h := (&hand{changes: group}); h != nil; h = l.take() { // runs what the group had no time for
		s.commit(l, h)
	}
	for i, d := range deeds {
		d.end(s, group[i].result)
	}
}

// in returns the change that does a deed in a school.
func (d *deed) in(s *Store, school lyceum.SchoolID) *change {
	return &change{ctx: context.Background(), school: school, many: d.many, done: make(chan struct{}), run: func(q *session) error {
		d.found = nil
		t := s.newTx(q, lyceum.Stamp{School: school, At: storetest.Begin, Actor: "deed"})
		err := d.do(lyceum.Tx{Tables: &tables, Changes: t}, func(format string, args ...any) {
			d.found = append(d.found, fmt.Sprintf(format, args...))
		})
		if err != nil {
			return err
		}
		return t.finish(&d.last)
	}}
}

// end records how a deed ended.
func (d *deed) end(s *Store, result error) {
	// If there are several reasons for a change to fail, which one it fails for depends on
	// when its rows are written.
	if d.failed = result != nil; d.failed {
		d.found, d.last, d.reason = nil, 0, result
		e := lyceum.Public(s.outcome(result))
		d.unknown = e != nil && e.Code == lyceum.OutcomeUnknown
	}
}

// state returns everything that the deeds can have changed.
func state(t *testing.T, s *Store, school lyceum.SchoolID) any {
	t.Helper()
	v := s.In(t.Context(), school)
	users, e1 := lyceum.All(v.Users, v, lyceum.UserFilter{})
	enrollments, e2 := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{})
	progress, e3 := lyceum.All(v.Progress, v, lyceum.ProgressFilter{})
	blocks, e4 := lyceum.All(v.Blocks, v, lyceum.BlockFilter{})
	entitlements, e7 := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{})
	payments, e8 := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{})
	sessions, e9 := lyceum.All(v.Sessions, v, lyceum.SessionFilter{})
	var tags []string
	e10 := v.EachTag(lyceum.None[lyceum.UserID](), func(of lyceum.UserID, name string) error {
		tags = append(tags, fmt.Sprint(of, name))
		return nil
	})
	entries, e5 := v.FindEntries(lyceum.EntryQuery{Limit: 100_000})
	wrong, e6 := s.Check(t.Context())
	wrong = slices.DeleteFunc(wrong, func(f lyceum.Finding) bool { // rules that the deeds do not follow
		return strings.Contains(f.What, "without an e") || strings.Contains(f.What, "a row of sales")
	})
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10); err != nil || len(wrong) > 0 {
		t.Fatal(err, wrong)
	}
	for i := range users {
		users[i].UpdatedAt = storetest.Begin
	}
	changed := slices.DeleteFunc(entries.Entries, func(e lyceum.Entry) bool { return e.Type == lyceum.SchoolCreated })
	return []any{users, enrollments, progress, blocks, entitlements, payments, sessions, tags, changed}
}

func schoolOfDeeds(t *testing.T, s *Store) lyceum.SchoolID {
	t.Helper()
	school := storetest.MakeSchool(t, s)
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		var courses []lyceum.Course
		for id := range lyceum.CourseID(3) {
			courses = append(courses, lyceum.Course{ID: id + 1, Name: "Course", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		}
		_, e1 := tx.Courses.Save(tx, courses...)
		_, e2 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: storetest.Begin})
		_, e3 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 1, Name: "Once", Currency: "USD", Frequency: lyceum.Free})
		return errors.Join(e1, e2, e3)
	})
	return school
}

// TestGroupsAgree checks that the changes of a group find, do and reject what they would if
// each had its own transaction. LYCEUM_GROUPS is the number of groups.
func TestGroupsAgree(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) { groupsAgree(t, s, 30, 2, makeDeed, schoolOfDeeds) })
}

// TestGroupsSeeRowsThatWait does the same for changes that query what they and others changed.
func TestGroupsSeeRowsThatWait(t *testing.T) {
	t.Parallel()
	withUsers := func(t *testing.T, s *Store) lyceum.SchoolID {
		t.Helper()
		school := schoolOfDeeds(t, s)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			for id := range lyceum.UserID(3) {
				email := fmt.Sprintf("user%d@example.com", id)
				if _, err := tx.Users.Save(tx, lyceum.User{ID: id + 1, Email: email, CreatedAt: storetest.Begin}); err != nil {
					return err
				}
			}
			_, err := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 1})
			return err
		})
		return school
	}
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		for range 2 { // users have more and more, so changes find more
			groupsAgree(t, s, 20, 1, makeAccess, withUsers)
		}
	})
}

// groupsAgree compares groups of deeds, at least least of them, in a number of schools with
// the same deeds one by one in as many other schools.
func groupsAgree(
	t *testing.T, s *Store, least, schools int, makeDeed func(*rand.Rand) *deed,
	makeSchool func(*testing.T, *Store) lyceum.SchoolID,
) {
	t.Helper()
	groups, _ := strconv.Atoi(os.Getenv("LYCEUM_GROUPS"))
	groups = max(groups, least)
	seed := rand.Uint64()
	var a, b []lyceum.SchoolID
	for range schools {
		a, b = append(a, makeSchool(t, s)), append(b, makeSchool(t, s))
	}
	one, other := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
	for n := range groups {
		size, many := 1+one.IntN(12), one.IntN(2) == 0
		_, _ = other.IntN(12), other.IntN(2)
		var deeds, alone []*deed
		for range size {
			deeds, alone = append(deeds, makeDeed(one)), append(alone, makeDeed(other))
		}
		for _, d := range deeds {
			d.many = many
		}
		together(s, deeds, a...)
		of := s.known // of the schools that are not being written to
		for i := range alone {
			alone[i].plain, s.known = true, known{}
			together(s, alone[i:i+1], b...)
		}
		s.known = of
		wantAsAlone(t, fmt.Sprintf("seed %d, group %d", seed, n), deeds, alone)
	}
	wantSameState(t, fmt.Sprintf("seed %d", seed), s, a, b)
}

// wantAsAlone checks that deeds found, and reported, the same as the deeds of alone, which ran
// one by one.
func wantAsAlone(t *testing.T, where string, deeds, alone []*deed) {
	t.Helper()
	for i := range deeds {
		got, want := deeds[i], alone[i]
		if got.failed != want.failed || got.last != want.last || !slices.Equal(got.found, want.found) {
			t.Fatalf("%s, change %d: entry %d, %v; alone entry %d, %v\n%s", where, i,
				got.last, got.reason, want.last, want.reason, diffs.Diff(want.found, got.found))
		}
	}
}

// wantSameState checks that schools have the same state as those of alone, in which deeds ran
// one by one.
func wantSameState(t *testing.T, where string, s *Store, schools, alone []lyceum.SchoolID) {
	t.Helper()
	for i := range schools {
		if diff := diffs.Diff(state(t, s, alone[i]), state(t, s, schools[i])); diff != "" {
			t.Errorf("%s, alone and together:\n%s", where, diff)
		}
	}
}

// TestRowsChangedBeforeTheyAreWritten checks that a query that did not find a row runs again
// once the waiting row is one that it finds.
func TestRowsChangedBeforeTheyAreWritten(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, err := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 1}, lyceum.AuthorProfile{ID: 2})
			return err
		})
		look := func(tx lyceum.Tx, found func(string, ...any)) error {
			all, err := lyceum.All(tx.Courses, tx, lyceum.CourseFilter{AuthorID: lyceum.Some(lyceum.AuthorID(2))})
			found("%d courses", len(all))
			return err
		}
		deeds := []*deed{{do: func(tx lyceum.Tx, found func(string, ...any)) error {
			c := lyceum.Course{ID: 4, Name: "Bread", AuthorID: lyceum.Some(lyceum.AuthorID(1)), CreatedAt: storetest.Begin}
			if err := tx.Courses.Insert(tx, c); err != nil {
				return err
			}
			if err := look(tx, found); err != nil {
				return err
			}
			c.AuthorID = lyceum.Some(lyceum.AuthorID(2))
			return tx.Courses.Update(tx, c)
		}}, {do: look}, {do: look}}
		together(s, deeds, school)
		for i, want := range []string{"0 courses", "1 courses", "1 courses"} {
			if got := deeds[i]; got.failed || !slices.Equal(got.found, []string{want}) {
				t.Errorf("change %d found %q, want %q, %v", i, got.found, want, got.reason)
			}
		}
	})
}

// TestRowsThatUpdatesLeave checks that a query may find a waiting update by the values that it
// leaves unchanged and by all that it changes.
func TestRowsThatUpdatesLeave(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		course := lyceum.Course{ID: 4, Name: "Bread", AuthorID: lyceum.Some(lyceum.AuthorID(1)), CreatedAt: storetest.Begin}
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, e1 := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 1}, lyceum.AuthorProfile{ID: 2})
			_, e2 := tx.Courses.Save(tx, course)
			return errors.Join(e1, e2)
		})
		save := func(name string, author lyceum.AuthorID) func(lyceum.Tx) error {
			return func(tx lyceum.Tx) error {
				c := course
				c.Name, c.AuthorID = name, lyceum.Some(author)
				_, err := tx.Courses.Save(tx, c)
				return err
			}
		}
		update := func(name string, author lyceum.AuthorID) func(lyceum.Tx) error {
			return func(tx lyceum.Tx) error {
				c := course
				c.Name, c.AuthorID = name, lyceum.Some(author)
				return tx.Courses.Update(tx, c)
			}
		}
		var deeds []*deed
		var want []string
		for _, step := range []struct {
			do   []func(lyceum.Tx) error
			want string
		}{
			{nil, "1: Bread; 2:"},
			{[]func(lyceum.Tx) error{save("Rolls", 1)}, "1: Rolls; 2:"},
			{[]func(lyceum.Tx) error{save("Rolls", 2)}, "1:; 2: Rolls"},
			{[]func(lyceum.Tx) error{save("Cakes", 2), update("Cakes", 1)}, "1: Cakes; 2:"},
			{[]func(lyceum.Tx) error{update("Tarts", 1), update("Tarts", 2)}, "1:; 2: Tarts"},
		} {
			deeds, want = append(deeds, &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
				for _, do := range step.do {
					if err := do(tx); err != nil {
						return err
					}
				}
				return nil
			}}, &deed{do: func(tx lyceum.Tx, found func(string, ...any)) error {
				var of [2]string
				for i := range of {
					f := lyceum.CourseFilter{AuthorID: lyceum.Some(lyceum.AuthorID(i + 1))}
					err := tx.Courses.Each(tx, f, func(c *lyceum.Course) error { of[i] += " " + c.Name; return nil })
					if err != nil {
						return err
					}
				}
				found("1:%s; 2:%s", of[0], of[1])
				return nil
			}}), append(want, "", step.want)
		}
		together(s, deeds, school)
		for i, want := range want {
			if got := deeds[i]; got.failed || want != "" && !slices.Equal(got.found, []string{want}) {
				t.Errorf("change %d found %q, want %q, %v", i, got.found, want, got.reason)
			}
		}
	})
}

// TestEntitlementsKeptFromOthers checks that an entitlement that was kept from another one hides
// that one, even if it has ended, and that a query finds the other one again after the deletion.
func TestEntitlementsKeptFromOthers(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		course := lyceum.CourseID(1).Product()
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, e1 := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ada@example.com", CreatedAt: storetest.Begin})
			_, e2 := tx.CollectionProducts.Save(tx,
				lyceum.CollectionProduct{ID: 1, In: 1, Product: course, Leaving: lyceum.Some(lyceum.EntitlementID(1))})
			all := lyceum.Entitlement{
				ID: 1, User: 1, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}, StartsAt: storetest.Begin,
			}
			return errors.Join(e1, e2, tx.Entitlements.Insert(tx, all))
		})
		look := func(tx lyceum.Tx, found func(string, ...any)) error {
			f := lyceum.EntitlementFilter{User: lyceum.Some(lyceum.UserID(1)), Products: []lyceum.Product{course}, Open: true}
			e, there, err := tx.Access.First(tx, f)
			found("%t by %d", there, e.ID)
			return err
		}
		keep := func(ended lyceum.Opt[time.Time]) func(lyceum.Tx, func(string, ...any)) error {
			return func(tx lyceum.Tx, found func(string, ...any)) error {
				kept := lyceum.Entitlement{
					ID: 2, User: 1, Product: course, KeptFrom: lyceum.Some(lyceum.EntitlementID(1)), StartsAt: storetest.Begin, EndedAt: ended,
				}
				return errors.Join(look(tx, found), tx.Entitlements.Insert(tx, kept), look(tx, found))
			}
		}
		drop := func(tx lyceum.Tx, found func(string, ...any)) error {
			return errors.Join(look(tx, found), tx.Entitlements.Delete(tx, 2), look(tx, found))
		}
		deeds := []*deed{
			{do: look},
			{do: keep(lyceum.None[time.Time]())},
			{do: drop},
			{do: keep(lyceum.Some(storetest.Begin))},
			{do: look},
			{do: drop},
		}
		together(s, deeds, school)
		for i, want := range [][]string{
			{"true by 1"}, {"true by 1", "true by 2"}, {"true by 2", "true by 1"}, // kept, and deleted
			{"true by 1", "false by 0"}, {"false by 0"}, {"false by 0", "true by 1"}, // kept and ended, and deleted
		} {
			if got := deeds[i]; got.failed || !slices.Equal(got.found, want) {
				t.Errorf("change %d found %q, want %q, %v", i, got.found, want, got.reason)
			}
		}
	})
}

// TestGroupsThatFail checks that of a group whose rows the database rejects when they are
// written at its end, that has a serialization failure or that loses its connection, each
// change is kept either completely or not at all, as it reported. LYCEUM_GROUPS is the number
// of groups.
func TestGroupsThatFail(t *testing.T) {
	t.Parallel()
	groups, _ := strconv.Atoi(os.Getenv("LYCEUM_GROUPS"))
	groups = max(groups, 12)
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		postgres := s.Engine() == "postgres"
		if postgres { // the rows of every other group conflict with another transaction
			_, err := s.writes.db.ExecContext(t.Context(), `CREATE SEQUENCE meetings; CREATE FUNCTION meet() RETURNS trigger AS $$
				BEGIN IF NEW.name = 'meets' AND nextval('meetings') % 2 = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
				RETURN NEW; END $$ LANGUAGE plpgsql;
				CREATE TRIGGER meet BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION meet()`)
			if err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(rand.Uint64(), 0))
		kept, unknown, last := map[string]bool{}, map[string]bool{}, map[int64]string{}
		for n := range groups {
			cut := postgres && r.IntN(4) == 0
			var deeds []*deed
			for i := range 2 + r.IntN(6) {
				email, name := fmt.Sprintf("user%d-%d@example.com", n, i), "plain"
				switch r.IntN(6) {
				case 0:
					email = "user0-0@example.com" // which exists or will exist
				case 1:
					name = "meets"
				}
				last := cut && i == 1
				deeds = append(deeds, &deed{email: email, do: func(tx lyceum.Tx, _ func(string, ...any)) error {
					id, err := tx.Users.NextID(tx)
					if err != nil {
						return err
					}
					if last { // terminates the writer's connection, and no other
						q := txOf(tx).q.link.(*pipeline)
						_, _ = s.reads.db.ExecContext(t.Context(), "SELECT pg_terminate_backend($1)", q.conn.PgConn().PID())
					}
					return tx.Users.Insert(tx, lyceum.User{
						ID: id, Email: email, Name: lyceum.Some(name), CreatedAt: storetest.Begin,
					})
				}})
			}
			together(s, deeds, school)
			for _, d := range deeds {
				unknown[d.email] = unknown[d.email] || d.unknown
				kept[d.email] = kept[d.email] || !d.failed
				if !d.failed {
					last[d.last] = d.email
				}
			}
		}
		v := s.In(t.Context(), school)
		there, ids := map[string]bool{}, map[string]int32{}
		err := v.Users.Each(v, lyceum.UserFilter{}, func(u *lyceum.User) error {
			there[u.Email], ids[u.Email] = true, int32(u.ID)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := v.FindEntries(lyceum.EntryQuery{Limit: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries.Entries {
			if email, found := last[e.Number]; found && ids[email] != e.ObjectID {
				t.Errorf("%s: told entry %d, which is of user %d", email, e.Number, e.ObjectID)
			}
			delete(last, e.Number)
		}
		if len(last) > 0 {
			t.Errorf("told of entries that are not there: %v", last)
		}
		for email, is := range kept {
			if is != there[email] && !unknown[email] {
				t.Errorf("%s: told %t, is there %t", email, is, there[email])
			}
		}
		state(t, s, school)
	})
}
