package console

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

func TestOnceAtTheSameMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSentForms(time.Now)
		var acts, led atomic.Int32
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				before, err := s.once(formName{form: "form"}, func() (string, error) {
					if acts.Add(1) == 1 {
						return "", errors.New("the first fails")
					}
					synctest.Wait() // until all others have come
					return "/made", nil
				})
				if err == nil && before == "/made" {
					led.Add(1)
				}
			})
		}
		all.Wait()
		if acts.Load() != 2 || led.Load() != 48 {
			t.Errorf("%d acts and %d led, want 2 and 48", acts.Load(), led.Load())
		}
	})
}

func TestOnceSurvivesPanic(t *testing.T) {
	s := newSentForms(time.Now)
	func() {
		defer func() { _ = recover() }()
		_, _ = s.once(formName{form: "form"}, func() (string, error) { panic("no") })
	}()
	if before, err := s.once(formName{form: "form"}, func() (string, error) { return "/x", nil }); before != "" || err != nil {
		t.Errorf("after a panic the form gives %q, %v", before, err)
	}
}

func TestFormsAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	s := newSentForms(func() time.Time { now = now.Add(time.Second); return now })
	send := func(form string) string {
		before, _ := s.once(formName{form: form}, func() (string, error) { return "/x", nil })
		return before
	}
	for i := range maxForms + 10 {
		send(strconv.Itoa(i))
	}
	if len(s.sent) != maxForms {
		t.Errorf("%d forms are kept, want %d", len(s.sent), maxForms)
	}
	if send(strconv.Itoa(maxForms)) == "" || send("0") != "" {
		t.Error("it was not the oldest that was forgotten")
	}
}

func TestEveryKindHasItsPage(t *testing.T) {
	for _, kind := range lyceum.Kinds() {
		if statusOf(kind) < 400 || web.Title(kind) == "" {
			t.Errorf("an error of kind %v has status %d and title %q", kind, statusOf(kind), web.Title(kind))
		}
	}
}

func TestEveryFilterHasALabel(t *testing.T) {
	for _, name := range filterFields {
		if labels[name] == "" {
			t.Errorf("%s has no label", name)
		}
	}
}
