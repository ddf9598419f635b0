package sqlstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// queue holds the changes that wait for a writer. A writer takes all that wait, of every school
// that no other writer is working on, and commits them together. The schools take turns: one with
// many changes delays another by no more than a single change and the commit of a group.
//
// A school that another transaction locks for long would delay all that share a group with it. It
// is slow: it goes alone until its turn comes quickly again.
//
// A group of one school that has been sent, including its commit, may be followed by another group
// of the same school, which waits for the first one in the database: so the database has work to
// do while the callers of the first group come back. The first group has its turn by then, so the
// second one cannot overtake it. The two count as one writer, so that other schools wait for
// neither.
//
// Of the schools that another process changes, too, a group has only those of one lane. So groups
// wait only for groups of the same lane, and those of different lanes run at the same time.
type queue struct {
	wake chan struct{} // has room for each writer: a message means that something can be taken
	free [2]int        // how many more writers may take changes: of schools that are not slow, and of slow ones

	writers int                        // for schools that are not slow
	shared  func(lyceum.SchoolID) bool // reports whether another process changes a school, too

	mu      sync.Mutex
	waiting map[lyceum.SchoolID][]*change
	order   []lyceum.SchoolID // the schools that wait, the next one first
	slow    map[lyceum.SchoolID]bool
	taken   map[lyceum.SchoolID]*hand
	halved  map[lyceum.SchoolID]bool // schools whose last group could be followed

	leastFollowing int // the constant, except in tests

	awaited int       // callers of shared groups that have not come back yet
	lately  time.Time // when a change was last done or added
}

// hand is a group of changes that a writer has taken.
type hand struct {
	changes       []*change
	slow          bool  // all are of one school, which is slow
	follows       bool  // all are of one school, which another hand had when they were taken
	sent          bool  // all are of one school, and were sent, including their commit
	before, after *hand // hands with changes of the same school that are also in progress
}

// leastFollowing is the smallest number of changes for a group that follows another. Two groups
// cost the database more than one of all their changes.
const leastFollowing = 24

// change is one caller's write on its way through the queue.
type change struct {
	ctx    context.Context //nolint:containedctx // travels with the change to its writer
	school lyceum.SchoolID
	run    func(*session) error
	many   bool // see lyceum.Stamp
	since  time.Time
	result error
	done   chan struct{}
}

// newQueue creates a queue for a number of writers, their followers, and additional writers for
// slow schools.
func newQueue(writers, followers, more int) *queue {
	return &queue{
		wake: make(chan struct{}, writers+followers+more), free: [2]int{writers, more}, writers: writers,
		waiting: map[lyceum.SchoolID][]*change{}, slow: map[lyceum.SchoolID]bool{}, halved: map[lyceum.SchoolID]bool{},
		taken:  map[lyceum.SchoolID]*hand{},
		shared: func(lyceum.SchoolID) bool { return false }, leastFollowing: leastFollowing,
	}
}

// freeFor returns how many more writers may take changes of slow schools, or of the others.
func (l *queue) freeFor(slow bool) *int {
	if slow {
		return &l.free[1]
	}
	return &l.free[0]
}

// add adds a change to the queue.
func (l *queue) add(c *change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaited, l.lately = max(l.awaited-1, 0), c.since
	if len(l.waiting[c.school]) == 0 {
		l.order = append(l.order, c.school)
	}
	l.waiting[c.school] = append(l.waiting[c.school], c)
	if l.mayBeTaken(c.school) {
		l.signal()
	}
}

// mayBeTaken reports whether a writer may take changes of a school.
func (l *queue) mayBeTaken(school lyceum.SchoolID) bool {
	by, slow := l.taken[school], l.slow[school]
	if by == nil {
		return *l.freeFor(slow) > 0
	}
	enough := max(len(by.changes)*3/4, l.leastFollowing)
	return by.sent && by.before == nil && !slow && len(l.waiting[school]) >= enough
}

// share returns how many changes of a school to take: all that wait or, where groups follow one
// another, half of those that wait or are in progress.
func (l *queue) share(school lyceum.SchoolID) int {
	waiting, all := len(l.waiting[school]), len(l.waiting[school])
	if by := l.taken[school]; by != nil {
		all += len(by.changes)
	}
	if l.halved[school] && all >= 2*l.leastFollowing {
		return min((all+1)/2, waiting)
	}
	return waiting
}

// sent marks a hand, which is of one school, as sent, so that another may follow it.
func (l *queue) sent(h *hand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	school := h.changes[0].school
	if len(l.halved) > maxGuesses {
		clear(l.halved)
	}
	if h.sent, l.halved[school] = true, true; l.mayBeTaken(school) {
		l.signal()
	}
}

// lost reverses sent for a hand that was not committed.
func (l *queue) lost(h *hand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.sent = false
}

// gathers reports whether a writer should wait for more changes. Callers that shared a commit
// mostly come back together, and a change costs less the more there are in its group. The writer
// does not wait if no caller has come for a while, nor while another writer is working, nor if
// another one could be because several schools wait.
func (l *queue) gathers(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.lately) > lull {
		l.awaited = 0
	}
	return l.awaited > 0 && l.free[0] == l.writers && (l.writers == 1 || len(l.order) < 2)
}

