package sqlstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSharedClock checks that the clock shows the database's time whatever the own clock
// shows, and that the own clock measures the time between readings.
func TestSharedClock(t *testing.T) {
	t.Parallel()
	begin := storetest.Begin
	for _, off := range []time.Duration{0, time.Minute, -time.Minute, 24 * time.Hour} {
		own, database, failed := begin.Add(off), begin, error(nil)
		c := &sharedClock{
			own:  func() time.Time { return own },
			read: func(context.Context) (time.Time, error) { return database, failed },
		}
		pass := func(d, drift time.Duration) { own, database = own.Add(d), database.Add(d+drift) }
		want := func(why string) {
			t.Helper()
			if got := c.now(); !got.Equal(database) {
				t.Errorf("off by %v, %s: %v, want %v", off, why, got, database)
			}
		}
		measure := func() {
			if err := c.measure(t.Context()); err != nil && !errors.Is(err, failed) {
				t.Fatal(err)
			}
		}
		measure()
		want("at first")
		pass(3*time.Second, 0)
		want("between readings")
		pass(time.Second, 2*time.Millisecond)
		measure()
		want("after one of them drifted")
		failed = errors.New("no database")
		measure()
		pass(time.Minute, 0)
		want("while the database cannot be read")
	}
}

// TestSharedClockStandsStill checks that a slow reading that agrees with the one before
// changes nothing.
func TestSharedClockStandsStill(t *testing.T) {
	t.Parallel()
	own := storetest.Begin
	took, early := 2*time.Millisecond, time.Duration(0)
	c := &sharedClock{own: func() time.Time { return own }}
	c.read = func(context.Context) (time.Time, error) {
		own = own.Add(took)
		return own.Add(-took/2 - early), nil
	}
	for range 3 {
		if err := c.measure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.now(); !got.Equal(own) {
			t.Errorf("after a reading of %v it shows %v, want %v", took, got, own)
		}
		took, early = took*50, took*20
	}
}

// TestClockOfPostgres checks that two processes whose clocks are two minutes apart agree.
func TestClockOfPostgres(t *testing.T) {
	t.Parallel()
	store := openTestPostgres(t)
	var clocks []func() time.Time
	for _, off := range []time.Duration{-time.Minute, time.Minute} {
		clock, err := store.Clock(t.Context(), func() time.Time { return time.Now().Add(off) })
		if err != nil {
			t.Fatal(err)
		}
		clocks = append(clocks, clock)
	}
	if apart := clocks[1]().Sub(clocks[0]()).Abs(); apart > 30*time.Second {
		t.Errorf("they are %v apart", apart)
	}
}
