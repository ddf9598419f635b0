package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// desk is a school into which users are imported.
type desk struct {
	store   lyceum.Store
	service *people.Service
	school  lyceum.SchoolID
	now     time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{store: store, school: storetest.MakeSchool(t, store), now: storetest.Begin.Add(300 * time.Millisecond)}
	d.service = people.New(store, func() time.Time { return d.now })
	return d
}

func (d *desk) save(t *testing.T, batch ...lyceum.User) (lyceum.Saved, []lyceum.RowProblem) {
	t.Helper()
	given := slices.Clone(batch)
	saved, problems, err := d.service.Import(lyceum.By{School: d.school, Actor: "import"}).Save(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(given, batch) {
		t.Error("the batch itself was changed")
	}
	return saved, problems
}

// add stores students with ids from 1.
func (d *desk) add(t *testing.T, emails ...string) {
	t.Helper()
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		for i, email := range emails {
			user := lyceum.User{ID: lyceum.UserID(i + 1), Email: email, Role: lyceum.Student, CreatedAt: storetest.Begin}
			if _, err := tx.Users.Save(tx, user); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *desk) check(t *testing.T, batch ...lyceum.User) []lyceum.RowProblem {
	t.Helper()
	problems, err := d.service.Import(lyceum.By{School: d.school, Actor: "import"}).Check(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func (d *desk) kept(t *testing.T) (all []lyceum.User) {
	t.Helper()
	err := d.service.Each(t.Context(), lyceum.By{School: d.school, Actor: "test"}, func(u *lyceum.User) error {
		u.UpdatedAt = time.Time{} // which the store sets
		all = append(all, *u)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *desk) entries(t *testing.T) int {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), d.store, d.school, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func taken(index int, message string) lyceum.RowProblem {
	return lyceum.RowProblem{Index: index, FieldError: lyceum.FieldError{Field: "email", Message: message}}
}

func TestNewUsersAreCompleted(t *testing.T) {
	d := newDesk(t)
	begin := storetest.Begin
	full := lyceum.User{
		ID: 2, Email: "Grace@Example.com", Name: lyceum.Some("Grace Hopper"), Role: lyceum.Author, Src: lyceum.Some("newsletter"),
		PasswordHash: lyceum.Some("$argon2id$…"), CreatedAt: begin.AddDate(-1, 0, 0),
	}
	saved, problems := d.save(t, full, lyceum.User{ID: 1, Email: "ada@example.com"})
	if saved != (lyceum.Saved{Created: 2}) || len(problems) > 0 {
		t.Errorf("saved %+v, %v", saved, problems)
	}
	want := []lyceum.User{{ID: 1, Email: "ada@example.com", Role: lyceum.Student, CreatedAt: begin}, full}
	if diff := cmp.Diff(want, d.kept(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestTwiceChangesNothing(t *testing.T) {
	d := newDesk(t)
	batch := []lyceum.User{
		{ID: 1, Email: "ada@example.com"},
		{ID: 2, Email: "grace@example.com", Name: lyceum.Some(""), Role: "tutor", CreatedAt: storetest.Begin.AddDate(-1, 0, 0)},
		{ID: 3, Email: "ADA@example.com"}, // a bad row both times
	}
	d.save(t, batch...)
	before, entries := d.kept(t), d.entries(t)
	d.now = d.now.Add(time.Hour)
	if saved, problems := d.save(t, batch...); saved != (lyceum.Saved{Unchanged: 2}) || len(problems) != 1 {
		t.Errorf("again saved %+v, %v", saved, problems)
	}
	if diff := cmp.Diff(before, d.kept(t)); diff != "" {
		t.Errorf("again (-before +after):\n%s", diff)
	}
	if again := d.entries(t); again != entries {
		t.Errorf("again there are %d entries more", again-entries)
	}
}

func TestKnownUserKeepsWhatARowDoesNotSay(t *testing.T) {
	d := newDesk(t)
	known := lyceum.User{
		ID: 1, Email: "ada@example.com", Name: lyceum.Some("Ada"), Role: lyceum.Owner, PasswordHash: lyceum.Some("$argon2id$kept"),
		CreatedAt: storetest.Begin.AddDate(-2, 0, 0),
	}
	another := lyceum.User{ID: 2, Email: "owner@example.com", Role: lyceum.Owner, CreatedAt: storetest.Begin}
	d.save(t, known, another)
	d.now = d.now.Add(time.Hour)

	if saved, problems := d.save(t, lyceum.User{ID: 1, Email: "Ada@Example.com", Name: lyceum.Some("Ada Lovelace")}); saved != (lyceum.Saved{Updated: 1}) || len(problems) > 0 {
		t.Errorf("saved %+v, %v", saved, problems)
	}
	want := known
	want.Email, want.Name = "Ada@Example.com", lyceum.Some("Ada Lovelace")
	if diff := cmp.Diff([]lyceum.User{want, another}, d.kept(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	said := lyceum.User{
		ID: 1, Email: "ada@example.com", Role: lyceum.Affiliate, PasswordHash: lyceum.Some("$argon2id$new"), CreatedAt: storetest.Begin.AddDate(-3, 0, 0),
	}
	d.save(t, said)
	said.Name = want.Name
	if diff := cmp.Diff([]lyceum.User{said, another}, d.kept(t)); diff != "" {
		t.Errorf("a row that says all but the name (-want +got):\n%s", diff)
	}
}

// TestOwnerIsNotReplacedByChance checks that nobody becomes the owner, or gets the owner's
// password, by having the owner's id.
func TestOwnerIsNotReplacedByChance(t *testing.T) {
	d := newDesk(t)
	owner := lyceum.User{ID: 1, Email: "owner@example.com", Role: lyceum.Owner, PasswordHash: lyceum.Some("$argon2id$kept"), CreatedAt: storetest.Begin}
	d.save(t, owner)
	stranger := lyceum.User{ID: 1, Email: "stranger@example.com"}
	saved, problems := d.save(t, stranger)
	if saved != (lyceum.Saved{}) || len(problems) != 1 || problems[0].Field != "id" || !strings.Contains(problems[0].Message, "is the school's owner") {
		t.Errorf("a stranger with the owner's id: %+v, %v", saved, problems)
	}
	if diff := cmp.Diff([]lyceum.User{owner}, d.kept(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	stranger.Role = lyceum.Owner
	if saved, problems := d.save(t, stranger); saved != (lyceum.Saved{Updated: 1}) || len(problems) > 0 {
		t.Errorf("a new owner who says so: %+v, %v", saved, problems)
	}
	if kept := d.kept(t); kept[0].PasswordHash.Present || kept[0].Role != lyceum.Owner {
		t.Errorf("the new owner has the old one's password, or is none: %+v", kept[0])
	}
}

// TestAnOwnerStays checks that no row takes the role of the last owner who can sign in.
func TestAnOwnerStays(t *testing.T) {
	owner := func(id lyceum.UserID, email string) lyceum.User {
		return lyceum.User{ID: id, Email: email, Role: lyceum.Owner}
	}
	last := func(index, id int) []lyceum.RowProblem {
		return []lyceum.RowProblem{{Index: index, FieldError: lyceum.FieldError{Field: "role", Message: fmt.Sprintf(
			"must be owner: user %d is the last owner who can sign in; import another owner first, or use another id", id)}}}
	}
	student := lyceum.User{ID: 1, Email: "ada@example.com", Role: lyceum.Student}
	for _, tc := range []struct {
		name     string
		school   []lyceum.User
		batch    []lyceum.User
		problems []lyceum.RowProblem
	}{
		{"the only owner", nil, []lyceum.User{student}, last(0, 1)},
		{"somebody else with the owner's id", nil, []lyceum.User{{ID: 1, Email: "bob@example.com", Role: lyceum.Student}}, last(0, 1)},
		{"beside a disabled owner", []lyceum.User{{ID: 3, Email: "carl@example.com", Role: lyceum.Owner, DisabledAt: lyceum.Some(storetest.Begin)}}, []lyceum.User{student}, last(0, 1)},
		{"beside another owner", []lyceum.User{owner(3, "carl@example.com")}, []lyceum.User{student}, nil},
		{"beside a new owner", nil, []lyceum.User{student, owner(3, "carl@example.com")}, nil},
		{"beside a new owner who cannot be imported", nil, []lyceum.User{student, owner(3, "ADA@example.com")}, append([]lyceum.RowProblem{taken(1, "is already the email address of user 1; every user needs their own")}, last(0, 1)...)},
		{"both owners", []lyceum.User{owner(3, "carl@example.com")}, []lyceum.User{student, {ID: 3, Email: "carl@example.com", Role: "tutor"}}, last(1, 3)},
		{"a row without a role", nil, []lyceum.User{{ID: 1, Email: "ADA@example.com"}}, nil},
		{"the only owner, disabled", nil, []lyceum.User{{ID: 1, Email: "ada@example.com", DisabledAt: lyceum.Some(storetest.Begin)}}, []lyceum.RowProblem{{FieldError: lyceum.FieldError{
			Field: "disabled_at", Message: "must be empty: user 1 is the last owner who can sign in; import another owner first, or use another id",
		}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t)
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
				_, err := tx.Users.Save(tx, append(tc.school, owner(1, "ada@example.com"))...)
				return err
			})
			if diff := cmp.Diff(tc.problems, d.check(t, tc.batch...)); diff != "" {
				t.Errorf("checked (-want +got):\n%s", diff)
			}
			if _, problems := d.save(t, tc.batch...); !cmp.Equal(tc.problems, problems) {
				t.Errorf("saved %v, want %v", problems, tc.problems)
			}
		})
	}
}

// TestOwnersOfSeveralBatches checks that an import knows the owners of the batches that it has
// checked.
func TestOwnersOfSeveralBatches(t *testing.T) {
	ada := lyceum.User{ID: 1, Email: "ada@example.com", Role: lyceum.Owner}
	carl := lyceum.User{ID: 3, Email: "carl@example.com", Role: lyceum.Owner}
	student := func(u lyceum.User) lyceum.User {
		u.Role = lyceum.Student
		return u
	}
	for _, tc := range []struct {
		name    string
		school  []lyceum.User
		batches []lyceum.User // of one row each
		bad     int           // the batch with a problem; -1: none
	}{
		{"an owner who follows another one", nil, []lyceum.User{carl, student(ada)}, -1},
		{"both owners, one after the other", []lyceum.User{carl}, []lyceum.User{student(ada), student(carl)}, 1},
		{"an owner who left and one who stays", []lyceum.User{carl}, []lyceum.User{student(ada), carl}, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t)
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
				_, err := tx.Users.Save(tx, append(tc.school, ada)...)
				return err
			})
			rows := d.service.Import(lyceum.By{School: d.school, Actor: "import"})
			for n, row := range tc.batches {
				if problems, err := rows.Check(t.Context(), []lyceum.User{row}); err != nil || (len(problems) > 0) != (n == tc.bad) {
					t.Errorf("batch %d is checked: %v, %v", n, problems, err)
				}
			}
			for n, row := range tc.batches {
				if _, problems, err := rows.Save(t.Context(), []lyceum.User{row}); err != nil || (len(problems) > 0) != (n == tc.bad) {
					t.Errorf("batch %d is saved: %v, %v", n, problems, err)
				}
			}
		})
	}
}

// TestADisabledUserStaysDisabled checks that an import disables whom its rows say, and enables
// nobody.
func TestADisabledUserStaysDisabled(t *testing.T) {
	d := newDesk(t)
	begin := storetest.Begin
	disabled := lyceum.User{ID: 1, Email: "ada@example.com", Role: lyceum.Student, CreatedAt: begin, DisabledAt: lyceum.Some(begin.AddDate(0, 0, -3))}
	erased := lyceum.User{ID: 2, Email: lyceum.ErasedEmail(2), Role: lyceum.Student, CreatedAt: begin, DisabledAt: lyceum.Some(begin)}
	d.save(t, disabled, erased)
	d.save(t, lyceum.User{ID: 1, Email: "ada@example.com"})
	erased.ErasedAt = lyceum.Some(begin)
	if diff := cmp.Diff([]lyceum.User{disabled, erased}, d.kept(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d.save(t, lyceum.User{ID: 3, Email: "bob@example.com"})
	before := d.entries(t)
	for range 2 {
		d.save(t, lyceum.User{ID: 3, Email: "bob@example.com", DisabledAt: lyceum.Some(begin)})
	}
	if kept := d.kept(t); kept[2].DisabledAt != lyceum.Some(begin) || d.entries(t) != before+2 {
		t.Errorf("%+v with %d new entries", kept[2], d.entries(t)-before)
	}
}

func TestAddressesAreUniqueWhateverTheirCase(t *testing.T) {
	const one, two, five = "is already the email address of user 1; every user needs their own",
		"is already the email address of user 2; every user needs their own",
		"is already the email address of user 5; every user needs their own"
	for _, tc := range []struct {
		name     string
		batch    []lyceum.User
		problems []lyceum.RowProblem
		saved    lyceum.Saved
	}{
		{"a new one", []lyceum.User{{ID: 5, Email: "new@example.com"}}, nil, lyceum.Saved{Created: 1}},
		{"taken", []lyceum.User{{ID: 5, Email: "ada@example.com"}}, []lyceum.RowProblem{taken(0, one)}, lyceum.Saved{}},
		{"taken in another case", []lyceum.User{{ID: 5, Email: "ADA@EXAMPLE.COM"}}, []lyceum.RowProblem{taken(0, one)}, lyceum.Saved{}},
		{"taken beyond ASCII", []lyceum.User{{ID: 5, Email: "émile@example.com"}}, []lyceum.RowProblem{taken(0, two)}, lyceum.Saved{}},
		{"one's own in another case", []lyceum.User{{ID: 1, Email: "ADA@example.com"}}, nil, lyceum.Saved{Updated: 1}},
		{"a known user takes another's", []lyceum.User{{ID: 1, Email: "Émile@Example.com"}}, []lyceum.RowProblem{taken(0, two)}, lyceum.Saved{}},
		{
			"twice in the batch",
			[]lyceum.User{{ID: 5, Email: "new@example.com"}, {ID: 6, Email: "New@example.com"}, {ID: 7, Email: "other@example.com"}},
			[]lyceum.RowProblem{taken(1, five)},
			lyceum.Saved{Created: 2},
		},
		{"one user twice in the batch", []lyceum.User{{ID: 5, Email: "new@example.com"}, {ID: 5, Email: "NEW@example.com"}}, nil, lyceum.Saved{Created: 1}},
		{
			"good rows beside bad ones",
			[]lyceum.User{{ID: 5, Email: "ada@example.com"}, {ID: 6, Email: "new@example.com"}, {ID: 7, Email: "émile@example.com"}},
			[]lyceum.RowProblem{taken(0, one), taken(2, two)},
			lyceum.Saved{Created: 1},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t)
			d.save(t, lyceum.User{ID: 1, Email: "ada@example.com"}, lyceum.User{ID: 2, Email: "Émile@Example.com"})
			before := d.kept(t)
			if diff := cmp.Diff(tc.problems, d.check(t, tc.batch...)); diff != "" {
				t.Errorf("checked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, d.kept(t)); diff != "" {
				t.Errorf("the check changed (-before +after):\n%s", diff)
			}
			saved, problems := d.save(t, tc.batch...)
			if diff := cmp.Diff(tc.problems, problems); diff != "" || saved != tc.saved {
				t.Errorf("saved %+v, want %+v (-want +got):\n%s", saved, tc.saved, diff)
			}
			if kept := d.kept(t); len(kept) != 2+tc.saved.Created {
				t.Errorf("%d users kept", len(kept))
			}
		})
	}
}

func TestF9SchoolsDoNotShareAddresses(t *testing.T) {
	d := newDesk(t)
	d.save(t, lyceum.User{ID: 1, Email: "ada@example.com", Name: lyceum.Some("Ada")})
	ours := d.kept(t)
	d.school = storetest.MakeSchool(t, d.store)
	if saved, problems := d.save(t, lyceum.User{ID: 1, Email: "ada@example.com", Name: lyceum.Some("Another")}); saved != (lyceum.Saved{Created: 1}) || len(problems) > 0 {
		t.Errorf("saved %+v, %v", saved, problems)
	}
	d.school--
	if diff := cmp.Diff(ours, d.kept(t)); diff != "" {
		t.Errorf("the first school changed (-before +after):\n%s", diff)
	}
}

func TestWhatCannotBe(t *testing.T) {
	d := newDesk(t)
	if err := d.service.Each(t.Context(), lyceum.By{School: 999, Actor: "test"}, func(*lyceum.User) error { return nil }); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("a school there is not: %v", err)
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	saved, problems, err := d.service.Import(lyceum.By{School: d.school, Actor: "import"}).Save(t.Context(), []lyceum.User{{ID: 1, Email: "ada@example.com"}})
	if lyceum.KindOf(err) != lyceum.Unavailable || saved != (lyceum.Saved{}) || problems != nil {
		t.Errorf("saved %+v, %v, %v", saved, problems, err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "import users: ") {
		t.Errorf("error %q does not say what was being done", err)
	}
}
