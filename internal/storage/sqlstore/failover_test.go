package sqlstore_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// failingOver is a store on a cluster whose address lists the standby before the primary.
type failingOver struct {
	*sqlstore.Store

	cluster *storetest.Cluster
	school  lyceum.SchoolID
	log     storetest.Log
}

func openFailing(t *testing.T) *failingOver {
	t.Helper()
	f := &failingOver{cluster: storetest.NewCluster(t)}
	store, err := sqlstore.OpenPostgres(t.Context(), f.cluster.Both+"&target_session_attrs=primary", sqlstore.Options{
		Primary: true, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	f.Store, f.school = store, storetest.MakeSchool(t, store)
	return f
}

func (f *failingOver) note(t *testing.T, during func()) error {
	t.Helper()
	stamp := lyceum.Stamp{School: f.school, At: storetest.Begin, Actor: "test"}
	return f.Write(t.Context(), stamp, func(tx lyceum.Tx) error {
		tx.Note(lyceum.SchoolUpdated, int32(f.school))
		during()
		return nil
	})
}

func (f *failingOver) last(t *testing.T) int64 {
	t.Helper()
	last, err := f.In(t.Context(), f.school).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// read reads on several connections at the same time.
func (f *failingOver) read(t *testing.T, connections int) {
	t.Helper()
	var all, done sync.WaitGroup
	all.Add(connections)
	for range connections {
		done.Go(func() {
			v := f.In(t.Context(), f.school)
			err := v.Users.Each(v, lyceum.UserFilter{}, func(*lyceum.User) error {
				all.Done()
				all.Wait()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

// TestFailoverToAStandbyThatLags promotes a standby that lacks acknowledged changes while the
// primary is still running. As soon as the store has one connection to the standby, it must
// neither read from the old primary nor report as saved what that one commits, and it must
// forget the position of the journal.
func TestFailoverToAStandbyThatLags(t *testing.T) {
	t.Parallel()
	f := openFailing(t)
	storetest.Write(t, f, f.school, func(tx lyceum.Tx) error {
		return tx.Users.Insert(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
	})
	f.cluster.CaughtUp(t)
	f.cluster.Part(t)
	kept := f.last(t)
	if err := f.note(t, func() {}); err != nil {
		t.Fatal(err)
	}
	f.read(t, 4)
	if err := f.Reach(t.Context(), f.school, kept+1); err != nil {
		t.Fatal(err)
	}

	var once sync.Once
	err := f.note(t, func() {
		once.Do(func() {
			f.cluster.Promote(t)
			f.read(t, 5)
		})
	})
	if lyceum.Public(err).Code != lyceum.OutcomeUnknown {
		t.Errorf("a change of the old primary ends with %v", err)
	}
	for range 20 {
		if last := f.last(t); last != kept {
			t.Fatalf("the last entry is %d, want %d of the new primary", last, kept)
		}
	}
	if err := f.Reach(t.Context(), f.school, kept+1); err == nil {
		t.Error("an entry is reached that the new primary does not have")
	}
	const sentence = "lacks changes that were acknowledged"
	if !storetest.Await(func() bool { return f.log.Count(sentence) > 0 }) {
		t.Error("the log does not say that changes are lost")
	}
	if err := f.note(t, func() {}); err != nil {
		t.Error("the new primary takes no changes:", err)
	}
	if got := f.last(t); got != kept+1 {
		t.Errorf("the last entry is %d, want %d", got, kept+1)
	}
}

// TestFailoverThatLosesNothing checks that the log says so if a failover loses nothing.
func TestFailoverThatLosesNothing(t *testing.T) {
	t.Parallel()
	f := openFailing(t)
	if err := f.note(t, func() {}); err != nil {
		t.Fatal(err)
	}
	f.cluster.CaughtUp(t)
	f.cluster.Promote(t)
	f.cluster.QueryValue(t, f.cluster.Primary, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "+
		"backend_type = 'client backend' AND pid <> pg_backend_pid()")
	if !storetest.Await(func() bool { return f.note(t, func() {}) == nil }) {
		t.Error("the new primary takes no changes")
	}
	if !storetest.Await(func() bool { return f.log.Count("it has every change that this process knows of") > 0 }) {
		t.Error("the log does not say that nothing is lost")
	}
}

// TestStandby checks that a server rejects a standby, whose data a command may read.
func TestStandby(t *testing.T) {
	t.Parallel()
	f := openFailing(t)
	f.cluster.CaughtUp(t)
	for _, attrs := range []string{"", "&target_session_attrs=read-write", "&target_session_attrs=primary"} {
		_, err := sqlstore.OpenPostgres(t.Context(), f.cluster.Standby+attrs, sqlstore.Options{Primary: true})
		if e := lyceum.Public(err); !strings.Contains(e.Detail, "accepts no changes: it is a standby") {
			t.Errorf("a standby %q: %v", attrs, err)
		}
	}
	reads, err := sqlstore.OpenPostgres(t.Context(), f.cluster.Standby, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	if schools, err := reads.FindSchools(t.Context()); err != nil || len(schools) != 1 {
		t.Errorf("the standby has %v, %v", schools, err)
	}
}
