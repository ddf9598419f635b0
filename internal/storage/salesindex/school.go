package salesindex

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// school is the index of one school, if it has one.
type school struct {
	id    lyceum.SchoolID
	ready atomic.Pointer[Index] // answers; nil: the store below does
	asked atomic.Int64          // when it was asked for last, in Unix nanoseconds

	building atomic.Bool
	later    atomic.Int64 // nothing is built before, in Unix nanoseconds
	bytes    atomic.Int64
	behind   atomic.Int64 // entries of the journal that are not looked at yet

	wanted atomic.Int64 // changes that the index is to know of
	saving sync.Mutex   // the snapshot

	mu       sync.Mutex // of what follows
	index    *Index     // that follows the journal; nil: none
	followed int64      // number of the last entry that the index knows of
	known    int64      // of wanted
	saved    int64      // number of the last entry that the snapshot knows of
	tried    int64      // number of the last entry that one was begun of

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
	return s.Memory > 0 && time.Now().UnixNano() >= k.later.Load() && s.ctx.Err() == nil && k.building.CompareAndSwap(false, true)
}

func (s *Store) run(k *school) {
	defer k.building.Store(false)
	begun := time.Now()
	_, _, err := s.made(k)
	if err == nil {
		s.saveIfMuch(k)
		s.Log.InfoContext(s.ctx, "sales index ready", "school", k.id, "mb", k.bytes.Load()>>20, "took", time.Since(begun).Round(time.Millisecond).String())
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
	_, _, err := s.made(s.of(id))
	return err
}

// made makes the index of a school and gives what it holds, and the number of
// the last entry that it knows of.
func (s *Store) made(k *school) (*version, int64, error) {
	s.build.Lock() // one at a time: each takes all processors
	defer s.build.Unlock()
	if err := s.make(k); err != nil {
		return nil, 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil, 0, errNoIndex
	}
	return k.index.current.Load(), k.followed, nil
}

// make builds the index of a school, lets it catch up with the journal and
// answer.
func (s *Store) make(k *school) error {
	k.mu.Lock()
	there := k.index != nil
	k.mu.Unlock()
	if !there {
		if err := s.room(k); err != nil {
			return err
		}
		x, number, saved, err := s.load(k.id)
		if err != nil {
			return err
		}
		k.mu.Lock()
		k.index, k.followed, k.saved, k.tried = x, number, saved, saved
		k.mu.Unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil { // dropped meanwhile
		return errNoIndex
	}
	k.needs = k.index.Bytes()
	k.bytes.Store(k.needs)
	if taken := s.taken(); !there && taken > s.Memory { // ids far apart take more than was reckoned
		s.drop(k)
		return &refusal{fmt.Sprintf("it takes %d MB, and with it all indexes would take %d MB of the %d MB they may", megabytes(k.needs), megabytes(taken), megabytes(s.Memory)), k.needs > s.Memory}
	}
	s.Resized(s.taken())
	return s.advance(k)
}

var errNoIndex = errors.New("the index was let go while it was made")

// unsaved is the number of a snapshot that is not there.
const unsaved = -1

// load gives the index of a school as of a number of its journal or later: that
// of the snapshot, or one made of everything that the store holds.
func (s *Store) load(id lyceum.SchoolID) (x *Index, number, saved int64, err error) {
	if x, number, err := s.snapshot(id); err == nil {
		return x, number, number, nil
	} else if s.Folder != "" {
		s.Log.InfoContext(s.ctx, "sales index is built anew", "school", id, "why", err.Error())
	}
	last, err := s.LastEntry(s.ctx, id)
	if err != nil {
		return nil, 0, 0, err
	}
	_, state, err := s.identity(s.ctx, id, last)
	if err != nil {
		return nil, 0, 0, err
	}
	b := NewBuilder()
	if err := s.EachPricingPlan(s.ctx, id, func(p *lyceum.PricingPlan) error { b.Plan(p.ID, p.CourseID); return nil }); err != nil {
		return nil, 0, 0, err
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
		return nil, 0, 0, err
	}
	return b.Build(state), last, unsaved, nil
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
	if err := s.advance(k); err != nil {
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
func (s *Store) advance(k *school) error {
	err := s.read(k)
	if err != nil {
		k.ready.Store(nil)
		return err
	}
	k.behind.Store(0)
	k.ready.Store(k.index)
	return nil
}

func (s *Store) read(k *school) error {
	late := time.AfterFunc(followPause, func() { k.ready.Store(nil) })
	defer late.Stop()
	state := k.index.Version()
	after := k.followed
	if k.ready.Load() == nil && state.Number > 0 {
		// The journal was out of sight: a backup, or a replica that lacked its
		// end, may stand in its place.
		found, err := s.FindEntries(s.ctx, k.id, state.Number-1, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Number != state.Number || !found[0].At.Equal(state.At) {
			s.drop(k)
			return fmt.Errorf("entry %d of the journal is not what it was: another database stands in its place", state.Number)
		}
		after = state.Number
	}
	var sales []lyceum.Transaction
	var plans []lyceum.PricingPlan
	for more := true; more; {
		listing, err := s.FindChanges(s.ctx, k.id, lyceum.ChangeFilter{
			After: after, Limit: followSize,
			Types: []lyceum.EntryType{lyceum.TransactionCreated, lyceum.TransactionUpdated, lyceum.PricingPlanCreated, lyceum.PricingPlanUpdated},
		})
		if err != nil {
			return err
		}
		if listing.Last < k.followed {
			s.drop(k)
			return fmt.Errorf("the journal ends at entry %d, and did not end before %d: another database stands in its place", listing.Last, k.followed)
		}
		for i := range listing.Changes {
			c := &listing.Changes[i]
			state = lyceum.Version{Number: c.Number, At: c.At}
			switch object := c.Object.(type) {
			case lyceum.Transaction:
				sales = append(sales, object)
			case lyceum.PricingPlan:
				plans = append(plans, object)
			}
		}
		if len(sales)+len(plans) > maxBacklog {
			s.drop(k)
			return fmt.Errorf("more than %d changes since entry %d of the journal", maxBacklog, k.followed)
		}
		after, more = listing.Next, listing.More
		k.behind.Store(listing.Last - after)
	}
	if err := k.index.Update(state, sales, plans); err != nil {
		s.drop(k)
		return err
	}
	k.followed = after
	return nil
}

// drop forgets the index of a school. It is called with the school's lock.
func (s *Store) drop(k *school) {
	k.ready.Store(nil)
	k.index = nil
	k.bytes.Store(0)
	k.behind.Store(0)
}
