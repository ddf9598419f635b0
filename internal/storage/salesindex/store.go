package salesindex

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Store serves the list of sales from indexes, and everything else from the underlying store.
// While a school has no index, or if there is no room for it, its list is also served by the
// underlying store: just as correct, but slower.
type Store struct {
	lyceum.Store
	Options

	tables *lyceum.Tables // the tables of the underlying store, except for transactions

	schools sync.Map // lyceum.SchoolID -> *school
	build   sync.Mutex
	hits    atomic.Int64
	misses  atomic.Int64
	failed  atomic.Int64

	ctx  context.Context //nolint:containedctx // of the background work
	stop context.CancelFunc
	work sync.WaitGroup
}

var _ lyceum.Store = (*Store)(nil)

// Options are the options of Over.
type Options struct {
	Memory int64 // limit for all indexes, in bytes; 0 means no indexes
	// Folder holds a snapshot of each index for the next start; if empty, every start rebuilds
	// them.
	Folder string
	// ReadOnly leaves the snapshots as they are.
	ReadOnly bool
	// Repeats says that a school can go back to an earlier state, after which a version that it had
	// before is that of another state. Lists then have no version.
	Repeats bool
	Log     *slog.Logger // nil logs nothing
	// Resized is called with the memory of all indexes whenever it was measured.
	Resized func(bytes int64)
}

// followPause is the longest time for which a change of another process stays unseen, half of
// what is promised.
const followPause = 500 * time.Millisecond

// trustPause is how long an index keeps serving while the journal is being read.
var trustPause = followPause

// readingTime is how long the underlying store takes per sale to read all sales for a list that
// it has no index for, while a sales index is being built at the same time.
const readingTime = 3 * time.Microsecond

// Over returns a store on top of another one, which it closes when it is closed itself.
func Over(store lyceum.Store, o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Resized == nil {
		o.Resized = func(int64) {}
	}
	s := &Store{Store: store, Options: o}
	s.ctx, s.stop = context.WithCancel(context.Background())
	tables := *store.In(s.ctx, 0).Tables
	tables.Transactions = &transactions{tables.Transactions, s}
	s.tables = &tables
	s.work.Go(s.follow)
	s.work.Go(s.runMaintenance)
	return s
}

// Close stops all background work, saves snapshots of the indexes that have changed, and closes
// the underlying store.
func (s *Store) Close() error {
	s.stop()
	s.work.Wait()
	for k := range s.each {
		s.save(k)
		k.mu.Lock()
		s.drop(k)
		k.mu.Unlock()
	}
	return s.Store.Close()
}

// each iterates over the schools that were queried.
func (s *Store) each(yield func(*school) bool) {
	s.schools.Range(func(_, k any) bool { return yield(k.(*school)) })
}

// serving returns the index that serves a school now, or nil after starting to build one.
func (s *Store) serving(id lyceum.SchoolID) *Index {
	k := s.of(id)
	k.lastQuery.Store(time.Now().UnixNano())
	if x := k.ready.Load(); x != nil {
		s.hits.Add(1)
		return x
	}
	s.misses.Add(1)
	s.begin(k)
	return nil
}

// find returns the index that serves a list of a school now, or nil. If the underlying store
// would have to read all sales for the list, find waits for an index that is being built, for
// about as long as that would take.
func (s *Store) find(ctx context.Context, id lyceum.SchoolID, f *lyceum.TransactionFilter) *Index {
	x := s.serving(id)
	if x != nil || f.UserID.Present || !f.PricingPlanID.Present && !f.CourseID.Present && !f.AffiliateID.Present &&
		!f.AuthorID.Present {
		return x
	}
	return s.await(ctx, s.of(id))
}

// await is find for a list for which the underlying store would read all sales.
func (s *Store) await(ctx context.Context, k *school) *Index {
	ends := k.building.Load()
	if ends == nil {
		return k.ready.Load()
	}
	all, err := s.Store.FindTransactions(ctx, k.id, lyceum.TransactionFilter{}, lyceum.NewestFirst,
		lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		return nil
	}
	read := time.NewTimer(time.Duration(all.Total) * readingTime)
	defer read.Stop()
	select {
	case <-*ends:
	case <-read.C:
	case <-ctx.Done():
	}
	return k.ready.Load()
}

// Revision implements lyceum.Reader. An index learns of another process's changes later than the
// database.
func (s *Store) Revision(id lyceum.SchoolID) (r lyceum.Revision, known bool) {
	r, known = s.Store.Revision(id)
	if x := s.of(id).ready.Load(); x != nil {
		r.Sales = x.current.Load().state.Number
	}
	return r, known
}

func (s *Store) of(id lyceum.SchoolID) *school {
	found, ok := s.schools.Load(id)
	if !ok {
		found, _ = s.schools.LoadOrStore(id, &school{id: id})
	}
	return found.(*school)
}

func (s *Store) FindTransactions(
	ctx context.Context, id lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page,
) (lyceum.TransactionListing, error) {
	if x := s.find(ctx, id, &f); x != nil {
		found := x.Find(f, o, p)
		if s.Repeats {
			found.Version = lyceum.Version{}
		}
		return found, nil
	}
	return s.Store.FindTransactions(ctx, id, f, o, p)
}

// In returns a view whose transactions are listed by the index.
func (s *Store) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	v := s.Store.In(ctx, id)
	v.Tables = s.tables
	return v
}

// transactions is the table of the underlying store, with lists from the index.
type transactions struct {
	lyceum.Table[lyceum.TransactionID, lyceum.Transaction, lyceum.TransactionQuery]

	store *Store
}

func (t *transactions) Each(
	from lyceum.Source, q lyceum.TransactionQuery, visit func(*lyceum.Transaction) error,
) error {
	if ofSales(&q) || q.RefundedElsewhere.Present {
		return t.Table.Each(from, q, visit)
	}
	ctx := from.Context()
	x := t.store.find(ctx, from.School(), &q.TransactionFilter)
	if x == nil {
		return t.Table.Each(from, q, visit)
	}
	return x.Each(q.TransactionFilter, q.Order, unlessOver(ctx, visit))
}

// ofSales reports whether a query is for the few transactions of some sales, for which the
// underlying store has an index.
func ofSales(q *lyceum.TransactionQuery) bool {
	return q.Sale.Present || q.Sales != nil || q.LastOf != nil
}

// unlessOver wraps visit so that it fails once ctx is done.
func unlessOver(ctx context.Context, visit func(*lyceum.Transaction) error) func(*lyceum.Transaction) error {
	return func(t *lyceum.Transaction) error {
		if err := ctx.Err(); err != nil {
			return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the answer took too long; try again", Err: err}
		}
		return visit(t)
	}
}

// When Write returns, the index includes the change.
func (s *Store) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	touched := false
	err := s.Store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		err := change(tx)
		touched = slices.ContainsFunc(tx.Entries(), func(e lyceum.Entry) bool {
			return slices.Contains(indexedEntries,
				e.Type)
		})
		return err
	})
	if err == nil && touched {
		if k, ok := s.schools.Load(stamp.School); ok {
			s.catchUp(k.(*school))
		}
	}
	return err
}

// indexedEntries are the types of entry that affect indexes.
var indexedEntries = []lyceum.EntryType{
	lyceum.TransactionCreated, lyceum.TransactionUpdated, lyceum.PricingPlanCreated, lyceum.PricingPlanUpdated,
}
