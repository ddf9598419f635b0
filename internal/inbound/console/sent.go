package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// sentForms remembers which forms were sent, so that one whose answer shows a
// secret takes effect once: a reload, or the way forward after back, sends it
// again and is led to what the first sending made. What was shown is not kept.
type sentForms struct {
	clock func() time.Time

	mu   sync.Mutex
	sent map[formName]*sending
}

// formName is a form of a session with what was typed into it: who goes back and types
// something else wants another thing.
type formName struct {
	session lyceum.KeyHash
	form    string
	fields  [sha256.Size]byte
}

// sends names what a visitor sends.
func (v *visit) sends(r *http.Request) formName {
	fields := sha256.Sum256([]byte(r.URL.Path + "?" + r.PostForm.Encode()))
	return formName{v.session, r.PostForm.Get("form"), fields}
}

type sending struct {
	at   time.Time
	over chan struct{}
	path string // of what was made; empty when nothing was, or not yet
}

const (
	// formMemory is how long a form is remembered: as long as its session.
	formMemory = access.SessionAbsolute
	// maxForms bounds the memory; the oldest are forgotten.
	maxForms = 10_000
	// maxFormName is longer than any name that newForm gives.
	maxFormName = 64
)

func newSentForms(clock func() time.Time) *sentForms {
	return &sentForms{clock: clock, sent: map[formName]*sending{}}
}

// newForm names a form that is about to be shown.
func newForm() string { return rand.Text() }

// once runs act for the first sending of a form with its fields and gives no path. For every
// other it gives the path that act gave, and waits for it if need be. After
// act has failed the form may be sent again.
func (s *sentForms) once(name formName, act func() (path string, err error)) (before string, err error) {
	if !isForm(name.form) {
		_, err := act()
		return "", err
	}
	var mine *sending
	for mine == nil {
		s.mu.Lock()
		other, ok := s.sent[name]
		if !ok {
			mine = &sending{at: s.clock(), over: make(chan struct{})}
			s.forget()
			s.sent[name] = mine
		}
		s.mu.Unlock()
		if ok {
			<-other.over
			if other.path != "" {
				return other.path, nil
			}
		}
	}
	path := ""
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if mine.path = path; path == "" {
			delete(s.sent, name)
		}
		close(mine.over)
	}()
	made, err := act()
	if err == nil {
		path = made
	}
	return "", err
}

// forget makes room for one more; the lock is held.
func (s *sentForms) forget() {
	if len(s.sent) < maxForms {
		return
	}
	var oldest formName
	var at time.Time
	limit := s.clock().Add(-formMemory)
	for name, sending := range s.sent {
		switch {
		case sending.path == "": // under way
		case sending.at.Before(limit):
			delete(s.sent, name)
		case at.IsZero() || sending.at.Before(at):
			oldest, at = name, sending.at
		}
	}
	if len(s.sent) >= maxForms {
		delete(s.sent, oldest)
	}
}
