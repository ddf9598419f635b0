package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// filling starts a sandbox with some transactions in a store, with a given context and clock, and
// returns how many it then has.
func filling(ctx context.Context, clock func() time.Time, store lyceum.Store, transactions int) (int, error) {
	c := &sandboxCommand{Transactions: transactions, Seed: 1}
	school, err := c.generated(store.In(ctx, demo.ID), lyceum.None[time.Time](), time.Now())
	if err != nil {
		return 0, err
	}
	p := &program{ctx: ctx, clock: clock, stderr: new(strings.Builder)}
	_, err = c.fill(p, store, school, credentialsOf(school, "http://127.0.0.1"))
	return c.Transactions, err
}

// wantPasswords fails unless the owner and the learner can sign in.
func wantPasswords(t *testing.T, store lyceum.Store) {
	t.Helper()
	v := store.In(t.Context(), demo.ID)
	for _, id := range []lyceum.UserID{demo.OwnerID, demo.LearnerID} {
		if u, err := v.Users.Get(v, id); err != nil || !u.PasswordHash.Present {
			t.Errorf("user %d has no password, %v", id, err)
		}
	}
}

// TestSandboxStartedAgain checks that a sandbox whose first start was interrupted is completed by
// the next one, and that a start with more transactions changes nothing.
func TestSandboxStartedAgain(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	looks := 0
	clock := func() time.Time { // read at the beginning and after each write of transactions
		if looks++; looks == 2 {
			interrupt()
		}
		return time.Now()
	}
	if _, err := filling(ctx, clock, store, 5100); err == nil {
		t.Fatal("the first start is not interrupted")
	}
	for range 2 {
		if n, err := filling(t.Context(), time.Now, store, 5100); err != nil || n != 5100 {
			t.Fatalf("%d transactions, %v", n, err)
		}
		wantPasswords(t, store)
	}
	v := store.In(t.Context(), demo.ID)
	before, err := v.LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filling(t.Context(), time.Now, store, 20_000); lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("with more transactions: %v", err)
	}
	if after, err := v.LastEntry(); err != nil || after != before {
		t.Errorf("it made %d changes, %v", after-before, err)
	}
	wantPasswords(t, store)
}

// TestSandboxEndsYesterday checks that what was sold in a sandbox ends on the day before it was
// created, on every later start, too.
func TestSandboxEndsYesterday(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	created := time.Date(2027, time.March, 5, 22, 10, 0, 0, time.UTC)
	c := &sandboxCommand{Transactions: 20, Seed: 1}
	p := &program{ctx: t.Context(), clock: time.Now, stderr: new(strings.Builder)}
	for _, now := range []time.Time{created, created.AddDate(0, 0, 40)} {
		school, err := c.generated(store.In(t.Context(), demo.ID), lyceum.None[time.Time](), now)
		if err != nil {
			t.Fatal(err)
		}
		if got := school.Closing().Format(time.RFC3339); got != "2027-03-05T00:00:00Z" {
			t.Errorf("started at %v, it ends at %s", now, got)
		}
		made, err := c.fill(p, store, school, credentialsOf(school, "http://127.0.0.1"))
		if err != nil || made != (now == created) {
			t.Errorf("started at %v, made %v, %v", now, made, err)
		}
	}
}

// TestSandboxWithoutTransactions checks that everything else of the school is there.
func TestSandboxWithoutTransactions(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for range 2 {
		if n, err := filling(t.Context(), time.Now, store, 0); err != nil || n != 0 {
			t.Fatalf("%d transactions, %v", n, err)
		}
	}
	wantPasswords(t, store)
	v := store.In(t.Context(), demo.ID)
	if courses, err := lyceum.All(v.Courses, v, lyceum.CourseFilter{}); err != nil || len(courses) == 0 {
		t.Errorf("%d courses, %v", len(courses), err)
	}
}