// signal wakes a writer.
func (l *queue) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// withdraw removes a change from the queue, and reports whether it was still waiting.
func (l *queue) withdraw(c *change) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.waiting[c.school]
	at := slices.Index(waiting, c)
	if at < 0 {
		return false
	}
	l.keep(c.school, slices.Delete(waiting, at, at+1))
	if len(waiting) == 1 {
		l.order = slices.DeleteFunc(l.order, func(id lyceum.SchoolID) bool { return id == c.school })
	}
	return true
}

// keep sets the waiting changes of a school, and forgets a school that has none.
func (l *queue) keep(school lyceum.SchoolID, changes []*change) {
	if len(changes) == 0 {
		delete(l.waiting, school)
		return
	}
	l.waiting[school] = changes
}

// take returns the next group, with the schools' changes interleaved one by one, or nil if
// nothing can be taken.
func (l *queue) take() *hand {
	l.mu.Lock()
	defer l.mu.Unlock()
	var next, others []lyceum.SchoolID
	slow, alone, more, lane, busy := false, false, false, noLane, l.lanes()
	for _, school := range l.order {
		is, of := l.slow[school], l.laneOf(school)
		goesAlone := is || l.taken[school] != nil
		switch {
		case !l.mayBeTaken(school) || slices.Contains(busy, of):
			others = append(others, school)
		case len(next) > 0 && (goesAlone || alone || lane != noLane && of != noLane && of != lane):
			others, more = append(others, school), true
		default:
			next, slow, alone = append(next, school), is, goesAlone
			if of != noLane {
				lane = of
			}
		}
	}
	if len(next) == 0 {
		return nil
	}
	h, most := &hand{slow: slow, before: l.taken[next[0]]}, maxGroup
	if h.follows = h.before != nil; h.follows {
		h.before.after = h
	} else {
		*l.freeFor(slow)--
	}
	if len(next) == 1 {
		most = min(most, l.share(next[0]))
	}
	for len(h.changes) < most && len(next) > 0 {
		school := next[0]
		waiting := l.waiting[school]
		h.changes = append(h.changes, waiting[0])
		l.taken[school] = h
		l.keep(school, waiting[1:])
		if next = next[1:]; len(waiting) > 1 {
			next = append(next, school)
		}
	}
	l.order = slices.Concat(others, next)
	if more || len(h.changes) == maxGroup {
		l.signal()
	}
	return h
}

// noLane is the lane of schools that no other process changes, and of slow ones.
const noLane = -1

// laneOf returns the lane of a school, which is the same in all processes.
func (l *queue) laneOf(school lyceum.SchoolID) int {
	if l.slow[school] || !l.shared(school) {
		return noLane
	}
	return int(school) % l.writers
}

// lanes returns the lanes that writers are working on.
func (l *queue) lanes() (busy []int) {
	for school := range l.taken {
		if lane := l.laneOf(school); lane != noLane {
			busy = append(busy, lane)
		}
	}
	return busy
}

// slowed marks a school as slow and puts its changes from a hand back in the queue.
func (l *queue) slowed(h *hand, school lyceum.SchoolID, rest, again []*change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow[school] = true
	l.leave(h, school)
	h.changes = rest
	l.again(again)
	l.signal()
}

// finish ends a group in which done changes were completed. The rest, for which there was no time,
// come first in the next group. The school of a slow group is no longer slow if its turn came
// quickly.
func (l *queue) finish(h *hand, done int, rest []*change, quickly bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lately = time.Now(); done > 1 {
		l.awaited += done
	}
	for _, c := range h.changes {
		l.leave(h, c.school)
		if h.slow && quickly {
			delete(l.slow, c.school)
		}
	}
	switch {
	case h.before != nil:
		h.before.after = nil
	case h.after != nil:
		h.after.before = nil
	default:
		*l.freeFor(h.slow)++
	}
	l.again(rest)
}

// leave releases a school to the other writers.
func (l *queue) leave(h *hand, school lyceum.SchoolID) {
	if l.taken[school] == h {
		if l.taken[school] = h.before; h.before == nil {
			delete(l.taken, school)
		}
	}
	if !h.sent {
		delete(l.halved, school)
	}
}

// again puts changes back at the front of the queue.
func (l *queue) again(changes []*change) {
	first := make([]lyceum.SchoolID, 0, len(changes))
	for _, c := range slices.Backward(changes) {
		l.waiting[c.school] = append([]*change{c}, l.waiting[c.school]...)
	}
	for _, c := range changes {
		if !slices.Contains(first, c.school) {
			first = append(first, c.school)
		}
	}
	later := slices.DeleteFunc(l.order, func(id lyceum.SchoolID) bool { return slices.Contains(first, id) })
	l.order = slices.Concat(first, later)
}

// oldest returns when the oldest unfinished change began to wait for its turn or its end, or the
// zero time if there is none.
func (l *queue) oldest() (since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note := func(c *change) {
		if since.IsZero() || c.since.Before(since) {
			since = c.since
		}
	}
	for _, h := range l.taken {
		for ; h != nil; h = h.before {
			for _, c := range h.changes {
				note(c)
			}
		}
	}
	for _, waiting := range l.waiting {
		for _, c := range waiting {
			note(c)
		}
	}
	return since
}
