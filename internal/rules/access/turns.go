package access

import (
	"runtime"
	"slices"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// turns limits how many expensive responses are built at the same time; one school gets at most
// half of the turns. Waiting schools take turns, so that one that wants a thousand delays the
// others by one. It is safe for concurrent use.
type turns struct {
	school int // maximum for one school

	mu      sync.Mutex
	free    int
	busy    map[lyceum.SchoolID]int
	waiting map[lyceum.SchoolID][]chan struct{} // in order of arrival
	order   []lyceum.SchoolID                   // the schools of waiting, the next first
}

// usualTurns returns one turn per processor, and at least two.
func usualTurns() int { return max(2, runtime.GOMAXPROCS(0)) }

func newTurns(n int) *turns {
	return &turns{
		school: max(1, n/2), free: n, busy: map[lyceum.SchoolID]int{},
		waiting: map[lyceum.SchoolID][]chan struct{}{},
	}
}

// request takes a turn if one is free. Otherwise, if queue is true, mine is closed when the turn
// has come.
func (t *turns) request(school lyceum.SchoolID, queue bool) (mine chan struct{}, taken bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 && t.busy[school] < t.school {
		t.free--
		t.busy[school]++
		return nil, true
	}
	if !queue {
		return nil, false
	}
	if len(t.waiting[school]) == 0 {
		t.order = append(t.order, school)
	}
	mine = make(chan struct{})
	t.waiting[school] = append(t.waiting[school], mine)
	return mine, false
}

// end gives up a turn, which passes to the next school that may have another one.
func (t *turns) end(school lyceum.SchoolID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.busy[school]--; t.busy[school] == 0 {
		delete(t.busy, school)
	}
	at := slices.IndexFunc(t.order, func(next lyceum.SchoolID) bool { return t.busy[next] < t.school })
	if at < 0 {
		return
	}
	next := t.order[at]
	t.order = slices.Delete(t.order, at, at+1)
	queue := t.waiting[next]
	close(queue[0])
	t.free--
	t.busy[next]++
	if len(queue) == 1 {
		delete(t.waiting, next)
		return
	}
	t.waiting[next] = queue[1:]
	t.order = append(t.order, next)
}

// leave removes a waiter from the queue. If its turn came at the same moment, the turn is
// passed to the next.
func (t *turns) leave(school lyceum.SchoolID, mine chan struct{}) {
	t.mu.Lock()
	at := slices.Index(t.waiting[school], mine)
	if at < 0 {
		t.mu.Unlock()
		t.end(school)
		return
	}
	defer t.mu.Unlock()
	if t.waiting[school] = slices.Delete(t.waiting[school], at, at+1); len(t.waiting[school]) == 0 {
		delete(t.waiting, school)
		t.order = slices.DeleteFunc(t.order, func(id lyceum.SchoolID) bool { return id == school })
	}
}

// count returns how many have a turn, and how many wait for one.
func (t *turns) count() (making, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.busy {
		making += n
	}
	for _, queue := range t.waiting {
		waiting += len(queue)
	}
	return making, waiting
}
