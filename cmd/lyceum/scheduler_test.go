package main

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSchedulerIsTakenOver: of two servers of one database the first does what
// comes with time, and after it was killed the second.
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
