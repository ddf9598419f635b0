package salesindex_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// failing is a database that is replaced by another one between two calls.
type failing struct {
	lyceum.Store // the first

	at      atomic.Pointer[lyceum.Store]
	origins map[lyceum.Store]string // what they claim to be their origins; if missing, the real ones
	scanned func()                  // called after all sales were read
}

func failsOver(first, second lyceum.Store) (f *failing, over func()) {
	f = &failing{Store: first, scanned: func() {}}
	f.at.Store(&first)
	return f, func() { f.at.Store(&second) }
}

func (f *failing) now() lyceum.Store { return *f.at.Load() }

func (f *failing) LastEntries(ctx context.Context, ids []lyceum.SchoolID) (lyceum.JournalEnds, error) {
	store := f.now()
	ends, err := store.LastEntries(ctx, ids)
	if origin, ok := f.origins[store]; ok {
		ends.Origin = origin
	}
	return ends, err
}

func (f *failing) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	store := f.now()
	return withJournal(store.In(ctx, id), func(v lyceum.Reads, c lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
		listing, err := v.FindChanges(c)
		if origin, ok := f.origins[store]; ok {
			listing.Origin = origin
		}
		return listing, err
	})
}

func (f *failing) FindTransactions(ctx context.Context, id lyceum.SchoolID, t lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
	return f.now().FindTransactions(ctx, id, t, o, p)
}

func (f *failing) ScanTransactions(ctx context.Context, id lyceum.SchoolID, visit func([]lyceum.Transaction) error) error {
	err := f.now().ScanTransactions(ctx, id, visit)
	f.scanned()
	return err
}

// replays is how often the failing case is repeated.
const replays = 20

// lost is the sale that the second database never received.
const lost lyceum.TransactionID = 5000

// twins creates schools that are equal in two databases, and returns the sales of each.
func twins(t *testing.T, first, second lyceum.Store, n int) (schools []lyceum.SchoolID, sales [][]lyceum.Transaction) {
	t.Helper()
	for range n {
		school := storetest.MakeSchool(t, first)
		made, _ := storetest.Ledger(t, first, school, 5, 20)
		if twin := storetest.MakeSchool(t, second); twin != school {
			t.Fatalf("school %d has the twin %d", school, twin)
		}
		storetest.Ledger(t, second, school, 5, 20)
		schools, sales = append(schools, school), append(sales, made)
	}
	return schools, sales
}

// goOn adds sales to the second database after the failover.
func goOn(t *testing.T, second lyceum.Store, school lyceum.SchoolID, sale lyceum.Transaction, n int) {
	t.Helper()
	for i := range n {
		later := lyceum.Stamp{School: school, At: storetest.Begin.Add(time.Duration(i+1) * time.Hour), Actor: "test"}
		if err := second.Write(t.Context(), later, save(numbered(sale, lost+1+lyceum.TransactionID(i))...)); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(t *testing.T, store lyceum.Store, school lyceum.SchoolID) string {
	t.Helper()
	listing, err := store.FindTransactions(t.Context(), school, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, sale := range listing.All() {
		text += fmt.Sprint(sale.ID, " ")
	}
	return text
}

// TestFailoverThatLostTheEnd checks that a lost sale is not listed after a database that lacks it
// has replaced another one and reached the same entry or a later one before anyone reads its
// journal again, as when the process was paused. The sale is not listed after a restart either.
func TestFailoverThatLostTheEnd(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]storetest.Opener{"sqlite": openSQLite, "postgres": openPostgres} {
		for name, entries := range map[string]int{"as far": 1, "further": 3} {
			t.Run(engine+", "+name, func(t *testing.T) {
				t.Parallel()
				first, second := open(t), open(t)
				t.Cleanup(func() { _ = second.Close() })
				between, over := failsOver(first, second)
				folder := filepath.Join(t.TempDir(), "index")
				s := salesindex.Over(between, salesindex.Options{Memory: enough, Folder: folder})
				defer func() { _ = s.Close() }()
				schools, sales := twins(t, first, second, replays)
				for i, school := range schools {
					storetest.Write(t, s, school, save(numbered(sales[i][0], lost)...))
					s.Settle(t, school)
					goOn(t, second, school, sales[i][0], entries)
				}
				over()
				wrong := 0
				for _, school := range schools {
					want := ids(t, second, school)
					if !storetest.Await(func() bool { return ids(t, s, school) == want }) {
						wrong++
						t.Errorf("school %d lists %s, want %s", school, ids(t, s, school), want)
					}
				}
				t.Logf("%d replays, %d wrong", replays, wrong)
			})
		}
	}
}

// TestFailoverBeforeTheSnapshot checks that the next start does not use a snapshot that was saved
// after the failover, but before anyone had read the new journal.
func TestFailoverBeforeTheSnapshot(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]storetest.Opener{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			first, second := open(t), open(t)
			between, over := failsOver(first, second)
			folder := filepath.Join(t.TempDir(), "index")
			s := salesindex.Over(between, salesindex.Options{Memory: enough, Folder: folder})
			schools, sales := twins(t, first, second, replays)
			for i, school := range schools {
				storetest.Write(t, s, school, save(numbered(sales[i][0], lost)...))
				s.Settle(t, school)
				goOn(t, second, school, sales[i][0], 3)
			}
			over()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := salesindex.Over(second, salesindex.Options{Memory: enough, Folder: folder, ReadOnly: true})
			defer again.Close()
			wrong := 0
			for _, school := range schools {
				again.Settle(t, school)
				if got, want := ids(t, again, school), ids(t, second, school); got != want {
					wrong++
					t.Errorf("school %d lists %s, want %s", school, got, want)
				}
			}
			t.Logf("%d replays, %d wrong", replays, wrong)
		})
	}
}

