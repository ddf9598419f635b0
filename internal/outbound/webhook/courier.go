package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

const (
	// perWebhook is how many messages are on their way to one webhook at a time:
	// one that is slow delays no other.
	perWebhook = 32
	// mostSending is how many messages are on their way in all.
	mostSending = 2048
	// pollPause is how long an event of another process, or an attempt that is
	// due, waits to be seen at most.
	pollPause = 500 * time.Millisecond
	// gatherPause is how long an event waits for others.
	gatherPause = 10 * time.Millisecond
	// graceTime is what messages under way are given when the courier stops.
	graceTime = 5 * time.Second
)

// Courier turns the events of all schools into deliveries and delivers them.
// Any number of processes may run one on the same database.
type Courier struct {
	Events *events.Service
	Sender *Sender
	// Changed tells when something has changed in any school.
	Changed func() <-chan struct{}
	Log     *slog.Logger
	Traces  *access.Traces // hears of webhooks that lead to where nothing may be sent; nil for nobody

	delivered, failed atomic.Int64 // attempts

	turn sync.Mutex // held while looking for what is to be sent

	mu      sync.Mutex
	sending map[lyceum.DueWebhook]int
	total   int
	freed   chan struct{}
	noted   map[string]time.Time
	work    sync.WaitGroup
}

// Delivered and Failed give how many attempts were answered with 2xx, and how
// many were not.
func (c *Courier) Delivered() int64 { return c.delivered.Load() }

// Failed is described at Delivered.
func (c *Courier) Failed() int64 { return c.failed.Load() }

// Run delivers until the context ends, and then lets what is under way finish.
func (c *Courier) Run(ctx context.Context) {
	c.sending, c.freed = map[lyceum.DueWebhook]int{}, make(chan struct{}, 1)
	sends, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for ctx.Err() == nil {
		changed := c.Changed() // before looking: what comes after is not missed
		c.turn.Lock()
		more := c.round(ctx, sends)
		c.turn.Unlock()
		if more {
			continue
		}
		select {
		case <-changed:
			// What happens at the same time is dispatched together.
			time.Sleep(gatherPause)
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

// round dispatches what has happened and sends what is due, and tells whether
// there is more to do at once.
func (c *Courier) round(ctx, sends context.Context) (more bool) {
	schools, err := c.Events.Undispatched(ctx)
	c.note(ctx, "look for events", err)
	for _, school := range schools {
		again, err := c.Events.Dispatch(ctx, school)
		c.note(ctx, "dispatch events", err)
		more = more || again && err == nil
	}
	due, err := c.Events.Due(ctx)
	c.note(ctx, "look for deliveries", err)
	for _, hook := range due {
		room := c.room(hook)
		if room == 0 {
			continue
		}
		parcels, err := c.Events.Claim(ctx, hook, room)
		c.note(ctx, "claim deliveries", err)
		for i := range parcels {
			c.begin(sends, hook, &parcels[i])
		}
	}
	return more
}

// note logs what went wrong. What could not be done is done later: nothing is
// lost, because nothing but the database remembers. The same trouble is logged
// once a minute.
func (c *Courier) note(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && c.worthNoting(what+": "+err.Error()) {
		c.Log.WarnContext(ctx, "webhooks are delayed", "could not", what, "err", err)
	}
}

// maxNoted bounds the troubles that are remembered as logged.
const maxNoted = 1000

func (c *Courier) worthNoting(trouble string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, before := c.noted[trouble]; before && time.Since(last) < time.Minute {
		return false
	}
	if c.noted == nil || len(c.noted) >= maxNoted {
		c.noted = map[string]time.Time{}
	}
	c.noted[trouble] = time.Now()
	return true
}

// room gives how many messages may be begun to a webhook now.
func (c *Courier) room(hook lyceum.DueWebhook) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, min(perWebhook-c.sending[hook], mostSending-c.total))
}

// Rest lets what is under way finish, and sends nothing until resume is called.
func (c *Courier) Rest() (resume func()) {
	c.turn.Lock()
	c.work.Wait()
	return c.turn.Unlock
}

func (c *Courier) begin(ctx context.Context, hook lyceum.DueWebhook, p *events.Parcel) {
	c.mu.Lock()
	c.sending[hook]++
	c.total++
	c.mu.Unlock()
	c.work.Go(func() {
		defer c.end(hook)
		o := c.send(ctx, c.Sender, p, time.Now())
		if ctx.Err() != nil {
			return // it is due again when its lease is over
		}
		if o.Delivered {
			c.delivered.Add(1)
		} else {
			c.failed.Add(1)
		}
		c.note(ctx, "save the outcome of a delivery", c.Events.Report(ctx, p, o))
	})
}

func (c *Courier) end(hook lyceum.DueWebhook) {
	c.mu.Lock()
	c.total--
	if c.sending[hook]--; c.sending[hook] == 0 {
		delete(c.sending, hook)
	}
	c.mu.Unlock()
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

func (c *Courier) send(ctx context.Context, by *Sender, p *events.Parcel, at time.Time) events.Outcome {
	o := by.Send(ctx, Message{
		URL: p.Webhook.URL, ID: events.MessageID(p.School, p.ID), At: at,
		Body: p.Body, Secrets: p.Secrets,
	})
	if o.Refused && c.Traces != nil {
		c.Traces.Add(ctx, access.Trace{Kind: access.TargetRefused, School: p.School, Object: int32(p.Webhook.ID)})
	}
	return events.Outcome{
		Delivered: o.Delivered, Status: o.Status, Problem: o.Problem, RetryAfter: o.RetryAfter, Took: o.Took,
		RequestHeader: lines(o.RequestHeader), ResponseHeader: lines(o.ResponseHeader), ResponseBody: string(o.ResponseBody),
	}
}

// lines writes headers one a line, in one order.
func lines(h http.Header) string {
	var all []string
	for name, values := range h {
		for _, value := range values {
			all = append(all, name+": "+value)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
