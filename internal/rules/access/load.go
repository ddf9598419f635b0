package access

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Load limits the responses in progress: how many expensive ones are built at a time, and the
// memory in bytes that all of them use, including what they are built from and what clients
// have not received yet. One school cannot use up the memory of the others, and large responses
// leave a quarter of it to small ones and to those already in progress.
type Load struct {
	limits   LoadLimits
	turns    *turns
	used     atomic.Int64
	shares   sync.Map // lyceum.SchoolID -> *atomic.Int64
	reported atomic.Int64
	waiting  atomic.Int64
	refused  atomic.Int64

	mu    sync.Mutex
	freed chan struct{} // closed when memory was released while somebody waits
}

// LoadLimits are the limits of a Load. Process and School are in bytes.
type LoadLimits struct {
	Process, School int64
	// Turns is how many expensive responses are built at a time; 0 means one per processor, and
	// at least 2. A school gets half of them.
	Turns int
	// Wait is how long a response waits for its turn and for memory; 0 means 5 seconds.
	Wait time.Duration
	// Resized is called when the bytes in use have changed by loadStep; it may be nil.
	Resized func(bytes int64)
}

const (
	// SmallResponse is the size in bytes up to which a response may use all of the memory.
	SmallResponse = 64 << 10
	// loadStep is the change in bytes after which Resized is called.
	loadStep = 16 << 20
)

// The default limits of a Load, in bytes.
const (
	UsualLoad       = 128 << 20
	UsualSchoolLoad = 48 << 20
)

// NewLoad returns an empty Load.
func NewLoad(limits LoadLimits) *Load {
	if limits.Wait == 0 {
		limits.Wait = 5 * time.Second
	}
	if limits.Turns == 0 {
		limits.Turns = usualTurns()
	}
	return &Load{limits: limits, turns: newTurns(limits.Turns), freed: make(chan struct{})}
}

// Bytes returns the memory used by all responses in progress.
func (l *Load) Bytes() int64 { return l.used.Load() }

// Refused returns how many responses were rejected for lack of memory or because their turn did
// not come.
func (l *Load) Refused() int64 { return l.refused.Load() }

// Making returns how many expensive responses are being built.
func (l *Load) Making() int64 { making, _ := l.turns.count(); return int64(making) }

// Waiting returns how many responses wait for their turn.
func (l *Load) Waiting() int64 { _, waiting := l.turns.count(); return int64(waiting) }

// Claim is one response's share of the load. It belongs to one goroutine.
type Claim struct {
	load   *Load
	school lyceum.SchoolID
	share  *atomic.Int64
	held   int64
	turn   bool
	over   time.Time // when waiting ends; zero before it starts
}

// Begin starts the response to a caller of a school; 0 is for callers without a school.
func (l *Load) Begin(school lyceum.SchoolID) Claim {
	share, ok := l.shares.Load(school)
	if !ok {
		share, _ = l.shares.LoadOrStore(school, new(atomic.Int64))
	}
	return Claim{load: l, school: school, share: share.(*atomic.Int64)}
}

// Held returns how many bytes the response holds.
func (c *Claim) Held() int64 { return c.held }

// Hold reserves memory so that the response holds the given number of bytes. If there is not
// enough, it waits; when the wait times out it fails with Unavailable, and the response holds
// what it held before.
func (c *Claim) Hold(ctx context.Context, bytes int64) error {
	if c.Try(bytes) {
		return nil
	}
	l, more := c.load, bytes-c.held
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	timer := c.timer()
	defer timer.Stop()
	for {
		freed := l.changed() // before trying, so that what is released afterwards is not missed
		short, ok := c.take(more)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-timer.C:
			l.refused.Add(1)
			short.Wanted = bytes
			return &short
		case <-ctx.Done():
			return ErrNoRoom
		}
	}
}

// timer returns a timer that fires when the response has waited long enough.
func (c *Claim) timer() *time.Timer {
	if c.over.IsZero() {
		c.over = time.Now().Add(c.load.limits.Wait)
	}
	return time.NewTimer(time.Until(c.over))
}

