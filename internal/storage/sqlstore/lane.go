package sqlstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// lane is one writer. The changes that wait for it are committed together, and
// the schools that wait take turns: a school with many changes delays another
// one by a single change and the commit of a group.
type lane struct {
	wake chan struct{} // has room for one: something waits

	mu     sync.Mutex
	queues map[lyceum.SchoolID][]*change
	order  []lyceum.SchoolID // the schools in queues, the next one first
	group  []*change         // being run
}

// change is one caller's write on its way through a lane.
type change struct {
	ctx    context.Context //nolint:containedctx // travels with the change to its lane
	school lyceum.SchoolID
	run    func(*session) error
	since  time.Time
	result error
	done   chan struct{}
}

func newLane() *lane {
	return &lane{wake: make(chan struct{}, 1), queues: map[lyceum.SchoolID][]*change{}}
}

// add lets a change wait for its turn.
func (l *lane) add(c *change) {
	l.mu.Lock()
	if len(l.queues[c.school]) == 0 {
		l.order = append(l.order, c.school)
	}
	l.queues[c.school] = append(l.queues[c.school], c)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// withdraw takes a change back, and reports whether it still waited.
func (l *lane) withdraw(c *change) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[c.school]
	at := slices.Index(queue, c)
	if at < 0 {
		return false
	}
	l.keep(c.school, slices.Delete(queue, at, at+1))
	if len(queue) == 1 {
		l.order = slices.DeleteFunc(l.order, func(id lyceum.SchoolID) bool { return id == c.school })
	}
	return true
}

// keep sets the queue of a school; one without changes is forgotten.
func (l *lane) keep(school lyceum.SchoolID, queue []*change) {
	if len(queue) == 0 {
		delete(l.queues, school)
		return
	}
	l.queues[school] = queue
}

// take returns the next group, one change of each school after the other, and
// none when nothing waits.
func (l *lane) take() []*change {
	l.mu.Lock()
	defer l.mu.Unlock()
	var group []*change
	for len(group) < maxGroup && len(l.order) > 0 {
		school := l.order[0]
		queue := l.queues[school]
		group = append(group, queue[0])
		l.keep(school, queue[1:])
		if l.order = l.order[1:]; len(queue) > 1 {
			l.order = append(l.order, school)
		}
	}
	l.group = group
	return group
}

// begin lets changes that were taken be the group.
func (l *lane) begin(group []*change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group = group
}

// finish ends the group. The rest of it, for which there was no time, comes
// first in the next one.
func (l *lane) finish(rest []*change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group = nil
	first := make([]lyceum.SchoolID, 0, len(rest))
	for _, c := range slices.Backward(rest) {
		l.queues[c.school] = append([]*change{c}, l.queues[c.school]...)
	}
	for _, c := range rest {
		if !slices.Contains(first, c.school) {
			first = append(first, c.school)
		}
	}
	later := slices.DeleteFunc(l.order, func(id lyceum.SchoolID) bool { return slices.Contains(first, id) })
	l.order = slices.Concat(first, later)
}

// oldest returns since when the change has waited that has waited longest for
// its turn or its end; the zero time when there is none.
func (l *lane) oldest() (since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note := func(c *change) {
		if since.IsZero() || c.since.Before(since) {
			since = c.since
		}
	}
	for _, c := range l.group {
		note(c)
	}
	for _, queue := range l.queues {
		note(queue[0])
	}
	return since
}
