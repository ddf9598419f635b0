package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !storetest.Await(holds) {
		t.Fatalf("it does not come about that %s", what)
	}
}

// bothEngines runs a test on a store of each engine, with the given options.
func bothEngines(t *testing.T, o Options, test func(t *testing.T, s *Store)) {
	t.Helper()
	for engine, open := range map[string]func(t *testing.T) (*Store, error){
		"sqlite":   func(t *testing.T) (*Store, error) { return Open(t.Context(), t.TempDir(), o) },
		"postgres": func(t *testing.T) (*Store, error) { return OpenPostgres(t.Context(), storetest.Postgres(t), o) },
	} {
		t.Run(engine, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			test(t, s)
		})
	}
}

// busyWriters holds up the writers of a store until letGo is called.
type busyWriters struct {
	t     *testing.T
	store *Store
	letGo func()
	group sync.WaitGroup
}

func holdUp(t *testing.T, s *Store) *busyWriters {
	t.Helper()
	for id := range lyceum.SchoolID(9) {
		if _, err := s.CreateSchool(t.Context(), lyceum.School{ID: id + 1, Name: "Fernwood", CreatedAt: storetest.Begin}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	end := make(chan struct{})
	b := &busyWriters{t: t, store: s, letGo: sync.OnceFunc(func() { close(end) })}
	t.Cleanup(b.letGo)
	for n := range s.dialect.writers {
		begun := make(chan struct{})
		b.begin(t.Context(), lyceum.SchoolID(2+n), func(lyceum.Tx) error {
			close(begun)
			<-end
			return nil
		})
		<-begun
	}
	return b
}

// write begins a write, and returns once it waits for its turn.
func (b *busyWriters) write(ctx context.Context, school lyceum.SchoolID, change func(lyceum.Tx) error) {
	waiting := b.waiting()
	b.begin(ctx, school, change)
	eventually(b.t, "a write waits", func() bool { return b.waiting() > waiting })
}

func (b *busyWriters) begin(ctx context.Context, school lyceum.SchoolID, change func(lyceum.Tx) error) {
	b.group.Go(func() {
		err := b.store.Write(ctx, lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, change)
		if err != nil && ctx.Err() == nil {
			b.t.Errorf("a write of school %d: %v", school, err)
		}
	})
}

func (b *busyWriters) waiting() (n int) {
	l := b.store.queue
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, changes := range l.waiting {
		n += len(changes)
	}
	return n
}

// TestR49_SchoolsTakeTurns checks that each of two schools is served after a single change of the
// other, however many are waiting.
func TestR49_SchoolsTakeTurns(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		b := holdUp(t, s)
		var served []string
		serve := func(name string) func(lyceum.Tx) error {
			return func(lyceum.Tx) error { served = append(served, name); return nil }
		}
		for n := range 5 {
			b.write(t.Context(), 9, serve(fmt.Sprintf("many %d", n)))
		}
		gone, leave := context.WithCancel(t.Context())
		b.write(gone, 9, serve("gone"))
		for n := range 2 {
			b.write(t.Context(), 1, serve(fmt.Sprintf("few %d", n)))
		}
		waiting := b.waiting()
		leave()
		eventually(t, "who does not wait has left the queue", func() bool { return b.waiting() == waiting-1 })
		b.letGo()
		b.group.Wait()
		want := []string{"many 0", "few 0", "many 1", "few 1", "many 2", "many 3", "many 4"}
		if !slices.Equal(served, want) {
			t.Errorf("served %q, want %q", served, want)
		}
	})
}

