package salesindex_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// numbered returns copies of a sale with other ids.
func numbered(x lyceum.Transaction, ids ...lyceum.TransactionID) (sales []lyceum.Transaction) {
	for _, id := range ids {
		x.ID = id
		sales = append(sales, x)
	}
	return sales
}

// TestSnapshotFarBehind checks that a snapshot that lacks more changes than an index catches up
// with is not tried repeatedly.
func TestSnapshotFarBehind(t *testing.T) {
	salesindex.Shorten(t)
	p := place{t, t.TempDir()}
	s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 20)
	s.Settle(t, school)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	bare := p.database()
	var many []lyceum.Transaction
	for i := range 60 {
		many = append(many, numbered(sales[i%len(sales)], lyceum.TransactionID(1000+i))...)
	}
	storetest.Write(t, bare, school, save(many...))
	if err := bare.Close(); err != nil {
		t.Fatal(err)
	}
	c := &counted{Store: p.database()}
	s = over(t, c, salesindex.Options{Memory: enough, Folder: p.folder()})
	if _, _, err := s.Kept(t.Context(), school); err == nil || !strings.Contains(err.Error(), "behind the journal") {
		t.Errorf("the snapshot is told to be good: %v", err)
	}
	if err := s.Prepare(school); err != nil || c.reads.Load() != 1 {
		t.Errorf("%v, all sales were read %d times", err, c.reads.Load())
	}
	same(t, s, s.Store, school, 50)
}

// swapped is a store that is replaced by another one after a while in which its journal cannot be
// read.
type swapped struct {
	lyceum.Store

	journal func() (lyceum.Store, error)
}

func (b *swapped) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	return withJournal(b.Store.In(ctx, id), func(_ lyceum.Reads, f lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
		store, err := b.journal()
		if err != nil {
			return lyceum.ChangeListing{}, err
		}
		return store.In(ctx, id).FindChanges(f)
	})
}

func (b *swapped) LastEntries(ctx context.Context, ids []lyceum.SchoolID) (lyceum.JournalEnds, error) {
	store, err := b.journal()
	if err != nil {
		return lyceum.JournalEnds{}, err
	}
	return store.LastEntries(ctx, ids)
}

