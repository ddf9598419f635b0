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
	"github.com/lyceum-school/lyceum/internal/rules/claims"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

const (
	// perWebhook is how many messages are sent to one webhook concurrently. A slow webhook does
	// not delay any other.
	perWebhook = 32
	// ahead is how many more messages are claimed ahead while the webhook responds quickly.
	ahead = 3 * perWebhook
	// quick is the maximum time a message may take for more to be claimed ahead.
	quick = 100 * time.Millisecond
	// mostSending is how many messages are being sent or waiting in total.
	mostSending = 2048
	// pollPause is the maximum time until an event of another process, or a due attempt, is
	// noticed.
	pollPause = 500 * time.Millisecond
	// gatherPause is how long an event waits for others.
	gatherPause = 10 * time.Millisecond
	// graceTime is how long messages being sent may take to finish when the courier stops.
	graceTime = 5 * time.Second
)

// Courier turns the events of all schools into deliveries and delivers them. Any number of
// processes can each run one on the same database.
type Courier struct {
	Events *events.Service
	Sender *Sender
	// Changed returns a channel that is closed when something has changed in any school.
	Changed func() <-chan struct{}
	Log     *slog.Logger
	Traces  *access.Traces // records webhooks with forbidden targets; nil: not recorded

	delivered, failed atomic.Int64 // attempts

	turn sync.RWMutex // held while looking for what to send

	mu     sync.Mutex
	lines  map[lyceum.DueWebhook]*line
	total  int
	wake   chan struct{}
	noted  map[string]time.Time
	work   sync.WaitGroup
	claims claims.Claims[parcelKey, events.Parcel]
}

// line is the queue of one webhook.
type line struct {
	sending int
	waiting []*parcel
	quick   bool // its last response was quick
}

type (
	parcel    = claims.Claim[events.Parcel]
	parcelKey struct {
		school lyceum.SchoolID
		id     lyceum.WebhookEventID
	}
)

// Delivered returns how many attempts got a 2xx response.
func (c *Courier) Delivered() int64 { return c.delivered.Load() }

// Failed returns how many attempts did not get a 2xx response.
func (c *Courier) Failed() int64 { return c.failed.Load() }

// Run delivers until ctx ends, and then lets messages that are being sent finish.
func (c *Courier) Run(ctx context.Context) {
	c.begin()
	sends, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeping, dispatching sync.WaitGroup
	keeping.Go(func() { c.claims.Keep(sends) })
	defer func() { stop(); keeping.Wait() }()
	dispatching.Go(func() { c.dispatchAll(ctx) })
	for ctx.Err() == nil {
		c.turn.RLock()
		c.claim(ctx, sends)
		c.turn.RUnlock()
		select {
		case <-c.wake:
		case <-time.After(pollPause):
		case <-ctx.Done():
		}
	}
	dispatching.Wait()
	done := make(chan struct{})
	go func() { c.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(graceTime):
		stop()
		<-done
	}
}

// dispatchAll dispatches events until ctx ends.
func (c *Courier) dispatchAll(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.Changed() // before looking, so that no later change is missed
		c.turn.RLock()
		more := c.dispatch(ctx)
		c.turn.RUnlock()
		if more {
			continue
		}
		select {
		case <-changed:
			// Events that happen at about the same time are dispatched together.
			time.Sleep(gatherPause)
		case <-time.After(pollPause):
		case <-ctx.Done():
		}
	}
}

func (c *Courier) begin() {
	c.lines, c.wake = map[lyceum.DueWebhook]*line{}, make(chan struct{}, 1)
	c.claims.Renew = c.Events.Renew
	c.claims.Note = func(ctx context.Context, err error) { c.note(ctx, "renew claims of deliveries", err) }
}

// dispatch dispatches the events that have happened, and reports whether there are more.
func (c *Courier) dispatch(ctx context.Context) (more bool) {
	schools, err := c.Events.Undispatched(ctx)
	c.note(ctx, "look for events", err)
	for _, school := range schools {
		again, err := c.Events.Dispatch(ctx, school)
		c.note(ctx, "dispatch events", err)
		more = more || again && err == nil
		c.awake()
	}
	return more
}

// claim starts to send what is due, as far as the limits allow.
func (c *Courier) claim(ctx, sends context.Context) {
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
			key := parcelKey{parcels[i].School, parcels[i].ID}
			if p := c.claims.Hold(key, parcels[i]); p != nil {
				c.take(ctx, sends, hook, p)
			}
		}
	}
}

// awake makes the courier look for what is due.
func (c *Courier) awake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// note logs an error. The failed operation is done again later: nothing is lost, because all
// state is in the database. The same error is logged at most once a minute.
func (c *Courier) note(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && c.worthNoting(what+": "+err.Error()) {
		c.Log.WarnContext(ctx, "webhooks are delayed", "could not", what, "err", err)
	}
}

// maxNoted is how many logged errors are remembered.
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

// room returns how many deliveries can be claimed for a webhook now. If more are claimed ahead,
// they are claimed in large batches.
func (c *Courier) room(hook lyceum.DueWebhook) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[hook]
	if l == nil {
		return max(0, min(perWebhook, mostSending-c.total))
	}
	room := perWebhook - l.sending - len(l.waiting)
	if l.quick {
		if room += ahead; room < perWebhook {
			return 0
		}
	}
	return max(0, min(room, mostSending-c.total))
}

// Rest waits for messages that are being sent, and sends nothing until resume is called.
func (c *Courier) Rest() (resume func()) {
	c.turn.Lock()
	c.work.Wait()
	return c.turn.Unlock
}

// take sends a parcel, or queues it until another one to the same webhook has been sent.
func (c *Courier) take(ctx, sends context.Context, hook lyceum.DueWebhook, p *parcel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	l := c.lines[hook]
	if l == nil {
		l = &line{}
		c.lines[hook] = l
	}
	if l.sending == perWebhook {
		l.waiting = append(l.waiting, p)
		return
	}
	l.sending++
	c.work.Go(func() {
		for p != nil {
			begin := time.Now()
			c.deliver(ctx, sends, p)
			p = c.next(hook, time.Since(begin))
		}
	})
}

// deliver sends a parcel and saves the outcome. If it does not, the parcel becomes due again
// when its claim expires: a courier that stops leaves queued parcels to others, and so does one
// that did not renew its claim in time.
func (c *Courier) deliver(ctx, sends context.Context, p *parcel) {
	p.Lock()
	sent := p.Value
	p.Unlock()
	defer c.claims.Done(parcelKey{sent.School, sent.ID})
	if ctx.Err() != nil || !c.Events.Holds(&sent) {
		return
	}
	o := c.send(sends, c.Sender, &sent, time.Now())
	if sends.Err() != nil {
		return
	}
	if o.Delivered {
		c.delivered.Add(1)
	} else {
		c.failed.Add(1)
	}
	p.Lock()
	defer p.Unlock()
	c.note(sends, "save the outcome of a delivery", c.Events.Report(sends, &p.Value, o))
}

// next records that a message to a webhook has been sent, and how long that took. It returns
// the next one in the queue, if there is one.
func (c *Courier) next(hook lyceum.DueWebhook, took time.Duration) *parcel {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[hook]
	c.total--
	l.quick = took <= quick
	if len(l.waiting) <= perWebhook {
		c.awake()
	}
	if len(l.waiting) > 0 {
		p := l.waiting[0]
		l.waiting = l.waiting[1:]
		return p
	}
	if l.sending--; l.sending == 0 {
		delete(c.lines, hook)
	}
	return nil
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

// lines formats headers as sorted lines.
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
