package access

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR34_SlotsInTurn checks that an origin that wants a hundred hashes delays another one by
// one hash, and that a waiter that gives up leaves nothing behind.
func TestR34_SlotsInTurn(t *testing.T) {
	s := newSlots(1)
	hold, err := s.take(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 10)
	begin := func(from string, ctx context.Context) {
		before := s.count()
		go func() {
			if done, err := s.take(ctx, from); err == nil {
				order <- from
				done()
			}
		}()
		waitFor(t, func() bool { return s.count() == before+1 })
	}
	for range 4 {
		begin("flood", t.Context())
	}
	begin("person", t.Context())
	gone, hangUp := context.WithCancel(t.Context())
	begin("gone", gone)
	hangUp()
	waitFor(t, func() bool { return s.count() == 5 })
	hold()
	var got []string
	for range 5 {
		got = append(got, <-order)
	}
	if want := []string{"flood", "person", "flood", "flood", "flood"}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	waitFor(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.free == 1 && len(s.turns) == 0 })
}

func TestSlotsAreBounded(t *testing.T) {
	s := newSlots(1)
	hold, err := s.take(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	for range maxWaiting {
		go func() {
			if done, err := s.take(ctx, "flood"); err == nil {
				done()
			}
		}()
	}
	waitFor(t, func() bool { return s.count() == maxWaiting })
	if _, err := s.take(t.Context(), "flood"); err != errBusy { //nolint:errorlint // compared unwrapped on purpose
		t.Errorf("one more is %v, want that it is refused", err)
	}
	stop()
	waitFor(t, func() bool { return s.count() == 0 })
	hold()
	if done, err := s.take(t.Context(), "person"); err != nil {
		t.Error(err)
	} else {
		done()
	}
}

func TestShelfDropsTheColdest(t *testing.T) {
	s := newShelf[string, int](3)
	for n := range 3 {
		*s.take(fmt.Sprint(n)) = n
	}
	*s.take("0")++
	s.take("3")
	if s.look("1") != nil || *s.look("0") != 1 || *s.look("2") != 2 {
		t.Error("the one taken longest ago is not the one that went")
	}
	s.drop("2")
	if s.look("2") != nil || len(s.items) != 2 || s.order.Len() != 2 {
		t.Error("a dropped one stays")
	}
}

func TestClockSetBackEndsNoBoundAndKeepsNone(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := &now
	tries := NewTries(func() time.Time { return *c }, Bounds{Minute: 1})
	tries.Take(1, "a")
	now = now.Add(-time.Hour)
	if tries.Take(1, "a") {
		t.Error("a clock that is set back gives another try")
	}
	now = now.Add(time.Minute)
	if !tries.Take(1, "a") {
		t.Error("a minute after the clock was set back there is no try")
	}
}

func (s *slots) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range s.waiting {
		n += len(queue)
	}
	return n
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	if !storetest.Await(done) {
		t.Fatal("it did not happen")
	}
}
