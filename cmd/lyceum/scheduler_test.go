package main

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSchedulerIsTakenOver checks that of two servers of one database the first does the
// scheduled work, and the second does after the first was killed.
func TestSchedulerIsTakenOver(t *testing.T) {
	t.Parallel()
	first := openShop(t, storetest.Postgres(t))
	store, err := openStore(t.Context(), first.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	held := func() bool {
		free, err := store.HoldLease(t.Context(), lyceum.SchedulerLease, "test", 0)
		return !free && err == nil
	}
	done := func(school lyceum.SchoolID) func() bool {
		return func() bool {
			noted, err := store.In(t.Context(), school).GetCursor(lyceum.ExpiredCursor)
			return noted > 0 && err == nil
		}
	}
	first.serve(t)
	if !await(held) || !await(done(first.school)) {
		t.Fatal("the first server does nothing")
	}
	second := &shop{place: first.place, addr: freeAddress(t), metrics: freeAddress(t)}
	second.serve(t)
	t.Cleanup(func() { second.server.kill(t) })
	first.server.kill(t)
	killed := time.Now()
	if !await(done(storetest.MakeSchool(t, store))) {
		t.Error("the second server does not take over")
	}
	t.Logf("the second server did what was due %v after the first was killed", time.Since(killed).Round(time.Millisecond))
	if !held() {
		t.Error("nobody holds the lease")
	}
}

// scheduling returns a service that does the scheduled work of a store.
func scheduling(store *salesindex.Store, log slog.Handler) *service {
	lessons, users := learning.New(store, time.Now), people.New(store, time.Now)
	return &service{
		store: store, clock: time.Now, log: slog.New(log),
		learning: lessons, people: users, sales: sales.New(store, time.Now, lessons, users),
		accounts: access.NewAccounts(store, time.Now, access.NewOAuth(store, time.Now), nil),
	}
}

// endless is a place where erasing a person does not end before the server does.
type endless struct{ begun chan struct{} }

func (e endless) ForgetIn(ctx context.Context, _ *lyceum.SchoolErasure, _ time.Time, _ func() error) error {
	close(e.begun)
	<-ctx.Done()
	return ctx.Err()
}

// Scheduled work does not wait for a person who is being erased.
func TestScheduleDoesNotWaitForErasures(t *testing.T) {
	t.Parallel()
	kept, err := openStore(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	store := salesindex.Over(kept, salesindex.Options{})
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	s, endless := scheduling(store, slog.DiscardHandler), endless{begun: make(chan struct{})}
	s.people.Elsewhere = endless
	if _, err := s.people.Erase(t.Context(), lyceum.By{School: school, Actor: "test"}, 1, s.leaving()); err != nil {
		t.Fatal(err)
	}
	defer begin(t.Context(), s.runScheduler)()
	<-endless.begun
	later := storetest.MakeSchool(t, store)
	if !await(func() bool {
		noted, err := store.In(t.Context(), later).GetCursor(lyceum.ExpiredCursor)
		return noted > 0 && err == nil
	}) {
		t.Error("the schedule waits")
	}
}

// TestSchedulerWithoutALease checks that the log says once that the scheduler's lease cannot be
// requested, and that the scheduled work begins when it can.
func TestSchedulerWithoutALease(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	kept, err := openStore(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	store := salesindex.Over(kept, salesindex.Options{})
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execute := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute("ALTER TABLE leases RENAME TO hidden")
	var log storetest.Log
	s := scheduling(store, slog.NewTextHandler(&log, nil))
	defer begin(t.Context(), s.runScheduler)()
	const sentence = "the scheduler's lease could not be requested, so this server does no scheduled work; it will try again"
	if !await(func() bool { return log.Count(sentence) > 0 }) {
		t.Error("the log says nothing")
	}
	execute("ALTER TABLE hidden RENAME TO leases")
	if !await(func() bool {
		noted, err := store.In(t.Context(), school).GetCursor(lyceum.ExpiredCursor)
		return noted > 0 && err == nil
	}) {
		t.Error("the scheduled work does not begin")
	}
	if n := log.Count(sentence); n > 1 {
		t.Errorf("the log says it %d times", n)
	}
}