// TryTurn is Turn without waiting. It reports whether the response has a turn.
func (c *Claim) TryTurn() bool {
	if !c.turn {
		_, c.turn = c.load.turns.request(c.school, false)
	}
	return c.turn
}

// Turn waits for the turn to build an expensive response, and fails with Unavailable when the
// wait times out. The response may have a turn already.
func (c *Claim) Turn(ctx context.Context) error {
	if c.turn {
		return nil
	}
	mine, taken := c.load.turns.request(c.school, true)
	if taken {
		c.turn = true
		return nil
	}
	timer := c.timer()
	defer timer.Stop()
	select {
	case <-mine:
		c.turn = true
		return nil
	case <-timer.C:
		c.load.refused.Add(1)
	case <-ctx.Done():
	}
	c.load.turns.leave(c.school, mine)
	return ErrNoRoom
}

// EndTurn gives up the response's turn, if it has one, so that another can start.
func (c *Claim) EndTurn() {
	if c.turn {
		c.turn = false
		c.load.turns.end(c.school)
	}
}

// Pause is EndTurn for a response that will need another turn later, and may wait for it as
// long as for the first.
func (c *Claim) Pause() {
	c.EndTurn()
	c.over = time.Time{}
}

// ErrNoRoom is the error for a response that timed out waiting for its turn or for memory.
var ErrNoRoom = lyceum.Errorf(lyceum.Unavailable, "too many large answers are in progress; try again with fewer "+
	"concurrent requests or a smaller page")

// RoomError is ErrNoRoom for a response that found no memory, with details for the log.
type RoomError struct {
	School   lyceum.SchoolID
	Wanted   int64 // bytes, of the whole response
	Bound    int64 // bytes that it would have shared with the other responses
	OfSchool bool  // the bound is that of the school, not of the process
}

// Error implements error.
func (*RoomError) Error() string { return ErrNoRoom.Error() }

// Unwrap returns the error that the caller sees.
func (*RoomError) Unwrap() error { return ErrNoRoom }

// Try is Hold without waiting. It reports whether the response holds that many bytes.
func (c *Claim) Try(bytes int64) bool {
	if bytes > c.held {
		_, ok := c.take(bytes - c.held)
		return ok
	}
	c.Set(bytes)
	return true
}

// take reserves more memory, or returns the limit that prevents it.
func (c *Claim) take(more int64) (short RoomError, ok bool) {
	process, school := c.load.limits.Process, c.load.limits.School
	if c.held == 0 && more > SmallResponse {
		process, school = process-process/4, school-school/4
	}
	if !reserve(c.share, more, school) {
		return RoomError{School: c.school, Bound: school, OfSchool: true}, false
	}
	if !reserve(&c.load.used, more, process) {
		c.share.Add(-more)
		return RoomError{School: c.school, Bound: process}, false
	}
	c.held += more
	c.load.report()
	return RoomError{}, true
}

func reserve(used *atomic.Int64, more, most int64) bool {
	for {
		now := used.Load()
		if now+more > most {
			return false
		}
		if used.CompareAndSwap(now, now+more) {
			return true
		}
	}
}

// Set makes the response hold that many bytes, even beyond the limits.
func (c *Claim) Set(bytes int64) {
	change := bytes - c.held
	if change == 0 {
		return
	}
	c.held = bytes
	c.share.Add(change)
	c.load.used.Add(change)
	if change < 0 {
		c.load.wake()
	}
	c.load.report()
}

// End releases the response's memory and its turn.
func (c *Claim) End() {
	if c.load != nil {
		c.EndTurn()
		c.Set(0)
	}
}

// wake makes all responses that wait for memory try again.
func (l *Load) wake() {
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.freed)
	l.freed = make(chan struct{})
}

func (l *Load) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freed
}

// report calls Resized if enough has changed since the last call.
func (l *Load) report() {
	if l.limits.Resized == nil {
		return
	}
	now, reported := l.used.Load(), l.reported.Load()
	if (now-reported >= loadStep || reported-now >= loadStep) && l.reported.CompareAndSwap(reported, now) {
		l.limits.Resized(now)
	}
}
