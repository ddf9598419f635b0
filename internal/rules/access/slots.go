package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// How long somebody waits for a free slot, and how many wait at most for one
// origin.
const (
	hashWait   = 2 * time.Second
	maxWaiting = 64
)

// slots lets as many hash at once as it has. Whoever waits is served origin by
// origin in turn, so that one that asks for a thousand hashes delays the others
// by one. It is safe for concurrent use.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{} // by origin, in the order in which they came
	turns   []string                   // the origins of waiting, the next first
}

func newSlots(n int) *slots { return &slots{free: n, waiting: map[string][]chan struct{}{}} }

var errBusy = &lyceum.Error{
	Kind:   lyceum.RateLimited,
	Detail: "Too many people are signing in right now. Try again in a moment.",
}

// take waits for a slot; the caller calls done when it is through.
func (s *slots) take(ctx context.Context, from string) (done func(), err error) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.release, nil
	}
	queue := s.waiting[from]
	if len(queue) >= maxWaiting {
		s.mu.Unlock()
		return nil, errBusy
	}
	if len(queue) == 0 {
		s.turns = append(s.turns, from)
	}
	mine := make(chan struct{})
	s.waiting[from] = append(queue, mine)
	s.mu.Unlock()

	wait, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	select {
	case <-mine:
		return s.release, nil
	case <-wait.Done():
		s.leave(from, mine)
		return nil, errBusy
	}
}

// release gives the slot to the next origin's first, or sets it free.
func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		s.free++
		return
	}
	from := s.turns[0]
	s.turns = s.turns[1:]
	queue := s.waiting[from]
	close(queue[0])
	if len(queue) == 1 {
		delete(s.waiting, from)
		return
	}
	s.waiting[from] = queue[1:]
	s.turns = append(s.turns, from)
}

// leave takes somebody out of the queue. The slot may have come at the same
// moment; then it goes on to the next.
func (s *slots) leave(from string, mine chan struct{}) {
	s.mu.Lock()
	at := slices.Index(s.waiting[from], mine)
	if at < 0 {
		s.mu.Unlock()
		s.release()
		return
	}
	defer s.mu.Unlock()
	if s.waiting[from] = slices.Delete(s.waiting[from], at, at+1); len(s.waiting[from]) == 0 {
		delete(s.waiting, from)
		s.turns = slices.DeleteFunc(s.turns, func(o string) bool { return o == from })
	}
}