// TestR49_AGroupEnds checks that a group whose time is up commits before the next change begins,
// and that the school that did not get its turn comes first in the next group.
func TestR49_AGroupEnds(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := storetest.Begin
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	work := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	bothEngines(t, Options{Clock: clock}, func(t *testing.T, s *Store) {
		b := holdUp(t, s)
		var served []string
		change := func(id lyceum.UserID, school lyceum.SchoolID) {
			b.write(t.Context(), school, func(tx lyceum.Tx) error {
				kept := 0
				for _, at := range []lyceum.SchoolID{1, 9} { // outside this transaction: what is committed
					v := s.In(t.Context(), at)
					if err := v.Users.Each(v, lyceum.UserFilter{}, func(*lyceum.User) error { kept++; return nil }); err != nil {
						return err
					}
				}
				this := fmt.Sprintf("user %d of %d after %d", id, school, kept)
				served = append(slices.DeleteFunc(served, func(s string) bool { return s == this }), this) // it may run again
				work(groupBudget / 2)
				_, err := tx.Users.Save(tx, lyceum.User{ID: id, Email: fmt.Sprintf("user%d@example.com", id), CreatedAt: storetest.Begin})
				return err
			})
		}
		for id := range lyceum.UserID(3) {
			change(id+1, 9)
		}
		for id := range lyceum.UserID(2) {
			change(id+11, 1)
		}
		b.letGo()
		b.group.Wait()
		want := []string{"user 1 of 9 after 0", "user 11 of 1 after 0", "user 2 of 9 after 2", "user 12 of 1 after 2", "user 3 of 9 after 4"}
		if !slices.Equal(served, want) {
			t.Errorf("served %q, want %q", served, want)
		}
	})
}

// TestR49_BookkeepingInParts checks that the bookkeeping of many credentials takes few
// statements, and several writes, between which other writes get their turn.
func TestR49_BookkeepingInParts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	statements, writes := 0, 0
	o := Options{Trace: func(string) { mu.Lock(); statements++; mu.Unlock() }}
	o.Clock = func() time.Time { mu.Lock(); writes++; mu.Unlock(); return time.Now() } // called once for a group of one
	bothEngines(t, o, func(t *testing.T, s *Store) {
		school := storetest.MakeSchool(t, s)
		const n = 2000
		at := storetest.Begin.Add(time.Hour)
		var books lyceum.Bookkeeping
		var keys []lyceum.APIKey
		for id := range lyceum.APIKeyID(n) {
			keys = append(keys, lyceum.APIKey{ID: id + 1, Name: "Key", Hash: lyceum.KeyHash{byte(id), byte(id >> 8)}, CreatedAt: storetest.Begin})
			books.KeyUses = append(books.KeyUses, lyceum.KeyUse{School: school, Key: id + 1, At: at.Add(time.Duration(id) * time.Second)})
		}
		storetest.Write(t, s, school, func(tx lyceum.Tx) error { return tx.APIKeys.Insert(tx, keys...) })
		mu.Lock()
		statements, writes = 0, 0
		mu.Unlock()
		for range 2 {
			if err := s.Bookkeep(t.Context(), books); err != nil {
				t.Fatal(err)
			}
			for i := range books.KeyUses { // a later time is already known
				books.KeyUses[i].At = storetest.Begin
			}
		}
		mu.Lock()
		ran, parts := statements, writes
		mu.Unlock()
		if ran > 2*n/20 || parts < 2*n/keptAtOnce {
			t.Errorf("%d uses took %d statements in %d writes", 2*n, ran, parts)
		}
		v := s.In(t.Context(), school)
		used, err := lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{})
		if err != nil || len(used) != n {
			t.Fatal(len(used), err)
		}
		for _, key := range used {
			if want := at.Add(time.Duration(key.ID-1) * time.Second); key.LastUsedAt != lyceum.Some(want) {
				t.Fatalf("key %d was last used at %v, want %v", key.ID, key.LastUsedAt, want)
			}
		}
	})
}

// TestR49_TagsAreSets checks that removing a hundred tags and adding a hundred, with their
// entries, takes few statements.
func TestR49_TagsAreSets(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	statements := 0
	bothEngines(t, Options{Trace: func(string) { mu.Lock(); statements++; mu.Unlock() }}, func(t *testing.T, s *Store) {
		school := storetest.MakeSchool(t, s)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ada@example.com", CreatedAt: storetest.Begin})
			return err
		})
		for round := range 2 {
			names := make([]string, 0, 101)
			for n := range 100 {
				names = append(names, fmt.Sprintf("tag %03d of %d", n, round))
			}
			mu.Lock()
			statements = 0
			mu.Unlock()
			storetest.Write(t, s, school, func(tx lyceum.Tx) error {
				_, err := tx.SetTags(1, append(names, names[0]))
				for n := range 200 {
					tx.Announce(lyceum.UserTagged, 1, lyceum.UserTagCreatedEvent, fmt.Sprint(n))
				}
				return err
			})
			mu.Lock()
			if statements > 20 {
				t.Errorf("they took %d statements", statements)
			}
			mu.Unlock()
			var kept []string
			err := s.In(t.Context(), school).EachTag(lyceum.Some(lyceum.UserID(1)), func(_ lyceum.UserID, name string) error {
				kept = append(kept, name)
				return nil
			})
			if slices.Sort(kept); err != nil || !slices.Equal(kept, names) {
				t.Errorf("kept %q, %v", kept, err)
			}
		}
	})
}

