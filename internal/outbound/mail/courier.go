package mail

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/claims"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

const (
	// mostSending is how many emails are handed to the mail server concurrently.
	mostSending = 16
	// pollPause is the maximum time until an email of another process, or a due attempt, is
	// noticed.
	pollPause = 500 * time.Millisecond
	// graceTime is how long emails being sent may take to finish when the courier stops.
	graceTime = 5 * time.Second
)

// Courier sends the waiting emails of all schools. Any number of processes can each run one on
// the same database.
type Courier struct {
	Emails *templates.Service
	Send   templates.Send
	// Changed returns a channel that is closed when something has changed in any school.
	Changed func() <-chan struct{}
	Log     *slog.Logger

	sent, failed atomic.Int64 // attempts

	room  chan struct{} // has an element for each email being sent
	freed chan struct{}
	turn  int // rotates the school that comes first
	noted map[string]time.Time
	mu    sync.Mutex
	work  sync.WaitGroup

	claims claims.Claims[emailKey, templates.Claimed]
}

type (
	email    = claims.Claim[templates.Claimed]
	emailKey struct {
		school lyceum.SchoolID
		id     lyceum.EmailID
	}
)

// Sent returns how many attempts the mail server accepted.
func (c *Courier) Sent() int64 { return c.sent.Load() }

// Failed returns how many attempts the mail server did not accept.
func (c *Courier) Failed() int64 { return c.failed.Load() }

// Run sends until ctx ends, and then lets emails that are being sent finish.
func (c *Courier) Run(ctx context.Context) {
	c.room, c.freed = make(chan struct{}, mostSending), make(chan struct{}, 1)
	sends, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.claims.Renew = c.Emails.Renew
	c.claims.Note = func(ctx context.Context, err error) { c.note(ctx, "renew claims of emails", err) }
	var keeping sync.WaitGroup
	keeping.Go(func() { c.claims.Keep(sends) })
	defer func() { stop(); keeping.Wait() }()
	for ctx.Err() == nil {
		changed := c.Changed() // before looking, so that no later change is missed
		c.round(ctx, sends)
		select {
		case <-changed:
		case <-c.freed:
		case <-time.After(pollPause):
		case <-ctx.Done():
		}
	}
	done := make(chan struct{})
	go func() { c.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(graceTime):
		stop()
		<-done
	}
}

// round starts to send due emails, from each school in turn up to its share of the free slots.
func (c *Courier) round(ctx, sends context.Context) {
	if len(c.room) == mostSending {
		return
	}
	schools, err := c.Emails.Due(ctx)
	c.note(ctx, "look for emails", err)
	c.turn++
	for i := range schools {
		left := mostSending - len(c.room)
		if left == 0 {
			return
		}
		part := max(1, left/(len(schools)-i))
		claimed, err := c.Emails.Claim(ctx, schools[(c.turn+i)%len(schools)], part)
		c.note(ctx, "claim emails", err)
		for _, one := range claimed {
			e := c.claims.Hold(emailKey{one.School, one.ID}, one)
			if e == nil {
				continue
			}
			c.room <- struct{}{} // does not block: nobody else fills it
			c.work.Go(func() {
				defer c.end()
				c.deliver(sends, e)
			})
		}
	}
}

func (c *Courier) end() {
	<-c.room
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// deliver renders an email, hands it to the mail server, and saves the outcome.
func (c *Courier) deliver(ctx context.Context, e *email) {
	e.Lock()
	claimed := e.Value
	e.Unlock()
	defer c.claims.Done(emailKey{claimed.School, claimed.ID})
	o, tried := c.attempt(ctx, e, &claimed)
	if !tried || o.Problem != "" && ctx.Err() != nil {
		return // it becomes due again when its claim expires
	}
	e.Lock()
	defer e.Unlock()
	failed, err := c.Emails.Report(ctx, &e.Value, o)
	c.note(ctx, "save what became of an email", err)
	if failed {
		c.Log.WarnContext(ctx, "an email was given up", "school", claimed.School, "email", claimed.ID, "problem", o.Problem)
	}
}

// attempt renders an email and hands it to the mail server, unless this process cannot render it now
// or its claim was not renewed in time.
func (c *Courier) attempt(ctx context.Context, e *email, claimed *templates.Claimed) (o templates.Outcome, tried bool) {
	m, canceled, err := c.Emails.Make(ctx, claimed)
	if canceled != "" {
		return templates.Outcome{Canceled: canceled}, true
	}
	if lyceum.KindOf(err) == lyceum.Unavailable { // another process may have the secret key that this one lacks
		c.note(ctx, "make an email", err)
		return templates.Outcome{}, false
	}
	if err != nil {
		c.failed.Add(1)
		c.note(ctx, "make an email", err)
		return templates.Outcome{Problem: "the email could not be made; the server's log has the details"}, true
	}
	e.Lock()
	held := c.Emails.Holds(&e.Value)
	e.Unlock()
	if !held {
		return templates.Outcome{}, false
	}
	if err := c.Send(ctx, m); err != nil {
		c.failed.Add(1)
		c.note(ctx, "send an email", err)
		if lyceum.KindOf(err) == lyceum.Invalid {
			return templates.Outcome{Problem: "the mail server does not know the address", ForGood: true}, true
		}
		return templates.Outcome{Problem: "the mail server did not take the email; the server's log has the details"}, true
	}
	c.sent.Add(1)
	return templates.Outcome{}, true
}

// maxNoted is how many logged errors are remembered.
const maxNoted = 1000

// note logs an error, the same one at most once a minute. The failed operation is done again
// later.
func (c *Courier) note(ctx context.Context, what string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	trouble := what + ": " + err.Error()
	c.mu.Lock()
	last, before := c.noted[trouble]
	again := before && time.Since(last) < time.Minute
	if !again {
		if c.noted == nil || len(c.noted) >= maxNoted {
			c.noted = map[string]time.Time{}
		}
		c.noted[trouble] = time.Now()
	}
	c.mu.Unlock()
	if !again {
		c.Log.WarnContext(ctx, "emails are delayed", "could not", what, "err", err)
	}
}
