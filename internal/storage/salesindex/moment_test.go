package salesindex_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// What a read of a snapshot finds in memory equals what the database has in that snapshot, while
// transactions are added, changed and refunded by this process and by another.
func TestSalesAtOnceAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]storetest.Opener{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			below := open(t)
			s := over(t, below, salesindex.Options{Memory: enough})
			school := storetest.MakeSchool(t, s)
			sold, _ := storetest.Ledger(t, s, school, 11, 400)
			s.Settle(t, school)
			done := make(chan struct{})
			var writers sync.WaitGroup
			for n, through := range []lyceum.Store{s, below} { // to s, below is like another process
				writers.Go(func() {
					r := rand.New(rand.NewPCG(7, uint64(n)))
					for {
						select {
						case <-done:
							return
						default:
							storetest.Write(t, through, school, changeOne(r, sold))
						}
					}
				})
			}
			defer writers.Wait()
			defer close(done)
			r := rand.New(rand.NewPCG(3, 3))
			hour := func() time.Time { return storetest.Begin.Add(time.Duration(r.IntN(400)) * time.Hour) }
			all := filters(hour, r.Int32N)
			for range 60 {
				err := s.SalesAtOnce(t.Context(), school, func(v lyceum.View) error {
					database := below.In(t.Context(), school).Transactions
					if v.Transactions == database {
						t.Error("the database is asked")
					}
					for range 5 {
						q := lyceum.TransactionQuery{TransactionFilter: all[r.IntN(len(all))], Order: lyceum.Order(r.IntN(2))}
						if r.IntN(2) == 0 {
							q = lyceum.TransactionQuery{RefundedElsewhere: lyceum.Some(lyceum.Period{After: hour()})}
							q.AuthorID = lyceum.Some(lyceum.AuthorID(1 + r.IntN(3)))
						}
						got, err := lyceum.All(v.Transactions, v, q)
						if err != nil {
							return err
						}
						want, err := lyceum.All(database, v, q)
						if err != nil {
							return err
						}
						if diff := gocmp.Diff(want, got); diff != "" {
							t.Errorf("%+v (-database +memory):\n%s", q, diff)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// changeOne adds, changes or refunds a transaction, with or without a movement.
func changeOne(r *rand.Rand, sold []lyceum.Transaction) func(lyceum.Tx) error {
	t := sold[r.IntN(len(sold))]
	if r.IntN(3) == 0 {
		t.ID = lyceum.TransactionID(1000 + r.IntN(300))
	}
	t.AuthorID = lyceum.Opt[lyceum.AuthorID]{Value: lyceum.AuthorID(1 + r.IntN(3)), Present: r.IntN(4) > 0}
	if !t.AuthorID.Present {
		t.AuthorID = lyceum.None[lyceum.AuthorID]()
	}
	if r.IntN(2) == 0 {
		t.RefundedAt = lyceum.Some(t.CreatedAt.Add(time.Duration(r.IntN(300)) * time.Hour))
		t.AmountRefunded = 100
		if r.IntN(4) == 0 { // a file may not say when
			t.RefundedAt = lyceum.None[time.Time]()
		}
	}
	moved := r.IntN(3) == 0
	return func(tx lyceum.Tx) error {
		if _, err := tx.Transactions.Save(tx, t); err != nil || !moved {
			return err
		}
		id, err := tx.Movements.NextID(tx)
		if err != nil {
			return err
		}
		return tx.Movements.Insert(tx, lyceum.Movement{
			ID: id, TransactionID: t.ID, SaleID: t.SaleID, Kind: lyceum.Refunded, Amount: 1, Refunded: t.AmountRefunded, At: t.CreatedAt,
		})
	}
}

// leaving is a store whose callers go away as soon as they see a snapshot.
type leaving struct {
	lyceum.Store

	leave context.CancelFunc
}

func (l *leaving) AtOnce(ctx context.Context, id lyceum.SchoolID, read func(lyceum.View) error) error {
	return l.Store.AtOnce(ctx, id, func(v lyceum.View) error {
		l.leave()
		return read(v)
	})
}

// failedOver is a store whose snapshots have another journal, and whose callers go away as soon as
// they have read it.
type failedOver struct {
	lyceum.Store

	leave context.CancelFunc
}

func (f *failedOver) AtOnce(ctx context.Context, id lyceum.SchoolID, read func(lyceum.View) error) error {
	return f.Store.AtOnce(ctx, id, func(v lyceum.View) error {
		return read(withJournal(v, func(r lyceum.Reads, c lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
			defer f.leave()
			listing, err := r.FindChanges(c)
			listing.Origin = "another server"
			return listing, err
		}))
	})
}

// An index that is dropped in a snapshot does not serve, although the caller has gone away.
func TestSalesAtOnceAfterAFailover(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	s := over(t, &failedOver{openSQLite(t), leave}, salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	sold, _ := storetest.Ledger(t, s, school, 11, 40)
	s.Settle(t, school)
	if err := s.SalesAtOnce(ctx, school, func(lyceum.View) error { return nil }); err == nil {
		t.Error("the caller is answered")
	}
	sold[0].Charge++
	storetest.Write(t, s, school, save(sold[0]))
	same(t, s, s.Store, school, 1)
}

// A caller that goes away while the index is being updated does not disable it for others.
func TestSalesAtOnceOfACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	s := over(t, &leaving{openPostgres(t), leave}, salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	storetest.Ledger(t, s, school, 11, 40)
	s.Settle(t, school)
	err := s.SalesAtOnce(ctx, school, func(lyceum.View) error { return nil })
	if err == nil {
		t.Error("the caller is answered")
	}
	if n := s.Stats().Schools; n != 1 {
		t.Errorf("%d indexes answer, %v", n, err)
	}
}
