package sqlstore

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestLease(t *testing.T) {
	t.Parallel()
	store := openTestPostgres(t)
	hold := func(holder string, d time.Duration) bool {
		held, err := store.HoldLease(t.Context(), lyceum.SchedulerLease, holder, d)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	for _, step := range []struct {
		name, holder string
		d            time.Duration
		want         bool
	}{
		{"nobody holds it", "first", time.Hour, true},
		{"it is held", "second", time.Hour, false},
		{"it is held longer", "first", 2 * time.Hour, true},
		{"another one gives it back", "second", 0, false},
		{"it is still held", "second", time.Hour, false},
		{"it is given back", "first", 0, true},
		{"it was given back", "second", time.Millisecond, true},
	} {
		if got := hold(step.holder, step.d); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
	if !storetest.Await(func() bool { return hold("first", time.Hour) }) {
		t.Error("it is not free after its time")
	}
	if hold("second", time.Hour) {
		t.Error("two hold it")
	}
	if held, err := store.HoldLease(t.Context(), lyceum.FilesLease, "second", time.Hour); !held || err != nil {
		t.Errorf("another lease: %v, %v", held, err)
	}
}

// TestLeaseOfSQLite checks that the process that serves the folder holds the lease.
func TestLeaseOfSQLite(t *testing.T) {
	t.Parallel()
	held, err := openTest(t).HoldLease(t.Context(), lyceum.SchedulerLease, "first", time.Hour)
	if !held || err != nil {
		t.Errorf("got %v, %v", held, err)
	}
}
