package sqlstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// queue has the changes that wait for a writer. A writer takes all that wait, of every
// school that no other writer has in hand, and commits them together. The schools take
// turns: one with many changes delays another by a single change and the commit of a
// group.
//
// A school that another transaction keeps for long would delay all that share a group
// with it. It goes alone until its turn comes quickly again.
//
// Where another transaction can follow at once, a school with many changes is not left to one
// group: those that wait follow one that was sent but for its commit, once they are as many.
// The database lets them wait for it, and has something to do while the callers of the first
// group come back.
//
// Of schools that another process changes, too, a group has those of one lane. So the groups
// of each lane wait for one another alone, and those of all lanes run at once.
type queue struct {
	wake chan struct{} // has room for each writer: something can be taken
	free [2]int        // how many writers may take changes, of schools that are not slow and of slow ones

	writers int                        // of schools that are not slow
	shared  func(lyceum.SchoolID) bool // whether another process changes a school, too

	mu      sync.Mutex
	waiting map[lyceum.SchoolID][]*change
	order   []lyceum.SchoolID // the schools that wait, the next one first
	slow    map[lyceum.SchoolID]bool
	ahead   map[lyceum.SchoolID]bool // the last group was sent before it was committed
	hands   map[*hand]bool
	taken   map[lyceum.SchoolID]*hand // the last one, of the hands that have changes of a school

	leastFollowing int // see there

	answered int       // of those who had a group in common, how many have not come back
	lately   time.Time // when somebody was answered or came
}

// hand is what a writer has in hand.
type hand struct {
	changes []*change
	slow    bool // they are of one school, which is slow
	sent    bool // they are of one school, and all but the commit was sent: others may follow
}

// leastFollowing is how many changes follow a group that is not committed at least. Two groups cost the
// database more than one of all their changes.
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

// newQueue makes the queue of writers, and of more for schools that are slow.
func newQueue(writers, more int) *queue {
	return &queue{
		wake: make(chan struct{}, writers+more), free: [2]int{writers, more}, writers: writers,
		waiting: map[lyceum.SchoolID][]*change{}, slow: map[lyceum.SchoolID]bool{}, ahead: map[lyceum.SchoolID]bool{},
		hands: map[*hand]bool{}, taken: map[lyceum.SchoolID]*hand{},
		shared: func(lyceum.SchoolID) bool { return false }, leastFollowing: leastFollowing,
	}
}

// freeFor is how many writers may take changes of schools that are slow, or are not.
func (l *queue) freeFor(slow bool) *int {
	if slow {
		return &l.free[1]
	}
	return &l.free[0]
}

// add lets a change wait for its turn.
func (l *queue) add(c *change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered, l.lately = max(l.answered-1, 0), c.since
	if len(l.waiting[c.school]) == 0 {
		l.order = append(l.order, c.school)
	}
	l.waiting[c.school] = append(l.waiting[c.school], c)
	if l.mayBeTaken(c.school) && *l.freeFor(l.slow[c.school]) > 0 {
		l.tell()
	}
}

// mayBeTaken reports whether no writer keeps the others from a school.
func (l *queue) mayBeTaken(school lyceum.SchoolID) bool {
	by := l.taken[school]
	return by == nil || by.sent && len(l.waiting[school]) >= max(len(by.changes), l.leastFollowing)
}

// share is how many of the changes of a school that wait are taken: where groups follow one another,
// as many as leave the next one as many.
func (l *queue) share(school lyceum.SchoolID) int {
	waiting, sent := len(l.waiting[school]), 0
	if by := l.taken[school]; by != nil {
		sent = len(by.changes)
	}
	if all := waiting + sent; l.ahead[school] && all >= 2*l.leastFollowing {
		return (all + 1) / 2
	}
	return waiting
}

// sent lets others follow a group that was sent but for its commit, if it is of one school.
func (l *queue) sent(h *hand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	school := h.changes[0].school
	if slices.ContainsFunc(h.changes, func(c *change) bool { return c.school != school }) {
		return
	}
	h.sent, l.ahead[school] = true, true
	if l.mayBeTaken(school) {
		l.tell()
	}
}