// TestFailoverWhileTheIndexIsBuilt checks that the index is not used if the sales were read from
// a database that had more of them than the one whose journal is followed afterwards, although
// both databases have the entry from which it is followed.
func TestFailoverWhileTheIndexIsBuilt(t *testing.T) {
	t.Parallel()
	first, second := openSQLite(t), openSQLite(t)
	t.Cleanup(func() { _ = second.Close() })
	between, over := failsOver(first, second)
	between.origins = map[lyceum.Store]string{first: "7/00000001", second: "7/00000002"}
	s := salesindex.Over(&lateSale{failing: between, first: first}, salesindex.Options{Memory: enough})
	t.Cleanup(func() { _ = s.Close() })
	schools, sales := twins(t, first, second, 1)
	s.Store.(*lateSale).before = func() {
		storetest.Write(t, first, schools[0], save(numbered(sales[0][0], lost)...))
	}
	between.scanned = over
	if err := s.Prepare(schools[0]); err == nil {
		t.Error("the index is of both databases")
	}
	want := ids(t, second, schools[0])
	for range 2 {
		if got := ids(t, s, schools[0]); got != want {
			t.Errorf("the list has %s, want %s", got, want)
		}
		if err := s.Prepare(schools[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// lateSale adds a sale when the sales begin to be read.
type lateSale struct {
	*failing

	first  lyceum.Store
	before func()
}

func (l *lateSale) ScanTransactions(ctx context.Context, id lyceum.SchoolID, visit func([]lyceum.Transaction) error) error {
	if l.now() == l.first {
		l.before()
	}
	return l.failing.ScanTransactions(ctx, id, visit)
}

// TestTwoServersShareAFolderOfIndexes checks that two servers that overwrite each other's
// snapshots do not use them.
func TestTwoServersShareAFolderOfIndexes(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "index")
	places := []place{{t, t.TempDir()}, {t, t.TempDir()}}
	for round := range 3 {
		stores := make([]*salesindex.Store, len(places))
		for i, p := range places {
			stores[i] = salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: folder})
			if round == 0 {
				storetest.Ledger(t, stores[i], storetest.MakeSchool(t, stores[i]), 5, 20+i)
			}
			stores[i].Settle(t, 1)
		}
		closed := make(chan error)
		for i, s := range stores {
			if got, want := ids(t, s, 1), ids(t, s.Store, 1); got != want {
				t.Errorf("round %d, server %d lists %s, want %s", round, i, got, want)
			}
			go func() { closed <- s.Close() }()
		}
		for range stores {
			if err := <-closed; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFileReplacedByAnOlderCopy checks that neither the index in memory nor its snapshot serves
// for an older copy that has replaced the file and continued differently.
func TestFileReplacedByAnOlderCopy(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]int{"shorter": 0, "as far": 1, "further": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, copied := place{t, t.TempDir()}, place{t, t.TempDir()}
			s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
			school := storetest.MakeSchool(t, s)
			sales, _ := storetest.Ledger(t, s, school, 5, 20)
			s.Settle(t, school)
			file := filepath.Join(copied.dir, sqlstore.FileName)
			if err := s.Store.(*sqlstore.Store).Backup(t.Context(), file, nil); err != nil {
				t.Fatal(err)
			}
			bare := copied.database()
			goOn(t, bare, school, sales[0], more)
			want := ids(t, bare, school)
			if err := bare.Close(); err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, s, school, save(numbered(sales[0], lost)...))

			if err := os.Rename(file, filepath.Join(p.dir, sqlstore.FileName)); err != nil {
				t.Fatal(err)
			}
			if err := s.Ping(t.Context()); err == nil {
				t.Error("the server is ready")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, rest := range []string{"-wal", "-shm"} {
				_ = os.Remove(filepath.Join(p.dir, sqlstore.FileName+rest)) // as restore does
			}
			s = over(t, p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
			s.Settle(t, school)
			if got := ids(t, s, school); got != want {
				t.Errorf("the list has %s, want %s", got, want)
			}
		})
	}
}
