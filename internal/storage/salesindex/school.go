package salesindex

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// state is the state of the journal up to which an index has read it. It is kept with the index,
// because the database may be replaced by another one in which every number is the same.
type state struct {
	born   time.Time // when the school was created
	origin string    // of the journal
	last   lyceum.Entry
}

// follows reports whether a journal that was read after the last entry is the one that was read
// before. The details of an entry are ignored, because they may have been erased with a user.
func (s *state) follows(origin string, last lyceum.Entry) bool {
	at := s.last.At.Equal(last.At)
	last.At, last.Detail = s.last.At, s.last.Detail
	return at && origin == s.origin && last == s.last
}

// school is the index of one school, if it has one.
type school struct {
	id        lyceum.SchoolID
	ready     atomic.Pointer[Index] // serves lists; nil if the underlying store does
	lastQuery atomic.Int64          // when it was last queried, in Unix nanoseconds

	building atomic.Pointer[chan struct{}] // closed when the build has ended; nil if none is in progress
	later    atomic.Int64                  // time before which nothing is built, in Unix nanoseconds
	bytes    atomic.Int64
	reached  atomic.Int64 // number of the last entry that a serving index has processed
	behind   atomic.Int64 // number of journal entries not processed yet

	wanted atomic.Int64 // number of changes that the index should include
	saving sync.Mutex   // for the snapshot

	mu    sync.Mutex // for the fields below
	index *Index     // follows the journal; nil if there is none
	state state      // of the index
	known int64      // value of wanted up to which the index includes changes
	saved int64      // number of the last entry in the snapshot
	tried int64      // number of the last entry for which a snapshot was begun

	needs int64 // size of the last index in bytes, or 0; only used by the goroutine that builds
}

const (
	// laterPause is how long a school waits for the next attempt if its index could not be built.
	laterPause = time.Minute
	// refusedPause is how long it waits if only another setting or other sales would change that.
	refusedPause = time.Hour
	// idlePause is how long a school must not have been queried before its index can be evicted
	// for another one.
	idlePause = time.Minute
	// bytesPerSale is the estimated size of an index before it is built.
	bytesPerSale = 85
	// followSize is how many journal entries are read at a time.
	followSize = 2000
)

// maxBacklog is how many changes an index catches up with; after more it is rebuilt.
var maxBacklog = 200_000

// begin starts building the index of a school, unless it is being built or has to wait.
func (s *Store) begin(k *school) {
	if s.claim(k) {
		s.work.Go(func() { s.run(k) })
	}
}

// claim reports whether the caller is the one to build an index.
func (s *Store) claim(k *school) bool {
	ends := make(chan struct{})
	return s.Memory > 0 && time.Now().UnixNano() >= k.later.Load() && s.ctx.Err() == nil &&
		k.building.CompareAndSwap(nil, &ends)
}

func (s *Store) run(k *school) {
	defer k.building.Store(nil)
	begun := time.Now()
	err := s.made(k)
	close(*k.building.Load())
	if err == nil {
		s.saveIfMuch(k)
		s.Log.InfoContext(s.ctx, "sales index ready", "school", k.id, "mb", k.bytes.Load()>>20, "took",
			time.Since(begun).Round(time.Millisecond).String())
		return
	}
	pause := laterPause
	if r, is := errors.AsType[*refusal](err); is && r.lasting {
		pause = refusedPause
	}
	k.later.Store(time.Now().Add(pause).UnixNano())
	if s.ctx.Err() == nil {
		s.failed.Add(1)
		s.Log.WarnContext(s.ctx, "no sales index: the database answers the list", "school", k.id, "err", err)
	}
}

// refusal is the reason why a healthy school has no index.
type refusal struct {
	why     string
	lasting bool // retrying soon is pointless
}

func (r *refusal) Error() string { return r.why }

// Prepare builds the index of a school before anyone queries it. The error says why it cannot
// serve.
func (s *Store) Prepare(id lyceum.SchoolID) error {
	if s.Memory <= 0 {
		return errors.New("indexes may take no memory")
	}
	return s.made(s.of(id))
}