// gathers reports whether a writer is to wait for more changes. Those who share a commit
// mostly come back together, and a change costs less the more there are in its group. It is
// not to wait when nobody has come for a while, and neither while another writer is at
// work or could be, if there is one, because several schools wait.
func (l *queue) gathers(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.lately) > lull {
		l.answered = 0
	}
	return l.answered > 0 && l.free[0] == l.writers && (l.writers == 1 || len(l.order) < 2)
}

// tell wakes a writer.
func (l *queue) tell() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// withdraw takes a change back, and reports whether it still waited.
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

// keep sets what waits of a school; one without changes is forgotten.
func (l *queue) keep(school lyceum.SchoolID, changes []*change) {
	if len(changes) == 0 {
		delete(l.waiting, school)
		return
	}
	l.waiting[school] = changes
}

// take gives the next group, one change of each school after the other, and nil when
// nothing can be taken.
func (l *queue) take() *hand {
	l.mu.Lock()
	defer l.mu.Unlock()
	var next, others []lyceum.SchoolID
	slow, more, lane, busy := false, false, noLane, l.lanes()
	for _, school := range l.order {
		is, of := l.slow[school], l.laneOf(school)
		switch {
		case !l.mayBeTaken(school) || *l.freeFor(is) == 0 || slices.Contains(busy, of):
			others = append(others, school)
		case len(next) > 0 && (is || slow || lane != noLane && of != noLane && of != lane):
			others, more = append(others, school), true
		default:
			next, slow = append(next, school), is
			if of != noLane {
				lane = of
			}
		}
	}
	if len(next) == 0 {
		return nil
	}
	h, most := &hand{slow: slow}, maxGroup
	l.hands[h] = true
	*l.freeFor(slow)--
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
		l.tell()
	}
	return h
}

// noLane is of schools that no other process changes, and of slow ones.
const noLane = -1

// laneOf gives the lane of a school, the same in all processes.
func (l *queue) laneOf(school lyceum.SchoolID) int {
	if l.slow[school] || !l.shared(school) {
		return noLane
	}
	return int(school) % l.writers
}

// lanes lists the lanes that writers have in hand.
func (l *queue) lanes() (busy []int) {
	for school := range l.taken {
		if lane := l.laneOf(school); lane != noLane {
			busy = append(busy, lane)
		}
	}
	return busy
}

// slowed makes a school slow, whose changes in a hand wait again.
func (l *queue) slowed(h *hand, school lyceum.SchoolID, rest, again []*change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow[school] = true
	l.leave(h, school)
	h.changes = rest
	l.again(again)
	l.tell()
}

// finish ends a group, so many changes of which are answered. The rest of it, for which
// there was no time, comes first in the next one. The school of a slow group is not slow
// any more if its turn came quickly.
func (l *queue) finish(h *hand, answered int, rest []*change, quickly bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lately = time.Now(); answered > 1 {
		l.answered += answered
	}
	for _, c := range h.changes {
		if l.leave(h, c.school); h.slow && quickly {
			delete(l.slow, c.school)
		}
	}
	delete(l.hands, h)
	*l.freeFor(h.slow)++
	l.again(rest)
}

// leave lets the other writers have a school.
func (l *queue) leave(h *hand, school lyceum.SchoolID) {
	if l.taken[school] == h {
		delete(l.taken, school)
	}
	if !h.sent {
		delete(l.ahead, school)
	}
}

// again lets changes wait that come first.
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

// oldest returns since when the change has waited that has waited longest for
// its turn or its end; the zero time when there is none.
func (l *queue) oldest() (since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note := func(c *change) {
		if since.IsZero() || c.since.Before(since) {
			since = c.since
		}
	}
	for h := range l.hands {
		for _, c := range h.changes {
			note(c)
		}
	}
	for _, waiting := range l.waiting {
		note(waiting[0])
	}
	return since
}
