package sqlstore

import (
	"sync"

	"github.com/lyceum-school/lyceum"
)

// watch notifies those who wait for a change of a school.
type watch struct {
	mu      sync.Mutex
	waiting map[lyceum.SchoolID]chan struct{}
}

func (s *Store) Changed(school lyceum.SchoolID) <-chan struct{} {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.waiting == nil {
		s.watch.waiting = map[lyceum.SchoolID]chan struct{}{}
	}
	c, ok := s.watch.waiting[school]
	if !ok {
		c = make(chan struct{})
		s.watch.waiting[school] = c
	}
	return c
}

func (w *watch) changed(school lyceum.SchoolID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range [...]lyceum.SchoolID{school, 0} {
		if c, ok := w.waiting[id]; ok {
			close(c)
			delete(w.waiting, id)
		}
	}
}
