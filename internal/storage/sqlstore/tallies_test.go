package sqlstore

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestTallies checks that a count continues in its window and starts again after it, and that
// granted parts become smaller the less is left.
func TestTallies(t *testing.T) {
	t.Parallel()
	shared := openTestPostgres(t).Tallies()
	begin := storetest.Begin.Truncate(time.Minute)
	after := func(d time.Duration) time.Time { return begin.Add(d) }
	one := lyceum.Tally{School: 7, Topic: lyceum.TallyName{1}, Length: time.Minute}
	for _, step := range []struct {
		name      string
		at        time.Time
		add, want int64
		begin     time.Time
		used      int64
		given     int64
	}{
		{"an eighth of what is left", begin, 0, 50, begin, 12, 12},
		{"what was used comes first", after(time.Second), 4, 50, begin, 26, 10},
		{"no more than is wanted", after(2 * time.Second), 0, 3, begin, 29, 3},
		{"a window that goes on elsewhere", after(-time.Second), 61, 50, begin, 91, 1},
		{"the last but eight", begin, 8, 50, begin, 100, 1},
		{"nothing is left", begin, 0, 50, begin, 100, 0},
		{"more than there was", begin, 5, 50, begin, 105, 0},
		{"the next window", after(time.Minute), 0, 1, after(time.Minute), 1, 1},
		{"a clock that was set back", after(-time.Hour), 0, 1, after(-time.Hour), 1, 1},
	} {
		one.Begin, one.Add, one.Want = step.at, step.add, step.want
		got, err := shared.Count(t.Context(), 100, []lyceum.Tally{one})
		want := lyceum.Tallied{Begin: step.begin, Used: step.used, Given: step.given}
		if err != nil || len(got) != 1 || got[0] != want {
			t.Fatalf("%s: %+v, %v, want %+v", step.name, got, err, want)
		}
	}
}

// TestTalliesTogether checks that several tallies can be counted, looked up, given back and
// forgotten in one call, independently.
func TestTalliesTogether(t *testing.T) {
	t.Parallel()
	shared := openTestPostgres(t).Tallies()
	var rows []lyceum.Tally
	for i := range 6 {
		rows = append(rows, lyceum.Tally{
			School: lyceum.SchoolID(2 - i%2), Topic: lyceum.TallyName{byte(3 - i/2)}, Name: lyceum.TallyName{byte(9 - i)},
			Length: time.Hour, Begin: storetest.Begin, Add: int64(i + 1),
		})
	}
	used := func(want string) {
		t.Helper()
		found, err := shared.Look(t.Context(), rows)
		got := ""
		for _, one := range found {
			got += fmt.Sprint(one.Used, " ")
		}
		if err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	used("0 0 0 0 0 0 ")
	counted, err := shared.Count(t.Context(), math.MaxInt64, rows)
	if err != nil || counted[2].Used != 3 || counted[5].Used != 6 {
		t.Fatalf("%+v, %v", counted, err)
	}
	used("1 2 3 4 5 6 ")
	back := []lyceum.Tally{rows[5], rows[1], rows[3]}
	back[0].Add, back[1].Add, back[2].Begin = 2, 100, storetest.Begin.Add(-time.Second) // of a window that has ended
	if err := shared.GiveBack(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	used("1 0 3 4 5 4 ")
	if err := shared.Forget(t.Context(), rows[4].School, rows[4].Topic); err != nil {
		t.Fatal(err)
	}
	used("1 0 3 4 0 4 ")
	if err := shared.Sweep(t.Context(), storetest.Begin.Add(time.Hour-time.Second)); err != nil {
		t.Fatal(err)
	}
	used("1 0 3 4 0 4 ")
	if err := shared.Sweep(t.Context(), storetest.Begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	used("0 0 0 0 0 0 ")
}

// TestTalliesAtOnce checks that concurrent callers are never granted the same, whatever the order
// in which they name the tallies.
func TestTalliesAtOnce(t *testing.T) {
	t.Parallel()
	shared := openTestPostgres(t).Tallies()
	rows := []lyceum.Tally{
		{School: 1, Length: time.Minute, Begin: storetest.Begin, Want: 1},
		{School: 2, Length: time.Minute, Begin: storetest.Begin, Want: 1},
	}
	var given [2]atomic.Int64
	var group sync.WaitGroup
	for caller := range 8 {
		group.Go(func() {
			for range 10 {
				first, second := caller%2, 1-caller%2
				found, err := shared.Count(t.Context(), 50, []lyceum.Tally{rows[first], rows[second]})
				if err != nil {
					t.Error(err)
					return
				}
				given[first].Add(found[0].Given)
				given[second].Add(found[1].Given)
			}
		})
	}
	group.Wait()
	if given[0].Load() != 50 || given[1].Load() != 50 {
		t.Errorf("%d and %d were given, want 50", given[0].Load(), given[1].Load())
	}
}

// TestTalliesForgottenMeanwhile checks that a topic can be forgotten while it is counted, whatever
// the order in which its rows are stored.
func TestTalliesForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	shared := s.Tallies()
	row := func(name byte) lyceum.Tally {
		return lyceum.Tally{
			School: 1, Topic: lyceum.TallyName{1}, Name: lyceum.TallyName{name}, Length: time.Hour,
			Begin: storetest.Begin, Add: 1,
		}
	}
	count := func(names ...byte) {
		rows := make([]lyceum.Tally, len(names))
		for i, name := range names {
			rows[i] = row(name)
		}
		if _, err := shared.Count(t.Context(), math.MaxInt64, rows); err != nil {
			t.Errorf("count: %v", err)
		}
	}
	for round := range 200 {
		for name := byte(60); name > 0; name-- {
			count(name)
		}
		if round == 0 {
			if _, err := s.writes.db.ExecContext(t.Context(), "VACUUM ANALYZE tallies"); err != nil {
				t.Fatal(err)
			}
		}
		names := make([]byte, 60)
		for i := range names {
			names[i] = byte(i + 1)
		}
		var both sync.WaitGroup
		both.Go(func() { count(names...) })
		both.Go(func() {
			if err := shared.Forget(t.Context(), 1, lyceum.TallyName{1}); err != nil {
				t.Errorf("forget: %v", err)
			}
		})
		both.Wait()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// TestTalliesOfSQLite checks that SQLite has no tallies, because one process serves it.
func TestTalliesOfSQLite(t *testing.T) {
	t.Parallel()
	if openTest(t).Tallies() != nil {
		t.Error("it has tallies")
	}
}