// TestSlowSchoolsGoAlone checks that a school that another transaction has locked shares no group
// until its turn came quickly again, and that a school is in one hand at a time.
func TestSlowSchoolsGoAlone(t *testing.T) {
	t.Parallel()
	l := newQueue(1, 0, 1)
	add := func(schools ...lyceum.SchoolID) {
		for _, id := range schools {
			l.add(&change{school: id, done: make(chan struct{})})
		}
	}
	take := func(want ...lyceum.SchoolID) *hand {
		t.Helper()
		var got []lyceum.SchoolID
		h := l.take()
		if h != nil {
			for _, c := range h.changes {
				got = append(got, c.school)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("took changes of %d, want %d", got, want)
		}
		return h
	}
	add(1, 2, 2, 3)
	first := take(1, 2, 3, 2)
	held, rest := (&heldError{school: 2}).split(first.changes)
	l.slowed(first, 2, rest, held)
	add(1, 2, 3)
	slow := take(2, 2, 2)
	add(2, 4)
	take()
	l.finish(first, len(first.changes), nil, true)
	second := take(1, 3, 4)
	l.finish(slow, len(slow.changes), nil, false)
	slow = take(2)
	l.finish(slow, len(slow.changes), nil, true)
	add(2, 5)
	l.finish(second, len(second.changes), nil, true)
	last := take(2, 5)
	l.finish(last, len(last.changes), nil, true)
	if len(l.slow)+len(l.taken)+len(l.waiting)+len(l.order) > 0 || l.free != [2]int{1, 1} {
		t.Errorf("the queue remembers %+v", l)
	}
}

// TestQueueHasLanes checks that schools that another process changes, too, go in lanes, each of
// which one writer works on, and that other schools go with any of them.
func TestQueueHasLanes(t *testing.T) {
	t.Parallel()
	l := newQueue(2, 0, 0)
	l.shared = func(school lyceum.SchoolID) bool { return school < 10 }
	add := func(schools ...lyceum.SchoolID) {
		for _, school := range schools {
			l.add(&change{school: school})
		}
	}
	taken := func(want ...lyceum.SchoolID) *hand {
		t.Helper()
		h := l.take()
		var got []lyceum.SchoolID
		if h != nil {
			got = schoolsOf(h.changes)
		}
		if !slices.Equal(got, want) {
			t.Errorf("took %v, want %v", got, want)
		}
		return h
	}
	add(1, 2, 3, 4, 11)
	odd := taken(1, 3, 11)
	add(5, 6)
	even := taken(2, 4, 6)
	taken() // all writers are busy
	l.finish(even, len(even.changes), nil, true)
	add(7, 8, 12)
	even = taken(8, 12)
	l.finish(odd, len(odd.changes), nil, true)
	odd = taken(5, 7)
	l.finish(even, len(even.changes), nil, true)
	l.finish(odd, len(odd.changes), nil, true)
	taken()
}

// TestGroupsFollow checks that a group that was sent except for its commit is followed by one of
// about as many changes of its school, and that both leave the other writer to other schools.
func TestGroupsFollow(t *testing.T) {
	t.Parallel()
	l := newQueue(2, 2, 1)
	l.leastFollowing = 3
	woken := func(want bool) {
		t.Helper()
		got := len(l.wake) > 0
		for len(l.wake) > 0 {
			<-l.wake
		}
		if got != want {
			t.Errorf("a writer is woken: %t, want %t", got, want)
		}
	}
	add := func(n int, school lyceum.SchoolID, wakes bool) {
		t.Helper()
		for range n {
			l.add(&change{school: school})
		}
		woken(wakes)
	}
	take := func(want int, schools ...lyceum.SchoolID) *hand {
		t.Helper()
		h := l.take()
		if h == nil {
			h = &hand{}
		}
		if got := schoolsOf(h.changes); len(h.changes) != want || !slices.Equal(got, schools) {
			t.Fatalf("took %d of schools %v, want %d of %v", len(h.changes), got, want, schools)
		}
		return h
	}
	nothing := func() { t.Helper(); take(0) }
	end := func(h *hand) { l.finish(h, len(h.changes), nil, true) }
	sent := func(h *hand, wakes bool) { t.Helper(); l.sent(h); woken(wakes) }

	add(8, 1, true)
	first := take(8, 1)
	add(5, 1, false)
	nothing()
	sent(first, false) // three quarters of the 8 are 6
	add(3, 1, true)
	second := take(8, 1)
	sent(second, false)
	add(20, 1, false) // two hands have changes of it
	nothing()
	end(first)
	third := take(14, 1) // half of 28
	add(1, 2, true)
	other := take(1, 2) // waits for neither of the two
	add(1, 3, false)    // both writers are busy
	nothing()
	end(other)
	end(second)
	end(take(1, 3))
	sent(third, false)
	add(3, 1, false)
	nothing() // three quarters of the 14 are 10
	add(3, 1, true)
	add(1, 5, true)
	fourth := take(12, 1) // it goes alone
	woken(true)
	end(take(1, 5))
	sent(third, false)
	l.lost(third)
	sent(fourth, false)
	end(fourth) // the one that it follows runs again
	add(20, 1, false)
	nothing()
	sent(third, true)
	fifth := take(17, 1)
	end(third)
	end(fifth) // it was not sent
	end(take(3, 1))
	add(7, 1, true)
	last := take(7, 1)
	sent(last, false)
	end(last)
	add(7, 1, true)
	half := take(4, 1)
	woken(false)
	sent(half, true)
	end(take(3, 1))
	end(half)

	add(4, 1, true)
	held := take(4, 1)
	sent(held, false)
	add(4, 1, true)
	behind := take(4, 1)
	l.slowed(behind, 1, nil, behind.changes)
	woken(true)
	add(4, 1, false)
	nothing() // a slow school is not followed
	end(held)
	end(behind)
	end(take(8, 1))
	if len(l.taken)+len(l.slow)+len(l.waiting)+len(l.order) > 0 || l.free != [2]int{2, 1} {
		t.Errorf("the queue remembers %+v", l)
	}
}

// TestWriterGathers checks that a writer waits for callers that shared a commit to come back, but
// not for a single one, not for long, and not while another writer could be working.
func TestWriterGathers(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	for _, c := range []struct {
		name    string
		done    int // of a group of three
		back    []lyceum.SchoolID
		late    time.Duration // since a change was added
		another bool          // another writer has a group
		single  bool          // there is a single writer
		want    bool
	}{
		{name: "nobody has come", done: 3, want: true},
		{name: "one is missing", done: 3, back: []lyceum.SchoolID{1, 1}, late: lull, want: true},
		{name: "all have come", done: 3, back: []lyceum.SchoolID{1, 1, 1}},
		{name: "more have come", done: 3, back: []lyceum.SchoolID{1, 1, 1, 1}},
		{name: "nobody has come for a while", done: 3, back: []lyceum.SchoolID{1, 1}, late: lull + 1},
		{name: "nobody shared a commit", done: 1},
		{name: "two schools wait", done: 3, back: []lyceum.SchoolID{1, 2}},
		{name: "two schools wait for one writer", done: 3, back: []lyceum.SchoolID{1, 2}, single: true, want: true},
		{name: "another writer is at work", done: 3, back: []lyceum.SchoolID{1}, another: true},
	} {
		l := newQueue(2, 0, 0)
		if c.single {
			l = newQueue(1, 0, 0)
		}
		for range 3 {
			l.add(&change{school: 1})
		}
		h := l.take()
		if c.another {
			l.add(&change{school: 9})
			l.take()
		}
		l.finish(h, c.done, nil, true)
		l.lately = begin
		for _, school := range c.back {
			l.add(&change{school: school, since: begin})
		}
		if got := l.gathers(begin.Add(c.late)); got != c.want {
			t.Errorf("%s: gathers is %t, want %t", c.name, got, c.want)
		}
		if c.late > lull && l.gathers(begin) {
			t.Errorf("%s: those who did not come in time are waited for again", c.name)
		}
	}
}
