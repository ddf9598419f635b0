package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// beside opens a PostgreSQL store with little patience, and another connection to its
// database.
func beside(t *testing.T, o Options) (*Store, *sql.Conn) {
	t.Helper()
	address := storetest.Postgres(t)
	open := func(o Options) *Store {
		s, err := OpenPostgres(t.Context(), address, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	patient := open(Options{})
	for _, id := range []lyceum.SchoolID{1, 9} {
		if _, err := patient.CreateSchool(t.Context(), lyceum.School{ID: id, Name: "Fernwood", CreatedAt: storetest.Begin}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := patient.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(o)
	conn, err := s.reads.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return s, conn
}

func run(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func addUser(s *Store, school lyceum.SchoolID, id lyceum.UserID) error {
	return s.Write(context.Background(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: id, Email: string('a'+rune(id)) + "@example.com", CreatedAt: storetest.Begin})
		return err
	})
}

func countUsers(t *testing.T, s *Store, school lyceum.SchoolID) (n int) {
	t.Helper()
	v := s.In(t.Context(), school)
	if err := v.Users.Each(v, lyceum.UserFilter{}, func(*lyceum.User) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantUnchanged(t *testing.T, err error) {
	t.Helper()
	e := lyceum.Public(err)
	if err == nil || e.Kind != lyceum.Unavailable || e.Code != "" || !strings.Contains(e.Detail, "; nothing was changed") {
		t.Errorf("got %v (%s), want an unavailable that says that nothing was changed", err, e.Code)
	}
}

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	e := lyceum.Public(err)
	if err == nil || e.Kind != lyceum.Unavailable || e.Code != lyceum.OutcomeUnknown ||
		strings.Contains(e.Detail, "nothing was changed") || !strings.Contains(e.Detail, "unknown") || !strings.Contains(e.Detail, "Idempotency-Key") {
		t.Errorf("got %v (%s), want an unavailable that says that the outcome is not known", err, e.Code)
	}
}

// TestR22_HeldTable checks that, while another transaction locks a table in PostgreSQL, every
// write is answered in time and truthfully, and the server is not ready.
func TestR22_HeldTable(t *testing.T) {
	t.Parallel()
	const writes = 12
	s, other := beside(t, Options{Patience: time.Second})
	run(t, other, "BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
	var group sync.WaitGroup
	for id := range lyceum.UserID(writes) {
		group.Go(func() { wantUnchanged(t, addUser(s, 1, id+1)) })
	}
	eventually(t, "the server is not ready", func() bool { return lyceum.KindOf(s.Ping(t.Context())) == lyceum.Unavailable })
	group.Wait()
	v := s.In(t.Context(), 1)
	if _, err := v.Users.Get(v, 1); lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("a read of the table that is held: %v, want unavailable", err)
	}
	run(t, other, "ROLLBACK")
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	if n := countUsers(t, s, 1); n != 0 {
		t.Errorf("%d of the writes that changed nothing were kept", n)
	}
	for id := range lyceum.UserID(writes) {
		var err error
		storetest.Await(func() bool { // a busy machine may need more than the patience
			err = addUser(s, 1, id+1)
			return lyceum.KindOf(err) != lyceum.Unavailable
		})
		if err != nil {
			t.Errorf("after the lock: %v", err)
		}
	}
}

// TestR22_HeldSchool checks that a school that another transaction locks delays the other
// schools of its group but does not make them fail.
func TestR22_HeldSchool(t *testing.T) {
	t.Parallel()
	s, other := beside(t, Options{Patience: time.Second})
	run(t, other, "SELECT pg_advisory_lock("+schoolLocks+", 9)")
	var group sync.WaitGroup
	for id := range lyceum.UserID(4) {
		group.Go(func() { wantUnchanged(t, addUser(s, 9, id+1)) })
	}
	for id := range lyceum.UserID(4) { // each may be delayed by all of the others
		if err := addUser(s, 1, id+1); err != nil {
			t.Errorf("a school that nobody holds: %v", err)
		}
	}
	group.Wait()
	if a, b := countUsers(t, s, 1), countUsers(t, s, 9); a != 4 || b != 0 {
		t.Errorf("%d and %d users are kept, want 4 and 0", a, b)
	}
}

// TestR22_HeldSchoolKeepsAsking checks that a school that another transaction locks does not
// keep the other schools from their turns, however often it is written.
func TestR22_HeldSchoolKeepsAsking(t *testing.T) {
	t.Parallel()
	s, other := beside(t, Options{Patience: time.Second})
	run(t, other, "SELECT pg_advisory_lock("+schoolLocks+", 9)")
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for id := range lyceum.UserID(4) {
		group.Go(func() {
			for ctx.Err() == nil {
				wantUnchanged(t, addUser(s, 9, id+1))
			}
		})
	}
	for id := range lyceum.UserID(4) {
		eventually(t, "the held school waits", func() bool { return !s.oldestWrite().IsZero() })
		if err := addUser(s, 1, id+1); err != nil {
			t.Errorf("a school that nobody holds: %v", err)
		}
	}
	stop()
	group.Wait()
}

// TestOldestOfTheQueue checks that the waiting time of writes can be queried while a group
// ends that has changes whose callers no longer wait.
func TestOldestOfTheQueue(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	clock := func() time.Time { return storetest.Begin.Add(time.Duration(now.Add(1)) * groupBudget) } // one change a group
	bothEngines(t, Options{Clock: clock}, func(t *testing.T, s *Store) {
		l := newQueue(1, 0, 0)
		stop := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					l.oldest()
				}
			}
		})
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 200 {
			for _, ctx := range [...]context.Context{t.Context(), gone, gone, t.Context()} {
				l.add(&change{ctx: ctx, school: 1, since: storetest.Begin, done: make(chan struct{}), run: func(*session) error { return nil }})
			}
			for h := l.take(); h != nil; h = l.take() {
				s.commit(l, h)
			}
		}
		close(stop)
		group.Wait()
	})
}

