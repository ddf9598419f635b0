package mail_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/outbound/mail"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// office is two schools with a courier that sends their emails.
type office struct {
	store  lyceum.Store
	emails *templates.Service
	clock  *storetest.Clock
	ids    []lyceum.SchoolID

	sent chan templates.Message
	mu   sync.Mutex
	down error // the mail server's response
	log  strings.Builder
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	o := &office{store: store, clock: storetest.NewClock(storetest.Begin), sent: make(chan templates.Message, 1000)}
	o.ids = []lyceum.SchoolID{storetest.MakeSchool(t, store), storetest.MakeSchool(t, store)}
	o.emails = templates.New(store, o.clock.Now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{1}), Log: slog.New(slog.DiscardHandler), Send: o.send,
	})
	return o
}

func (o *office) send(_ context.Context, m templates.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.down == nil {
		o.sent <- m
	}
	return o.down
}

func (o *office) setError(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = err
}

// run runs a courier until stop is called.
func (o *office) run(t *testing.T) (c *mail.Courier, stop func()) {
	t.Helper()
	c = &mail.Courier{
		Emails: o.emails, Send: o.send, Log: slog.New(slog.NewTextHandler(&o.log, nil)),
		Changed: func() <-chan struct{} { return o.store.Changed(0) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	return c, func() { cancel(); <-done }
}

func (o *office) queue(t *testing.T, school lyceum.SchoolID, to ...string) {
	t.Helper()
	by := lyceum.Stamp{School: school, At: o.clock.Now(), Actor: "test"}
	err := o.store.Write(t.Context(), by, func(tx lyceum.Tx) error {
		tx.Note(lyceum.SchoolUpdated, int32(school)) // as everything that causes an email does
		for _, address := range to {
			if err := o.emails.Queue(tx, templates.Outgoing{Name: templates.EmailChanged, To: lyceum.Some(address)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// count returns the number of a school's emails in a state.
func (o *office) count(t *testing.T, school lyceum.SchoolID, state lyceum.EmailState) int64 {
	t.Helper()
	f := lyceum.EmailFilter{State: lyceum.Some(state)}
	all, err := o.emails.Queued(t.Context(), lyceum.By{School: school}, f, lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	return all.Total
}

// TestCouriersSendOnce checks that two couriers send every email of both schools exactly once.
func TestCouriersSendOnce(t *testing.T) {
	o := newOffice(t)
	_, stop := o.run(t)
	_, stopOther := o.run(t)
	const each = 50
	want := map[string]bool{}
	for _, school := range o.ids {
		var to []string
		for n := range each {
			to = append(to, fmt.Sprintf("user%d.%d@example.com", school, n))
			want[to[n]] = true
		}
		o.queue(t, school, to...)
	}
	for range len(want) {
		m := <-o.sent
		if !want[m.To] || m.ID == "" || m.Text == "" {
			t.Errorf("sent %+v", m)
		}
		delete(want, m.To)
	}
	stop()
	stopOther()
	for _, school := range o.ids {
		if sent := o.count(t, school, lyceum.EmailSent); sent != each {
			t.Errorf("%d are kept as sent", sent)
		}
	}
	if len(o.sent) != 0 {
		t.Error("sent again:", len(o.sent))
	}
}

// pausing is a store that calls pause before each read, to simulate a paused process.
type pausing struct {
	lyceum.Store

	pause func()
}

func (p *pausing) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	p.pause()
	return p.Store.In(ctx, school)
}

// TestAPausedCourierDoesNotSend checks that a courier that was paused for longer than its claim
// does not send an email that another courier has sent meanwhile.
func TestAPausedCourierDoesNotSend(t *testing.T) {
	o := newOffice(t)
	paused := make(chan struct{})
	others := o.emails
	pause := sync.OnceFunc(func() {
		o.clock.Pass(2 * lyceum.ClaimLifetime)
		claimed, err := others.Claim(t.Context(), o.ids[0], 10)
		if err != nil || len(claimed) != 1 {
			t.Errorf("another courier claims %d, %v", len(claimed), err)
		}
		for i := range claimed {
			if _, err := others.Report(t.Context(), &claimed[i], templates.Outcome{}); err != nil {
				t.Error(err)
			}
		}
		close(paused)
	})
	o.queue(t, o.ids[0], "mira@example.com")
	o.emails = templates.New(&pausing{o.store, pause}, o.clock.Now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{1}), Log: slog.New(slog.DiscardHandler), Send: o.send,
	})
	_, stop := o.run(t)
	<-paused
	stop()
	if sent := o.count(t, o.ids[0], lyceum.EmailSent); sent != 1 || len(o.sent) != 0 {
		t.Errorf("%d are kept as sent, and %d were sent after the pause", sent, len(o.sent))
	}
}

// TestACourierWithoutTheKeyLeavesLinks checks that a process that does not have the new key yet leaves
// emails with links that are encrypted with it to a process that has it.
func TestACourierWithoutTheKeyLeavesLinks(t *testing.T) {
	o := newOffice(t)
	school, queueing := o.ids[0], o.emails
	by := lyceum.Stamp{School: school, At: o.clock.Now(), Actor: "test"}
	err := o.store.Write(t.Context(), by, func(tx lyceum.Tx) error {
		return queueing.Queue(tx, templates.Outgoing{
			Name: templates.SetPassword, To: lyceum.Some("mira@example.com"), Values: templates.Values{"link": "https://a.example/1"},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := func() lyceum.QueuedEmail {
		all, err := queueing.Queued(t.Context(), lyceum.By{School: school}, lyceum.EmailFilter{}, lyceum.Page{Number: 1, Size: 1})
		if err != nil || len(all.Rows) != 1 {
			t.Fatal(all, err)
		}
		return all.Rows[0]
	}
	o.emails = templates.New(o.store, o.clock.Now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{2}), Log: slog.New(slog.DiscardHandler), Send: o.send,
	})
	c, stop := o.run(t)
	if !storetest.Await(func() bool { return waiting().NextAttemptAt.Value.After(o.clock.Now()) }) {
		t.Fatal("not: it is claimed")
	}
	stop()
	if e := waiting(); e.Tries != 0 || e.Problem.Present || c.Failed() != 0 {
		t.Errorf("%d attempts are kept, %d counted, and the problem is %q", e.Tries, c.Failed(), e.Problem.Value)
	}
	if log := o.log.String(); !strings.Contains(log, string(lyceum.SecretKey{1}.ID())) {
		t.Error("the log does not name the missing key:", log)
	}
	o.clock.Pass(lyceum.ClaimLifetime)
	o.emails = queueing
	_, stop = o.run(t)
	defer stop()
	if !storetest.Await(func() bool { return len(o.sent) == 1 }) {
		t.Error("not: the process with the key sends it")
	}
}

// TestCourierTriesAgain checks that emails that the mail server did not accept are retried,
// that those it will never accept are given up, and that the log contains no address.
func TestCourierTriesAgain(t *testing.T) {
	o := newOffice(t)
	school := o.ids[0]
	o.setError(errors.New("down"))
	c, stop := o.run(t)
	o.queue(t, school, "ana@example.com")
	if !storetest.Await(func() bool { return c.Failed() == 1 }) {
		t.Fatal("not: an attempt fails")
	}
	stop()
	if o.count(t, school, lyceum.EmailWaiting) != 1 {
		t.Error("it does not wait")
	}
	o.setError(nil)
	o.clock.Pass(10 * time.Second)
	c, stop = o.run(t)
	if m := <-o.sent; m.To != "ana@example.com" {
		t.Error(m)
	}
	o.setError(lyceum.Errorf(lyceum.Invalid, "no such mailbox"))
	o.queue(t, school, "nobody@example.com")
	if !storetest.Await(func() bool { return o.count(t, school, lyceum.EmailFailed) == 1 }) {
		t.Fatal("not: it is given up")
	}
	stop()
	if c.Sent() != 1 || c.Failed() != 1 {
		t.Error(c.Sent(), c.Failed())
	}
	if log := o.log.String(); !strings.Contains(log, "down") || !strings.Contains(log, "given up") || strings.Contains(log, "example.com") {
		t.Error("the log says:", log)
	}
}
