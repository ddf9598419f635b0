package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// Opener opens an empty store, which is discarded after the test.
type Opener func(t *testing.T) lyceum.Store

// Run checks that a store does everything that lyceum.Store promises.
func Run(t *testing.T, open Opener) {
	t.Helper()
	for name, test := range tests() {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// Lists checks a store that wraps another one and serves only lists of sales itself. It runs the
// tests of Run that concern lists and writes.
func Lists(t *testing.T, open Opener) {
	t.Helper()
	all := tests()
	for _, name := range []string{
		"rows come back as they were", "failed change leaves neighbours", "panic is an error", "cancelled change is not kept",
		"cancelled reads do no harm", "schools do not see each other", "lists equal the naive filter", "page and total agree",
		"a scan misses none", "the feed misses nothing", "closed store refuses",
	} {
		test := all[name]
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func tests() map[string]func(*testing.T, lyceum.Store) {
	return map[string]func(*testing.T, lyceum.Store){
		"schools":                          schools,
		"time zones":                       timeZones,
		"schools are renamed":              renames,
		"save tells new, changed and same": saves,
		"rows come back as they were":      roundTrip,
		"ids are never given out twice":    ids,
		"ids end with int32":               lastID,
		"journal is gapless":               journal,
		"failed change leaves neighbours":  neighbours,
		"panic is an error":                panics,
		"cancelled change is not kept":     cancelled,
		"cancelled reads do no harm":       cancelledReads,
		"emails are unique in any case":    emails,
		"schools do not see each other":    isolation,
		"API keys":                         apiKeys,
		"bookkeeping":                      bookkeeping,
		"lists equal the naive filter":     differential,
		"page and total agree":             consistency,
		"a scan misses none":               scan,
		"classrooms come back":             learning,
		"lists of courses":                 courseLists,
		"names of courses":                 courseNames,
		"lists of enrollments":             enrollmentLists,
		"enrollments begin once":           begunEnrollments,
		"rows of users":                    rowsOfUsers,
		"enrollments are deleted":          clearedEnrollments,
		"lists of users":                   userLists,
		"users by what they have":          usersByWhatTheyHave,
		"bulk jobs":                        bulkJobs,
		"warnings that were looked at":     dismissedWarnings,
		"people and plans by id":           byID,
		"names":                            names,
		"names of products":                productNames,
		"payments by reference":            references,
		"the feed misses nothing":          feed,
		"entries by kind, actor and time":  entries,
		"runs of entries":                  runs,
		"deletions are noted in order":     clearedBlocks,
		"a key is answered once":           answersOnce,
		"deliveries are claimed once":      deliveriesAreClaimedOnce,
		"deleted webhooks are left out":    deletedWebhooksAreLeftOut,
		"cursors pass what is no event":    undispatched,
		"check finds nothing wrong":        healthy,
		"closed store refuses":             closed,
	}
}

// Begin is the time of test data.
var Begin = time.Date(2024, 1, 10, 12, 0, 0, 0, time.UTC)

func stamp(school lyceum.SchoolID) lyceum.Stamp {
	return lyceum.Stamp{School: school, At: Begin, Actor: "test"}
}

// MakeSchool creates a school.
func MakeSchool(t testing.TB, store lyceum.Store) lyceum.SchoolID {
	t.Helper()
	school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "Fernwood", CreatedAt: Begin}, "test")
	if err != nil {
		t.Fatalf("create school: %v", err)
	}
	return school.ID
}

// Write runs a change that must succeed.
func Write(t testing.TB, store lyceum.Store, school lyceum.SchoolID, change func(lyceum.Tx) error) {
	t.Helper()
	if err := store.Write(t.Context(), stamp(school), change); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func user(id lyceum.UserID) lyceum.User {
	return lyceum.User{ID: id, Email: fmt.Sprintf("user%d@example.com", id), Role: lyceum.Student, CreatedAt: Begin}
}

func schools(t *testing.T, store lyceum.Store) {
	ctx := t.Context()
	first, second := MakeSchool(t, store), MakeSchool(t, store)
	if first == second || first < 1 || second < 1 {
		t.Fatalf("ids %d and %d", first, second)
	}
	if _, err := store.CreateSchool(ctx, lyceum.School{ID: first, Name: "Again", CreatedAt: Begin},
		"test"); lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("a taken id: %v, want a conflict", err)
	}
	some := lyceum.EmailSet(0).With(lyceum.ReceiptEmail, true)
	chosen, err := store.CreateSchool(ctx, lyceum.School{ID: 40, Name: "Chosen", CreatedAt: Begin, Emails: some}, "test")
	if err != nil || chosen.ID != 40 {
		t.Fatalf("chosen id: %v, %v", chosen, err)
	}
	if next := MakeSchool(t, store); next <= 40 {
		t.Errorf("next id %d collides with those below 40", next)
	}
	got, err := store.In(ctx, 40).GetSchool()
	if err != nil || got != chosen {
		t.Errorf("got %v, %v; want %v", got, err, chosen)
	}
	if _, err := store.In(ctx, 999).GetSchool(); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("unknown school: %v", err)
	}
	all, err := store.FindSchools(ctx)
	if err != nil || len(all) != 4 {
		t.Errorf("found %d schools, %v; want 4", len(all), err)
	}
	entries, err := FindEntries(ctx, store, 40, 0, 10)
	want := []lyceum.Entry{{Number: 1, At: Begin, Actor: "test", Type: lyceum.SchoolCreated, ObjectID: 40}}
	if err != nil || !slices.Equal(entries, want) {
		t.Errorf("journal %v, %v; want %v", entries, err, want)
	}
}

// timeZones checks that a school's time zone is UTC until it is set, and that each change of it
// appends an entry.
func timeZones(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	for _, zone := range []lyceum.TimeZone{"Europe/Berlin", "Europe/Berlin", "Pacific/Apia"} {
		Write(t, store, ours, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = zone }) })
	}
	for id, want := range map[lyceum.SchoolID]lyceum.TimeZone{ours: "Pacific/Apia", theirs: lyceum.UTC} {
		if got, err := store.In(t.Context(), id).GetSchool(); err != nil || got.TimeZone != want {
			t.Errorf("school %d has %q, %v; want %q", id, got.TimeZone, err, want)
		}
	}
	entries, err := FindEntries(t.Context(), store, ours, 1, 10)
	if err != nil || len(entries) != 2 || entries[0].Type != lyceum.SchoolUpdated {
		t.Errorf("journal %v, %v; want two changes of the school", entries, err)
	}
}

