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

// state is what the journal was known to be when an index knew all of it. It
// goes with the index: another database may stand in the place of the one that
// the index was made of, and be the same in every number.
type state struct {
	born   time.Time // when the school was made
	origin string    // of the journal
	last   lyceum.Entry
}

// follows tells whether a journal that was read after the last entry is the
// one that was read before. What an entry tells beside its number may be erased with a person.
func (s *state) follows(origin string, last lyceum.Entry) bool {
	at := s.last.At.Equal(last.At)
	last.At, last.Detail = s.last.At, s.last.Detail
	return at && origin == s.origin && last == s.last
}

// school is the index of one school, if it has one.
type school struct {
	id    lyceum.SchoolID
	ready atomic.Pointer[Index] // answers; nil: the store below does
	asked atomic.Int64          // when it was asked for last, in Unix nanoseconds

	building atomic.Pointer[chan struct{}] // closed when it answers or failed; nil: nobody is at it
	later    atomic.Int64                  // nothing is built before, in Unix nanoseconds
	bytes    atomic.Int64
	reached  atomic.Int64 // number of the entry that an index which answers knows of
	behind   atomic.Int64 // entries of the journal that are not looked at yet

	wanted atomic.Int64 // changes that the index is to know of
	saving sync.Mutex   // the snapshot

	mu    sync.Mutex // of what follows
	index *Index     // that follows the journal; nil: none
	state state      // that the index is of
	known int64      // of wanted
	saved int64      // number of the last entry that the snapshot knows of
	tried int64      // number of the last entry that one was begun of

	needs int64 // bytes that the last index took, or 0; of who builds
}

const (
	// laterPause is how long a school without an index waits for one when it
	// could not be had.
	laterPause = time.Minute
	// refusedPause is how long it waits where nothing but another setting or
	// another sale would change that.
	refusedPause = time.Hour
	// idlePause is how long a school must not have been asked for before
	// another one takes its room.
	idlePause = time.Minute
	// bytesPerSale is what an index takes, about, before it is built.
	bytesPerSale = 85
	// followSize is how many entries are read from the journal in one go.
	followSize = 2000
)

// maxBacklog is how many changes an index takes in rather than being built
// anew.
var maxBacklog = 200_000

// begin has the index of a school built, unless it is being built or has to
// wait.
func (s *Store) begin(k *school) {
	if s.claim(k) {
		s.work.Go(func() { s.run(k) })
	}
}

// claim tells whether the caller is the one to run the building of an index.
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

// refusal says why a healthy school has no index.
type refusal struct {
	why     string
	lasting bool // and will have none for long
}

func (r *refusal) Error() string { return r.why }

// Prepare has the index of a school answer before anybody asks, and says why
// it does not.
func (s *Store) Prepare(id lyceum.SchoolID) error {
	if s.Memory <= 0 {
		return errors.New("indexes may take no memory")
	}
	return s.made(s.of(id))
}

// made sees to it that a school has an index that answers.
func (s *Store) made(k *school) error {
	s.build.Lock() // one at a time: each takes all processors
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
	if taken := s.taken(); !there && taken > s.Memory { // ids far apart take more than was reckoned
		s.drop(k)
		return &refusal{fmt.Sprintf("it takes %d MB, and with it all indexes would take %d MB of the %d MB they may",
			megabytes(k.needs), megabytes(taken), megabytes(s.Memory)), k.needs > s.Memory}
	}
	s.Resized(s.taken())
	return s.advance(k, s.finder(k))
}

var errNoIndex = errors.New("the index was evicted while it was being built")

// unsaved is the number of a snapshot that is not there.
const unsaved = -1

// loaded is an index as of a state of its journal or later.
type loaded struct {
	index *Index
	state state
	saved int64 // number of the last entry that its snapshot knows of
}

// load gives the index of a school: that of the snapshot, or one made of
// everything that the store holds.
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

// now gives the state of a school's journal.
func (s *Store) now(ctx context.Context, id lyceum.SchoolID) (state, error) {
	school, err := s.In(ctx, id).GetSchool()
	if err != nil {
		return state{}, err
	}
	ends, err := s.LastEntries(ctx, []lyceum.SchoolID{id})
	return state{born: school.CreatedAt, origin: ends.Origin, last: ends.Last[id]}, err
}

// catchUp lets the index of a school know of everything that was kept before
// the call. Many calls at once read the journal once or twice.
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

// advance brings an index up to the journal and lets it answer. While it
// cannot, or takes too long, the store below answers. It is called with the
// school's lock.
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

// changes are what the journal tells of up to a state, and the version that
// they lead to.
type changes struct {
	version lyceum.Version
	sales   []lyceum.Transaction
	plans   []lyceum.PricingPlan
	state   state
}

// readOn reads the next entries of the journal, and tells whether there are
// more. It drops the index when the journal is not the one that it follows: a
// replica that lacked the end of that one may have taken the database's place,
// or a backup, and may have gone past it long since.
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

// drop forgets the index of a school. It is called with the school's lock.
func (s *Store) drop(k *school) {
	k.ready.Store(nil)
	k.index = nil
	k.bytes.Store(0)
	k.behind.Store(0)
}
