package sqlstore

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestReferencesOfTriggers checks which references are read from the triggers.
func TestReferencesOfTriggers(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for child, keys := range openTestPostgres(t).writes.keys {
		got[child] = []string{}
		for _, to := range keys {
			got[child] = append(got[child], to.column+" of "+to.table+" by "+to.key)
		}
		slices.Sort(got[child])
	}
	want := map[string][]string{
		"sales":            {},
		"transactions":     {"pricing_plan_id of pricing_plans by pricing_plan_id", "user_id of users by user_id"},
		"entitlements":     {"sale_id of sales by sale_id", "user_id of users by user_id"},
		"enrollments":      {"course_id of courses by course_id", "user_id of users by user_id"},
		"progress":         {"course_id of courses by course_id", "user_id of users by user_id"},
		"lecture_progress": {"lecture_id of lectures by lecture_id", "user_id of users by user_id"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestKnownReferences checks when a group knows everything that its rows refer to.
func TestKnownReferences(t *testing.T) {
	t.Parallel()
	keys := foreignKeys{
		"sales":        nil,
		"entitlements": {{"user_id", "users", "user_id"}, {"sale_id", "sales", "sale_id"}},
	}
	found := func(school int64, ids ...int64) *lookup {
		l := &lookup{args: []any{school}, known: true, in: scope{tables: []string{"users"}, columns: []string{"user_id", "name"}}}
		for _, id := range ids {
			l.rows = append(l.rows, []any{id, "Ann"})
		}
		return l
	}
	counted := func(school, id, users int64) *lookup {
		byUser := []equal{{"user_id", []any{id}}}
		return &lookup{
			args: []any{school}, known: true, rows: [][]any{{int64(3), users}},
			in: scope{tallies: []tally{{table: "enrollments", equals: byUser}, {table: "users", equals: byUser}}},
		}
	}
	guessed := found(7, 1)
	guessed.known, guessed.guess = false, guessed.rows
	ofView := found(7, 1)
	ofView.in.through = &through{}
	ofSome := counted(7, 1, 1)
	ofSome.in.tallies[1].equals = append(slices.Clone(ofSome.in.tallies[1].equals), equal{"role", []any{"owner"}})
	byRole := counted(7, 1, 1)
	byRole.in.tallies[1].equals = []equal{{"role", []any{int64(1)}}}
	entitlement := func(user, sale any) edit {
		return edit{table: "entitlements", school: 7, columns: []string{"entitlement_id", "user_id", "sale_id"}, values: []any{int64(1), user, sale}}
	}
	sale := edit{table: "sales", school: 7, columns: []string{"sale_id", "price"}, values: []any{int64(5), int64(100)}}
	following := func(w edit, columns ...int) edit {
		w.follows = make([]string, len(w.columns))
		for _, c := range columns {
			w.follows[c] = "sale_id"
		}
		return w
	}
	changed := edit{table: "users", school: 7, columns: []string{"user_id"}, values: []any{int64(1)}, update: "UPDATE users"}
	deleted := changed
	deleted.gone = true
	one, five := int64(1), int64(5)
	for _, test := range []struct {
		name    string
		lookups []*lookup
		log     []edit
		want    bool
	}{
		{"a row that was found", []*lookup{found(7, 2, 1)}, []edit{entitlement(one, nil)}, true},
		{"a row that was counted", []*lookup{counted(7, 1, 1)}, []edit{entitlement(one, nil)}, true},
		{"a row of the log", []*lookup{found(7, 1)}, []edit{sale, entitlement(one, five)}, true},
		{"a later row of the log, which is written first", []*lookup{found(7, 1)}, []edit{entitlement(one, five), sale}, true},
		{"a row that follows a counter", []*lookup{found(7, 1)}, []edit{following(sale, 0), following(entitlement(one, five), 0, 2)}, true},
		{"only a row of a school", []*lookup{found(7, 1)}, []edit{sale}, true},
		{"an update besides", []*lookup{found(7, 1)}, []edit{entitlement(one, nil), changed}, true},
		{"nothing was found", nil, []edit{entitlement(one, nil)}, false},
		{"another row was found", []*lookup{found(7, 2)}, []edit{entitlement(one, nil)}, false},
		{"a row of another school was found", []*lookup{found(8, 1)}, []edit{entitlement(one, nil)}, false},
		{"no row was found", []*lookup{found(7)}, []edit{entitlement(one, nil)}, false},
		{"none was counted", []*lookup{counted(7, 1, 0)}, []edit{entitlement(one, nil)}, false},
		{"those of a role were counted", []*lookup{byRole}, []edit{entitlement(one, nil)}, false},
		{"rows with two conditions were counted", []*lookup{ofSome}, []edit{entitlement(one, nil)}, false},
		{"only a guess", []*lookup{guessed}, []edit{entitlement(one, nil)}, false},
		{"only a row of a view", []*lookup{ofView}, []edit{entitlement(one, nil)}, false},
		{"one of two references", []*lookup{found(7, 1)}, []edit{entitlement(one, five)}, false},
		{"one of two rows", []*lookup{found(7, 1)}, []edit{entitlement(one, nil), entitlement(int64(2), nil)}, false},
		{"a distance like an id", []*lookup{found(7, 1)}, []edit{following(sale, 0), entitlement(one, five)}, false},
		{"an id like a distance", []*lookup{found(7, 1)}, []edit{sale, following(entitlement(one, five), 2)}, false},
		{"a school of which nothing is known", []*lookup{found(8, 1)}, []edit{sale}, false},
		{"a deletion", []*lookup{found(7, 1)}, []edit{entitlement(one, nil), deleted}, false},
		{"a statement", []*lookup{found(7, 1)}, []edit{entitlement(one, nil), {table: "users"}}, false},
		{"an id out of range", []*lookup{found(7, 1)}, []edit{entitlement(int64(1<<32+1), nil)}, false},
		{"not an id", []*lookup{found(7, 1)}, []edit{entitlement("1", nil)}, false},
		{"nothing that refers", []*lookup{found(7, 1)}, []edit{changed}, false},
		{"nothing at all", nil, nil, false},
	} {
		g := &group{session: &session{pool: &pool{keys: keys}}, parents: map[parents]*roaring.Bitmap{}, log: test.log, lookups: lookups{}}
		for i, l := range test.lookups {
			g.lookups[queryKey{args: string(rune(i))}] = l
		}
		if got := g.knowsReferences(); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

// TestTriggersAreSpared checks that changes that have read what their rows refer to spare the
// triggers, alone and together, and that others do not: what they refer to must exist.
func TestTriggersAreSpared(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	spared := 0
	trace := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(text, "lyceum.referred") {
			spared++
		}
	}
	clock := func() time.Time { return storetest.Begin } // so that groups have time for all of their changes
	s, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{Trace: trace, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	school := schoolOfDeeds(t, s)
	makePlans(t, s, school)
	for id := range lyceum.UserID(4) {
		if err := addUser(s, school, id+1); err != nil {
			t.Fatal(err)
		}
	}
	give := func(user lyceum.UserID, look bool) func(tx lyceum.Tx) error {
		return func(tx lyceum.Tx) error {
			if look {
				if _, err := tx.Users.Get(tx, user); err != nil {
					return err
				}
			}
			id, err := tx.Entitlements.NextID(tx)
			if err != nil {
				return err
			}
			return tx.Entitlements.Insert(tx, lyceum.Entitlement{
				ID: id, User: user, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: 1}, StartsAt: storetest.Begin,
			})
		}
	}
	enroll := func(user lyceum.UserID) func(tx lyceum.Tx) error {
		return func(tx lyceum.Tx) error {
			id, err := tx.Enrollments.NextID(tx)
			if err != nil {
				return err
			}
			begun, err := tx.BeginEnrollment(lyceum.Enrollment{ID: id, User: user, Course: 1, EnrolledAt: storetest.Begin})
			if err == nil && !begun {
				err = errRefused
			}
			return err
		}
	}
	type do = func(tx lyceum.Tx) error
	for _, test := range []struct {
		name    string
		changes []do
		spared  bool
		refused int // how many changes the database refuses
	}{
		{"an enrollment", []do{enroll(1)}, true, 0},
		{"a user who was read", []do{give(1, true)}, true, 0},
		{"several", []do{enroll(2), give(2, true), enroll(3), give(4, true)}, true, 0},
		{"a user who was not read", []do{give(1, false)}, false, 0},
		{"one who was not among those who were", []do{give(1, true), give(2, false), give(3, true)}, false, 0},
		{"one who does not exist", []do{give(99, false)}, false, 1},
		{"one who does not exist among those who do", []do{give(1, true), give(99, false), give(3, true)}, false, 1},
	} {
		mu.Lock()
		spared = 0
		mu.Unlock()
		var deeds []*deed
		for _, do := range test.changes {
			deeds = append(deeds, &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error { return do(tx) }})
		}
		together(s, deeds, school)
		refused := 0
		for _, d := range deeds {
			if d.failed {
				refused++
			}
			if errors.Is(d.reason, errRefused) {
				t.Errorf("%s: %v", test.name, d.reason)
			}
		}
		mu.Lock()
		if (spared > 0) != test.spared || refused != test.refused {
			t.Errorf("%s: the triggers were spared %d times, %d changes were refused; want %t and %d", test.name, spared, refused, test.spared, test.refused)
		}
		mu.Unlock()
	}
}