// TestJournalThatGoesAnotherWay replaces the database by a replica that lacked the last sales and
// has continued past them.
func TestJournalThatGoesAnotherWay(t *testing.T) {
	first, second := openSQLite(t), openSQLite(t)
	defer second.Close()
	var at atomic.Pointer[lyceum.Store]
	at.Store(&first)
	b := &swapped{Store: first, journal: func() (lyceum.Store, error) {
		if store := at.Load(); store != nil {
			return *store, nil
		}
		return nil, errBroken
	}}
	s := over(t, b, salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	storetest.MakeSchool(t, second)
	storetest.Ledger(t, second, school, 5, 100)
	storetest.Write(t, s, school, save(numbered(sales[0], 5000)...))
	s.Settle(t, school)

	at.Store(nil)
	await(t, "the index stops answering", func() bool { return len(s.Serving()) == 0 })
	later := lyceum.Stamp{School: school, At: storetest.Begin.Add(time.Hour), Actor: "test"}
	for _, x := range numbered(sales[0], 6000, 6001) {
		if err := second.Write(t.Context(), later, save(x)); err != nil {
			t.Fatal(err)
		}
	}
	at.Store(&second)
	if err := s.Prepare(school); err == nil || !strings.Contains(err.Error(), "another database") {
		t.Errorf("the index goes on with another journal: %v", err)
	}
}

// TestDatabaseThatHangs checks that the database serves the list while it is unknown what has
// changed.
func TestDatabaseThatHangs(t *testing.T) {
	salesindex.Impatient(t)
	store := openSQLite(t)
	var hangs atomic.Bool
	woken := make(chan struct{})
	wake := sync.OnceFunc(func() {
		hangs.Store(false)
		close(woken)
	})
	b := &swapped{Store: store, journal: func() (lyceum.Store, error) {
		if hangs.Load() {
			<-woken
		}
		return store, nil
	}}
	s := over(t, b, salesindex.Options{Memory: enough})
	t.Cleanup(wake) // before the store is closed
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	s.Settle(t, school)
	hangs.Store(true)
	storetest.Write(t, store, school, save(numbered(sales[0], 5000)...)) // by another process
	await(t, "the index stops answering", func() bool { return len(s.Serving()) == 0 })
	wake()
	await(t, "the index answers again", func() bool { return len(s.Serving()) == 1 })
	same(t, s, store, school, 50)
}

// TestIDsFarApart checks that an index that is larger than estimated is neither kept nor rebuilt
// for each request.
func TestIDsFarApart(t *testing.T) {
	const memory = 1 << 20
	c := &counted{Store: openSQLite(t)}
	s := over(t, c, salesindex.Options{Memory: memory})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	var many []lyceum.Transaction
	for i := range 8000 {
		many = append(many, numbered(sales[i%len(sales)], lyceum.TransactionID(1_000_000+i*100_000))...)
	}
	storetest.Write(t, s, school, save(many...))
	for range 3 {
		if err := s.Prepare(school); err == nil || len(s.Serving()) > 0 || s.Stats().Bytes > memory {
			t.Errorf("%v; %+v where %d bytes are allowed", err, s.Stats(), memory)
		}
	}
	if c.reads.Load() != 1 {
		t.Errorf("all sales were read %d times", c.reads.Load())
	}
}

// TestCompareWithoutRoom checks that a missing index does not count as damage.
func TestCompareWithoutRoom(t *testing.T) {
	s := over(t, openSQLite(t), salesindex.Options{Memory: 1000})
	school := storetest.MakeSchool(t, s)
	storetest.Ledger(t, s, school, 5, 100)
	c, err := s.Compare(t.Context(), school, func(int) {})
	if err != nil || !strings.Contains(c.Refused, "need about 1 MB") {
		t.Errorf("%+v %v", c, err)
	}
}

// TestResumeTheLastOneFirst checks that indexes with older snapshots do not take the room of
// those with newer ones.
func TestResumeTheLastOneFirst(t *testing.T) {
	p := place{t, t.TempDir()}
	schools, each := p.keep(3, 400)
	kept, err := filepath.Glob(filepath.Join(p.folder(), "*"))
	if err != nil || len(kept) != 3 {
		t.Fatal(kept, err)
	}
	for i, file := range kept { // by name: the third school's is the newest
		at := time.Now().Add(time.Duration(i-3) * time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := over(t, p.database(), salesindex.Options{Memory: each + 400*80, Folder: p.folder()})
	s.Resume()
	await(t, "the others have been tried", func() bool { return s.Stats().Failures == 2 })
	if got := s.Serving(); !slices.Equal(got, schools[2:]) {
		t.Errorf("%v answer of %v, kept in this order", got, schools)
	}
}

// TestSnapshotThatCannotBeKept checks that a failed save is tried again only if there is
// something new to save.
func TestSnapshotThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file where the folder is to be")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := salesindex.Over(openSQLite(t), salesindex.Options{Memory: enough, Folder: file, Log: slog.New(slog.NewTextHandler(&log, nil))})
	school := storetest.MakeSchool(t, s)
	storetest.Ledger(t, s, school, 5, 100)
	if err := s.Prepare(school); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		s.Shrink(enough)
	}
	if n := strings.Count(log.String(), "snapshot could not be saved"); n != 1 {
		t.Errorf("it was tried %d times:\n%s", n, &log)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// mute is a store that does not return a school before the query is canceled.
type mute struct {
	lyceum.Store

	now atomic.Bool
}

func (m *mute) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	return storetest.FailSchool(m.Store.In(ctx, id), func() error {
		if m.now.Load() {
			<-ctx.Done()
		}
		return ctx.Err()
	})
}

func TestCloseWhileTheDatabaseHangs(t *testing.T) {
	m := &mute{Store: openSQLite(t)}
	s := salesindex.Over(m, salesindex.Options{Memory: enough, Folder: t.TempDir()})
	school := storetest.MakeSchool(t, s)
	storetest.Ledger(t, s, school, 5, 20)
	s.Settle(t, school)
	m.now.Store(true)
	if err := s.Close(); err != nil { // or the test never ends
		t.Error(err)
	}
}
