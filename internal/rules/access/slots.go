package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// hashWait is how long to wait for a free slot, and maxWaiting how many may wait for one
// origin.
const (
	hashWait   = 2 * time.Second
	maxWaiting = 64
)

// slots limits how many passwords are hashed at the same time. Waiting origins take turns, so
// that one that wants a thousand hashes delays the others by one. It is safe for concurrent
// use.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{} // by origin, in order of arrival
	turns   []string                   // the origins of waiting, the next first
}

func newSlots(n int) *slots { return &slots{free: n, waiting: map[string][]chan struct{}{}} }

var errBusy = &lyceum.Error{
	Kind:   lyceum.RateLimited,
	Detail: "Too many people are signing in right now. Try again in a moment.",
}

// take waits for a slot; the caller calls done when it has finished.
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

// release passes the slot to the first in the queue of the next origin, or frees it.
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

// leave removes a waiter from the queue. If the slot was assigned to it at the same moment, the
// slot is passed to the next.
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
