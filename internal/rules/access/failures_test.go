package access_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

var everyFailure = lyceum.Page{Number: 1, Size: 5000}

// However many requests fail, a school stores a limited number, reports how many it left out,
// and does not affect other schools.
func TestFailuresAreBounded(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	f := access.NewFailures(o.store, o.clock.Now)
	add := func(method, path string, n int) {
		for range n {
			f.Add(o.school, lyceum.FailedRequest{RequestID: "a", Method: method, Path: path, Status: 404}, lyceum.Errorf(lyceum.NotFound, "no"))
		}
	}
	kept := func() int {
		t.Helper()
		if err := f.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, err := f.List(t.Context(), lyceum.By{School: o.school}, lyceum.FailedRequestFilter{}, everyFailure)
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Rows)
	}
	add("GET", "/v1/users/1", 1000)
	if n := kept(); n != 200 || f.Dropped() != 800 {
		t.Errorf("of 1000 alike %d are kept and %d dropped", n, f.Dropped())
	}
	for i := range 12 {
		add("GET", "/v1/courses/"+strings.Repeat("1", i+1), 200)
	}
	if n := kept(); n != 2000 || f.Dropped() != 1400 {
		t.Errorf("of 3400 %d are kept and %d dropped", n, f.Dropped())
	}
	o.clock.Pass(time.Hour)
	add("GET", "/v1/users/1", 1)
	if n := kept(); n != 2001 {
		t.Errorf("an hour later %d are kept", n)
	}
	o.clock.Pass(lyceum.FailedRequestsKept)
	if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if n := kept(); n != 1 {
		t.Errorf("a week later %d are kept, want the one that is as old as that", n)
	}
	o.clock.Pass(time.Second)
	if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if n := kept(); n != 0 {
		t.Errorf("after that %d are kept", n)
	}
}

// The message is stored without addresses, and truncated.
func TestFailureTexts(t *testing.T) {
	o := newOffice(t, openStore(t, t.TempDir()))
	f := access.NewFailures(o.store, o.clock.Now)
	for _, tc := range []struct {
		err  error
		want string
	}{
		{lyceum.InvalidFields(lyceum.FieldError{Field: "page", Message: "must be a number"}, lyceum.FieldError{Field: "per", Message: "must be 1"}), "page must be a number; per must be 1"},
		{lyceum.Errorf(lyceum.Conflict, `the user "ann.lee@example.com" is there, <b@c.de>`), `the user "…" is there, <…>`},
		{lyceum.Errorf(lyceum.Internal, ""), "internal"},
		{lyceum.Invalidf("an address such as learner@example.com"), "an address such as learner@example.com"},
		{lyceum.Invalidf("%s", strings.Repeat("é", 2000)), strings.Repeat("é", 498) + "…"},
		{&lyceum.Error{Kind: lyceum.Internal, Detail: "internal error", Err: errors.New("dsn with a password")}, "internal error"},
	} {
		f.Add(o.school, lyceum.FailedRequest{RequestID: "a"}, lyceum.Public(tc.err))
		if err := f.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, err := f.List(t.Context(), lyceum.By{School: o.school}, lyceum.FailedRequestFilter{}, everyFailure)
		if err != nil || found.Rows[0].Message != tc.want || !utf8.ValidString(found.Rows[0].Message) || len(found.Rows[0].Message) > 1000 {
			t.Errorf("%v is kept as %q, want %q: %v", tc.err, found.Rows[0].Message, tc.want, err)
		}
	}
	for _, id := range []string{"", "a b", strings.Repeat("a", 65), "é", "a%"} {
		if _, err := access.ParseRequestID(id); lyceum.KindOf(err) != lyceum.Invalid {
			t.Errorf("the id %q: %v", id, err)
		}
	}
}

// TestSweepOfASchoolThatFails checks that what cannot be deleted in one school does not keep the
// expired rows of the others.
func TestSweepOfASchoolThatFails(t *testing.T) {
	dir := t.TempDir()
	o := newOffice(t, openStore(t, dir))
	other := storetest.MakeSchool(t, o.store)
	f := access.NewFailures(o.store, o.clock.Now)
	for _, school := range []lyceum.SchoolID{o.school, other} {
		f.Add(school, lyceum.FailedRequest{RequestID: "a", Method: "GET", Path: "/v1/users/1", Status: 404}, lyceum.Errorf(lyceum.NotFound, "no"))
	}
	if err := f.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), fmt.Sprintf("CREATE TRIGGER stuck BEFORE DELETE ON failed_requests "+
		"WHEN OLD.school_id = %d BEGIN SELECT RAISE(ABORT, 'stuck'); END", o.school))
	if err != nil {
		t.Fatal(err)
	}
	o.clock.Pass(lyceum.FailedRequestsKept + time.Second)
	if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err == nil {
		t.Error("the sweep reports no error")
	}
	for school, want := range map[lyceum.SchoolID]int{o.school: 1, other: 0} {
		found, err := f.List(t.Context(), lyceum.By{School: school}, lyceum.FailedRequestFilter{}, everyFailure)
		if err != nil || len(found.Rows) != want {
			t.Errorf("school %d keeps %d, want %d, %v", school, len(found.Rows), want, err)
		}
	}
}
