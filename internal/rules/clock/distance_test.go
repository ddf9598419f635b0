package clock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// TestDistances checks that for days and longer units, a clock is moved until the school's
// clocks show the same time again.
func TestDistances(t *testing.T) {
	t.Parallel()
	span := func(n int, unit string) clock.Distance {
		return clock.Distance{By: lyceum.Some(clock.Span{Count: n, Unit: unit})}
	}
	to := func(at string) clock.Distance {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return clock.Distance{To: lyceum.Some(moment)}
	}
	for _, tc := range []struct {
		name string
		zone lyceum.TimeZone
		at   string
		by   clock.Distance
		want string // a time, or a part of the error
	}{
		{"seconds", "UTC", "2026-01-31T12:00:00Z", span(90, "second"), "2026-01-31T12:01:30Z"},
		{"nowhere", "UTC", "2026-01-31T12:00:00Z", span(0, "second"), "2026-01-31T12:00:00Z"},
		{"from the end of January", "UTC", "2026-01-31T12:00:00Z", span(1, "month"), "2026-02-28T12:00:00Z"},
		{"to a leap day", "UTC", "2028-01-31T12:00:00Z", span(1, "month"), "2028-02-29T12:00:00Z"},
		{"a year from a leap day", "UTC", "2028-02-29T12:00:00Z", span(1, "year"), "2029-02-28T12:00:00Z"},
		{"to a skipped hour", "Europe/Berlin", "2026-03-28T01:30:00Z", span(1, "day"), "2026-03-29T01:30:00Z"},
		{"over a skipped hour", "Europe/Berlin", "2026-03-28T12:00:00Z", span(1, "day"), "2026-03-29T11:00:00Z"},
		{"to a repeated hour", "Europe/Berlin", "2026-10-24T00:30:00Z", span(1, "day"), "2026-10-25T00:30:00Z"},
		{"hours over a skipped hour", "Europe/Berlin", "2026-03-28T12:00:00Z", span(24, "hour"), "2026-03-29T12:00:00Z"},
		{"to a moment", "UTC", "2026-01-31T12:00:00Z", to("2026-02-01T00:00:00+05:30"), "2026-01-31T18:30:00Z"},
		{"ten years", "UTC", "2026-01-31T12:00:00Z", span(10, "year"), "2036-01-31T12:00:00Z"},
		{"backwards", "UTC", "2026-01-31T12:00:00Z", to("2026-01-31T11:59:59Z"), "to must not be before 2026-01-31T12:00:00Z"},
		{"more than ten years", "UTC", "2026-01-31T12:00:00Z", span(121, "month"), "advance must not be more than ten years"},
		{"as far as can be", "UTC", "2026-01-31T12:00:00Z", span(999_999_999, "hour"), "advance must not be more than ten"},
		{"further", "UTC", "2026-01-31T12:00:00Z", span(999_999_999, "year"), "advance must not be more than ten years"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, tc.at)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := tc.zone.Location()
			if err != nil {
				t.Fatal(err)
			}
			at, err := tc.by.Target(now, zone)
			got := at.UTC().Format(time.RFC3339)
			if err != nil {
				got = lyceum.Public(err).Sentences()[0]
			}
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestTwoMoves checks that while a clock is being moved, another move is rejected and other
// requests are served.
func TestTwoMoves(t *testing.T) {
	t.Parallel()
	b := openSandbox(t, openStore(t))
	b.sell(t, 1, 1)
	var refused error
	b.interval = func() {
		_, refused = b.moves.Move(t.Context(), b.by(), days(1))
		shown, err := b.moves.Show(t.Context(), b.by(), struct{}{})
		if err != nil || shown.Moving == nil || !shown.Now.Equal(shown.Moving.At) || !shown.Stands {
			t.Errorf("shows %+v, %v", shown, err)
		}
	}
	b.move(t, days(31))
	if e := lyceum.Public(refused); e == nil || e.Kind != lyceum.Conflict || e.Code != "clock_moving" {
		t.Errorf("the second move: %v", refused)
	}
}

// TestRunningClock checks that a clock continues to run after a move, and after a restart.
func TestRunningClock(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	b := openSandbox(t, store)
	shown := begin
	real := func() time.Time { return shown }
	for _, moved := range []time.Duration{0, 24 * time.Hour, 48 * time.Hour} {
		running, err := clock.Kept(store.In(t.Context(), b.school), real, lyceum.None[time.Time]())
		if err != nil {
			t.Fatal(err)
		}
		if ahead := running.Now().Sub(shown); ahead != moved {
			t.Errorf("it is ahead by %v, want %v", ahead, moved)
		}
		o := b.moves.Options
		moves := clock.New(running, o)
		t.Cleanup(moves.Close)
		if _, err := moves.Move(t.Context(), b.by(), days(1)); err != nil {
			t.Fatal(err)
		}
		shown = shown.Add(time.Minute)
		if ahead := running.Now().Sub(shown); ahead != moved+24*time.Hour {
			t.Errorf("after a move it is ahead by %v", ahead)
		}
	}
	standing, err := clock.Kept(store.In(t.Context(), b.school), real, lyceum.Some(begin))
	if want := shown.Add(72 * time.Hour); err != nil || !standing.Now().Equal(want) {
		t.Errorf("it stands at %v, want %v: %v", standing.Now(), want, err)
	}
}

// TestInterruptedMove checks that an interrupted move continues at the next start, with the
// same result.
func TestInterruptedMove(t *testing.T) {
	t.Parallel()
	whole := openSandbox(t, openStore(t))
	whole.sell(t, 1, 60)
	want := whole.move(t, days(400))

	dir := t.TempDir()
	open := func() *sqlstore.Store {
		store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{Synchronous: sqlstore.Off})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	b := openSandbox(t, store)
	b.sell(t, 1, 60)
	payments := 0
	b.interval = func() {
		if payments++; payments == 317 {
			go b.moves.Close()
		}
	}
	_, err := b.moves.Move(t.Context(), b.by(), days(400))
	b.moves.Close()
	if err == nil {
		t.Fatal("the move was not interrupted")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = open()
	defer store.Close()
	b = openSandbox(t, store)
	if err := b.moves.Resume(t.Context(), b.school); err != nil {
		t.Fatal(err)
	}
	if got := b.clock.Now(); !got.Equal(want.To) {
		t.Errorf("the clock is at %v, want %v", got, want.To)
	}
	wantSameFeed(t, whole, b)
}