// renames checks that a school has its new name, also in the list of schools, and that the change
// appends an entry.
func renames(t *testing.T, store lyceum.Store) {
	ours := MakeSchool(t, store)
	for range 2 {
		Write(t, store, ours, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.Name = "Oakwood" }) })
	}
	got, err := store.In(t.Context(), ours).GetSchool()
	if err != nil || got.Name != "Oakwood" || got.TimeZone != lyceum.UTC {
		t.Errorf("got %+v, %v; want Oakwood, otherwise as it was", got, err)
	}
	all, err := store.FindSchools(t.Context())
	if err != nil || !slices.Contains(all, got) {
		t.Errorf("the schools are %+v, %v; want %+v among them", all, err, got)
	}
	entries, err := FindEntries(t.Context(), store, ours, 1, 10)
	if err != nil || len(entries) != 1 || entries[0].Type != lyceum.SchoolUpdated {
		t.Errorf("journal %v, %v; want one change of the school", entries, err)
	}
}

func saves(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	save := func(rows ...lyceum.User) (saved lyceum.Saved) {
		t.Helper()
		Write(t, store, school, func(tx lyceum.Tx) (err error) {
			saved, err = tx.Users.Save(tx, rows...)
			return err
		})
		return saved
	}
	changed := user(2)
	changed.Name = lyceum.Some("Ada")
	for _, step := range []struct {
		rows []lyceum.User
		want lyceum.Saved
	}{
		{nil, lyceum.Saved{}},
		{[]lyceum.User{user(1), user(2), user(3)}, lyceum.Saved{Created: 3}},
		{[]lyceum.User{user(1), user(2), user(3)}, lyceum.Saved{Unchanged: 3}},
		{[]lyceum.User{user(1), changed, user(4)}, lyceum.Saved{Created: 1, Updated: 1, Unchanged: 1}},
		{[]lyceum.User{user(2), changed}, lyceum.Saved{Updated: 2}},
	} {
		if got := save(step.rows...); got != step.want {
			t.Errorf("saved %+v, want %+v", got, step.want)
		}
	}
	entries, err := FindEntries(t.Context(), store, school, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Type, " ", e.ObjectID))
	}
	want := "user.created 1, user.created 2, user.created 3, user.updated 2, user.created 4, user.updated 2, " +
		"user.updated 2"
	if strings.Join(got, ", ") != want {
		t.Errorf("journal %v\nwant %v", strings.Join(got, ", "), want)
	}
}

// Ledger saves n random transactions with everything that they refer to, and returns them with
// the course of each pricing plan.
func Ledger(
	t testing.TB, store lyceum.Store, school lyceum.SchoolID, seed uint64, n int,
) ([]lyceum.Transaction, map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]) {
	t.Helper()
	book := newBook(seed, n)
	Write(t, store, school, book.save)
	return book.transactions, book.courseOf
}

