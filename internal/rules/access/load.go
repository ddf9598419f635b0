package access

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Load bounds the answers under way: how many expensive ones are made at once,
// and the memory of all in bytes, of what they are made of and of what clients
// have not taken yet. One school cannot use up the room of the
// others, and large answers leave a quarter of the room to small ones and to
// those that have begun.
type Load struct {
	limits  LoadLimits
	turns   *turns
	used    atomic.Int64
	shares  sync.Map // lyceum.SchoolID -> *atomic.Int64
	told    atomic.Int64
	waiting atomic.Int64
	refused atomic.Int64

	mu    sync.Mutex
	freed chan struct{} // closed when room was given back while somebody waits
}

// LoadLimits are the bounds of a Load, in bytes.
type LoadLimits struct {
	Process, School int64
	// Turns is how many expensive answers are made at once; one for each
	// processor, and at least 2, when it is left out. A school has half of them.
	Turns int
	// Wait is how long an answer waits for its turn and for room; 5 seconds when
	// it is left out.
	Wait time.Duration
	// Resized is told when the bytes under way have changed by loadStep; it may
	// be nil.
	Resized func(bytes int64)
}

const (
	// SmallAnswer is the size in bytes up to which an answer may use all room.
	SmallAnswer = 64 << 10
	// loadStep is the change in bytes that Resized is told of.
	loadStep = 16 << 20
)

// The usual limits of a Load, in bytes.
const (
	UsualLoad       = 128 << 20
	UsualSchoolLoad = 48 << 20
)

// NewLoad makes an empty Load.
func NewLoad(limits LoadLimits) *Load {
	if limits.Wait == 0 {
		limits.Wait = 5 * time.Second
	}
	if limits.Turns == 0 {
		limits.Turns = usualTurns()
	}
	return &Load{limits: limits, turns: newTurns(limits.Turns), freed: make(chan struct{})}
}

// Bytes are those of all answers under way.
func (l *Load) Bytes() int64 { return l.used.Load() }

// Refused counts the answers that found no room.
func (l *Load) Refused() int64 { return l.refused.Load() }

// Making are the expensive answers that are being made.
func (l *Load) Making() int64 { making, _ := l.turns.count(); return int64(making) }

// Waiting are the answers that wait for their turn.
func (l *Load) Waiting() int64 { _, waiting := l.turns.count(); return int64(waiting) }

// Claim is the memory of one answer. It belongs to one goroutine.
type Claim struct {
	load   *Load
	school lyceum.SchoolID
	share  *atomic.Int64
	held   int64
	turn   bool
	over   time.Time // when waiting ends; zero before it began
}

// Begin begins the answer to a caller of a school; 0 are those of none.
func (l *Load) Begin(school lyceum.SchoolID) Claim {
	share, ok := l.shares.Load(school)
	if !ok {
		share, _ = l.shares.LoadOrStore(school, new(atomic.Int64))
	}
	return Claim{load: l, school: school, share: share.(*atomic.Int64)}
}

// Held is how many bytes the answer holds.
func (c *Claim) Held() int64 { return c.held }

// Hold makes the answer hold so many bytes. When there is no room for more it
// waits for it, and after a while it fails with Unavailable and holds what it
// held before.
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
		freed := l.changed() // before trying: what is given back later is not missed
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

// timer ends the waiting of an answer.
func (c *Claim) timer() *time.Timer {
	if c.over.IsZero() {
		c.over = time.Now().Add(c.load.limits.Wait)
	}
	return time.NewTimer(time.Until(c.over))
}

// TryTurn is Turn without waiting. It tells whether the answer has a turn.
func (c *Claim) TryTurn() bool {
	if !c.turn {
		_, c.turn = c.load.turns.ask(c.school, false)
	}
	return c.turn
}

// Turn waits until it is the turn of an expensive answer to be made, and after
// a while it fails with Unavailable. The answer may have a turn already.
func (c *Claim) Turn(ctx context.Context) error {
	if c.turn {
		return nil
	}
	mine, taken := c.load.turns.ask(c.school, true)
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

// EndTurn lets others have the turn of the answer, if it has one.
func (c *Claim) EndTurn() {
	if c.turn {
		c.turn = false
		c.load.turns.end(c.school)
	}
}

// Pause is EndTurn for an answer that will want another turn later, and may wait
// for that as long as for the first.
func (c *Claim) Pause() {
	c.EndTurn()
	c.over = time.Time{}
}

// ErrNoRoom refuses an answer that waited in vain for its turn or for room.
var ErrNoRoom = lyceum.Errorf(lyceum.Unavailable, "too many large answers are in progress; try again with fewer "+
	"concurrent requests or a smaller page")

// RoomError is ErrNoRoom for an answer that found no room, with what the log
// says of it.
type RoomError struct {
	School   lyceum.SchoolID
	Wanted   int64 // bytes, of all of the answer that was made
	Bound    int64 // bytes that were to be shared with the other answers
	OfSchool bool  // the bound is the school's, not that of the process
}

// Error implements error.
func (*RoomError) Error() string { return ErrNoRoom.Error() }

// Unwrap returns what the caller is told.
func (*RoomError) Unwrap() error { return ErrNoRoom }

// Try is Hold without waiting. It tells whether the answer holds so many bytes.
func (c *Claim) Try(bytes int64) bool {
	if bytes > c.held {
		_, ok := c.take(bytes - c.held)
		return ok
	}
	c.Set(bytes)
	return true
}

// take holds more, or returns the bound that leaves no room for it.
func (c *Claim) take(more int64) (short RoomError, ok bool) {
	process, school := c.load.limits.Process, c.load.limits.School
	if c.held == 0 && more > SmallAnswer {
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
	c.load.tell()
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

// Set makes the answer hold so many bytes, whether there is room or not.
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
	c.load.tell()
}

// End gives back what the answer holds, and its turn.
func (c *Claim) End() {
	if c.load != nil {
		c.EndTurn()
		c.Set(0)
	}
}

// wake lets those who wait for room look again.
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

// tell tells Resized when enough has changed since the last time.
func (l *Load) tell() {
	if l.limits.Resized == nil {
		return
	}
	now, told := l.used.Load(), l.told.Load()
	if (now-told >= loadStep || told-now >= loadStep) && l.told.CompareAndSwap(told, now) {
		l.limits.Resized(now)
	}
}