// atCommit runs deed when an insert into users is committed.
func atCommit(t *testing.T, conn *sql.Conn, deed string) {
	t.Helper()
	run(t, conn, `CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN `+deed+`; RETURN NULL; END $$`)
	run(t, conn, `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()`)
}

// TestR22_UnknownOutcomePostgres checks that the outcome of a commit without a response is
// unknown, and that a commit that the server refused changed nothing.
func TestR22_UnknownOutcomePostgres(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, deed string
		want       func(*testing.T, error)
	}{
		{"the connection ends", "PERFORM pg_terminate_backend(pg_backend_pid())", wantUnknown},
		{"the commit takes too long", "PERFORM pg_sleep(60)", wantUnknown},
		{"a lock is not had", "RAISE EXCEPTION 'no' USING ERRCODE = 'lock_not_available'", wantUnchanged},
		{"the disk is full", "RAISE EXCEPTION 'no' USING ERRCODE = 'disk_full'", wantUnchanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, other := beside(t, Options{Patience: time.Second})
			atCommit(t, other, tc.deed)
			tc.want(t, addUser(s, 1, 1))
			if n := countUsers(t, s, 1); n != 0 {
				t.Errorf("%d users are kept", n)
			}
		})
	}
}

// TestPostgresFaults checks that problems that the server reports about itself are not
// reported as faults of Lyceum.
func TestPostgresFaults(t *testing.T) {
	t.Parallel()
	s, other := beside(t, Options{})
	run(t, other, "CREATE FUNCTION fail(code text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = code; END $$")
	for code, want := range map[string]lyceum.Kind{
		"57014": lyceum.Unavailable, "55P03": lyceum.Unavailable, "25P03": lyceum.Unavailable, "25P04": lyceum.Unavailable,
		"57P01": lyceum.Unavailable, "57P02": lyceum.Unavailable, "57P03": lyceum.Unavailable, "57P05": lyceum.Unavailable,
		"40001": lyceum.Unavailable, "40P01": lyceum.Unavailable, "53100": lyceum.Unavailable, "53200": lyceum.Unavailable,
		"53300": lyceum.Unavailable, "58030": lyceum.Unavailable, "08006": lyceum.Unavailable, "25006": lyceum.Unavailable,
		"23505": lyceum.Conflict, "22012": lyceum.Internal,
	} {
		_, err := other.ExecContext(t.Context(), "SELECT fail($1)", code)
		if got := lyceum.KindOf(s.public(err)); got != want {
			t.Errorf("%s is %v, want %v", code, got, want)
		}
		if got := lyceum.Public(s.outcome(errors.Join(err))); want == lyceum.Unavailable && !strings.Contains(got.Detail, "nothing was changed") {
			t.Errorf("%s in a write says %q", code, got.Detail)
		}
	}
}

// TestR22_PresumedChangeOfAHeldSchool checks that a change that does not wait for results, and
// finds its school locked, reports that nothing was changed, and succeeds when it is repeated.
func TestR22_PresumedChangeOfAHeldSchool(t *testing.T) {
	t.Parallel()
	for name, aheadAfter := range map[string]int{"goes ahead": leastStreak, "in one round trip": math.MaxInt} {
		t.Run(name, func(t *testing.T) { t.Parallel(); presumedChangeOfAHeldSchool(t, aheadAfter) })
	}
}

func presumedChangeOfAHeldSchool(t *testing.T, aheadAfter int) {
	var compared atomic.Int64
	s, other := beside(t, Options{Patience: time.Second, Trace: func(text string) {
		if strings.Contains(text, schoolLocks) && strings.Contains(text, "unnest") {
			compared.Add(1)
		}
	}})
	s.distant, s.aheadAfter = false, aheadAfter
	presumed := func() int64 {
		if aheadAfter == leastStreak {
			return s.writes.ahead.Load()
		}
		return compared.Load()
	}
	if err := addUser(s, 9, 1); err != nil {
		t.Fatal(err)
	}
	block := func(course int32) error {
		return s.Write(context.Background(), lyceum.Stamp{School: 9, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
			id, err := tx.Blocks.NextID(tx)
			if err != nil {
				return err
			}
			return tx.Blocks.Insert(tx, lyceum.Block{
				ID: id, User: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: course}, CreatedAt: storetest.Begin,
			})
		})
	}
	course := int32(0)
	eventually(t, "a change is presumed to be guessed right", func() bool {
		course++
		return block(course) != nil || presumed() > 0
	})
	before := presumed()
	run(t, other, "SELECT pg_advisory_lock("+schoolLocks+", 9)")
	wantUnchanged(t, block(course+1))
	if presumed() == before {
		t.Error("the change was not presumed to be guessed right")
	}
	run(t, other, "SELECT pg_advisory_unlock("+schoolLocks+", 9)")
	eventually(t, "the change is made", func() bool { return block(course+1) == nil })
	v := s.In(t.Context(), 9)
	if all, err := lyceum.All(v.Blocks, v, lyceum.BlockFilter{}); err != nil || len(all) != int(course)+1 {
		t.Errorf("%d blocks, %v; want %d", len(all), err, course+1)
	}
}