// made ensures that a school has an index that serves.
func (s *Store) made(k *school) error {
	s.build.Lock() // one at a time, because each uses all processors
	defer s.build.Unlock()
	k.mu.Lock()
	there := k.index != nil
	k.mu.Unlock()
	var made loaded
	if !there {
		if err := s.room(k); err != nil {
			return err
		}
		var err error
		if made, err = s.load(k.id); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !there {
		k.index, k.state, k.saved, k.tried = made.index, made.state, made.saved, made.saved
	} else if k.index == nil {
		return errNoIndex
	}
	k.needs = k.index.Bytes()
	k.bytes.Store(k.needs)
	if taken := s.taken(); !there && taken > s.Memory { // ids that are far apart take more than estimated
		s.drop(k)
		return &refusal{fmt.Sprintf("it takes %d MB, and with it all indexes would take %d MB of the %d MB they may",
			megabytes(k.needs), megabytes(taken), megabytes(s.Memory)), k.needs > s.Memory}
	}
	s.Resized(s.taken())
	return s.advance(k, s.finder(k))
}

var errNoIndex = errors.New("the index was evicted while it was being built")

// unsaved is the entry number of a missing snapshot.
const unsaved = -1

// loaded is an index as of a state of its journal, or later.
type loaded struct {
	index *Index
	state state
	saved int64 // number of the last entry in its snapshot
}

// load returns the index of a school, either from its snapshot or built from the underlying
// store.
func (s *Store) load(id lyceum.SchoolID) (loaded, error) {
	x, kept, err := s.snapshot(id)
	if err == nil {
		return loaded{x, kept, kept.last.Number}, nil
	}
	if s.Folder != "" {
		s.Log.InfoContext(s.ctx, "rebuilding the sales index", "school", id, "why", err.Error())
	}
	now, err := s.now(s.ctx, id)
	if err != nil {
		return loaded{}, err
	}
	b := NewBuilder()
	v := s.In(s.ctx, id)
	err = v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, func(p *lyceum.PricingPlan) error {
		b.Plan(p.ID, p.CourseID)
		return nil
	})
	if err != nil {
		return loaded{}, err
	}
	err = s.ScanTransactions(s.ctx, id, func(part []lyceum.Transaction) error {
		for i := range part {
			if err := b.Add(&part[i]); err != nil {
				return &refusal{err.Error(), true}
			}
		}
		return nil
	})
	if err != nil {
		return loaded{}, err
	}
	return loaded{b.Build(versionOf(now.last)), now, unsaved}, nil
}

// now returns the current state of a school's journal.
func (s *Store) now(ctx context.Context, id lyceum.SchoolID) (state, error) {
	school, err := s.In(ctx, id).GetSchool()
	if err != nil {
		return state{}, err
	}
	ends, err := s.LastEntries(ctx, []lyceum.SchoolID{id})
	return state{born: school.CreatedAt, origin: ends.Origin, last: ends.Last[id]}, err
}

// catchUp updates the index of a school with everything that was saved before the call. Many
// concurrent calls read the journal only once or twice.
func (s *Store) catchUp(k *school) {
	mine := k.wanted.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil || k.known >= mine {
		return
	}
	known := k.wanted.Load()
	if err := s.advance(k, s.finder(k)); err != nil {
		if s.ctx.Err() == nil {
			s.Log.WarnContext(s.ctx, "sales index is behind: the database answers the list", "school", k.id, "err", err)
		}
		return
	}
	k.known = known
}

// advance brings an index up to date with the journal and lets it serve. While this fails or
// takes too long, the underlying store serves. The school's lock must be held.
func (s *Store) advance(k *school, find finder) error {
	err := s.read(k, find)
	if err != nil {
		k.ready.Store(nil)
		return err
	}
	k.behind.Store(0)
	k.reached.Store(k.state.last.Number)
	k.ready.Store(k.index)
	return nil
}

// finder reads the journal of a school.
type finder func(lyceum.ChangeFilter) (lyceum.ChangeListing, error)

func (s *Store) finder(k *school) finder {
	return func(f lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
		return s.Store.In(s.ctx, k.id).FindChanges(f)
	}
}

func (s *Store) read(k *school, find finder) error {
	late := time.AfterFunc(trustPause, func() { k.ready.Store(nil) })
	defer late.Stop()
	c := changes{version: k.index.Version(), state: k.state}
	for more := true; more; {
		var err error
		if more, err = s.readOn(k, &c, find); err != nil {
			return err
		}
		if len(c.sales)+len(c.plans) > maxBacklog {
			s.drop(k)
			return fmt.Errorf("more than %d changes since entry %d of the journal", maxBacklog, k.state.last.Number)
		}
	}
	if err := k.index.Update(c.version, c.sales, c.plans); err != nil {
		s.drop(k)
		return err
	}
	k.state = c.state
	return nil
}

// changes are the changes in the journal up to a state, and the version that results from them.
type changes struct {
	version lyceum.Version
	sales   []lyceum.Transaction
	plans   []lyceum.PricingPlan
	state   state
}

// readOn reads the next journal entries, and reports whether there are more. It drops the index
// if the journal is not the one that it follows: the database may have been replaced by a replica
// that lacked the last changes, or by a backup, and may have continued past that entry long
// since.
func (s *Store) readOn(k *school, c *changes, find finder) (more bool, err error) {
	listing, err := find(lyceum.ChangeFilter{
		After: c.state.last.Number, Limit: followSize,
		Types: indexedEntries,
	})
	if err != nil {
		return false, err
	}
	if !c.state.follows(listing.Origin, listing.Before) {
		s.drop(k)
		return false, fmt.Errorf("entry %d of the journal has changed: another database took its place", c.state.last.Number)
	}
	for i := range listing.Changes {
		change := &listing.Changes[i]
		c.version = versionOf(change.Entry)
		switch object := change.Object.(type) {
		case lyceum.Transaction:
			c.sales = append(c.sales, object)
		case lyceum.PricingPlan:
			c.plans = append(c.plans, object)
		}
	}
	c.state.last = listing.Through
	k.behind.Store(listing.Last - listing.Through.Number)
	return listing.More, nil
}

// drop discards the index of a school. The school's lock must be held.
func (s *Store) drop(k *school) {
	k.ready.Store(nil)
	k.index = nil
	k.bytes.Store(0)
	k.behind.Store(0)
}