func roundTrip(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	ctx := t.Context()
	book := newBook(1, 300)
	Write(t, store, school, book.save)

	v := store.In(ctx, school)
	var gotUsers []lyceum.User
	var gotCourses []lyceum.Course
	var gotPlans []lyceum.PricingPlan
	var gotTransactions []lyceum.Transaction
	err := errors.Join(
		v.Users.Each(v, lyceum.UserFilter{}, func(u *lyceum.User) error { gotUsers = append(gotUsers, *u); return nil }),
		v.Courses.Each(v, lyceum.CourseFilter{}, func(c *lyceum.Course) error {
			gotCourses = append(gotCourses,
				*c)
			return nil
		}),
		v.PricingPlans.Each(v, lyceum.PricingPlanFilter{},
			func(p *lyceum.PricingPlan) error { gotPlans = append(gotPlans, *p); return nil }),
		v.Transactions.Each(v, lyceum.TransactionQuery{Order: lyceum.OldestFirst}, func(x *lyceum.Transaction) error {
			gotTransactions = append(gotTransactions, *x)
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(book.transactions, inOrder)
	for what, diff := range map[string]string{
		"users":         cmp.Diff(book.users, gotUsers, SetByStore),
		"courses":       cmp.Diff(book.courses, gotCourses),
		"pricing plans": cmp.Diff(book.plans, gotPlans),
		"transactions":  cmp.Diff(book.transactions, gotTransactions),
	} {
		if diff != "" {
			t.Errorf("%s differ (-saved +kept):\n%s", what, diff)
		}
	}
	stop := errors.New("stop")
	seen := 0
	err = v.Users.Each(v, lyceum.UserFilter{}, func(*lyceum.User) error { seen++; return stop })
	if !errors.Is(err, stop) || seen != 1 {
		t.Errorf("a visit that fails: %v after %d rows", err, seen)
	}
	Write(t, store, school, func(tx lyceum.Tx) error {
		saved, err := tx.Transactions.Save(tx, book.transactions...)
		if err == nil && saved != (lyceum.Saved{Unchanged: 300}) {
			t.Errorf("saving what came back: %+v", saved)
		}
		return err
	})
}

func emails(t *testing.T, store lyceum.Store) {
	school, other := MakeSchool(t, store), MakeSchool(t, store)
	ada := user(1)
	ada.Email = "Ada@Example.com"
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, ada)
		return err
	})
	again := user(2)
	again.Email = "ada@example.COM"
	err := store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, again)
		return err
	})
	if lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("the same address in another case: %v, want a conflict", err)
	}
	Write(t, store, other, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, again)
		return err
	})
	v := store.In(t.Context(), school)
	found, err := lyceum.All(v.Users, v, lyceum.UserFilter{Emails: []string{
		"none@example.com", "ADA@example.com",
		"x@example.com",
	}})
	if diff := cmp.Diff([]lyceum.User{ada}, found, SetByStore); err != nil || diff != "" {
		t.Errorf("found by email: %v\n%s", err, diff)
	}
}

func isolation(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	Ledger(t, store, theirs, 5, 50)
	ctx := t.Context()
	listing, err := store.FindTransactions(ctx, ours, lyceum.TransactionFilter{}, lyceum.NewestFirst,
		lyceum.Page{Number: 1, Size: 100})
	if err != nil || listing.Total != 0 || listing.Transactions.Len() != 0 {
		t.Errorf("listing of an empty school: %+v, %v", listing, err)
	}
	for _, f := range filters(newBook(5, 50), 9, 50) {
		listing, err := store.FindTransactions(ctx, ours, f, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 100})
		if err != nil || listing.Total != 0 {
			t.Fatalf("filter %+v sees %d of another school, %v", f, listing.Total, err)
		}
	}
	v := store.In(ctx, ours)
	visit := func(any) error { t.Error("saw a row of another school"); return nil }
	err = errors.Join(
		v.Users.Each(v, lyceum.UserFilter{}, func(u *lyceum.User) error { return visit(u) }),
		v.Courses.Each(v, lyceum.CourseFilter{}, func(c *lyceum.Course) error { return visit(c) }),
		v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, func(p *lyceum.PricingPlan) error { return visit(p) }))
	if err != nil {
		t.Error(err)
	}
	known, err := store.In(ctx, ours).Known(lyceum.TransactionSequence, []int32{1, 2, 3})
	if err != nil || len(known) > 0 {
		t.Errorf("known %v, %v", known, err)
	}
}

func healthy(t *testing.T, store lyceum.Store) {
	Ledger(t, store, MakeSchool(t, store), 2, 400)
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("findings %v, %v", findings, err)
	}
}

func closed(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	if err := errors.Join(store.Close(), store.Close()); err != nil {
		t.Errorf("close: %v", err)
	}
	err := store.Write(t.Context(), stamp(school), func(lyceum.Tx) error { return nil })
	if lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("a write to a closed store: %v", err)
	}
}
