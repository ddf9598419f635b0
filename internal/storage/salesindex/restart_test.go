package salesindex_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"pgregory.net/rapid"
)

// place is a data folder with a database and the snapshots of its indexes.
type place struct {
	t   testing.TB
	dir string
}

func (p place) database() lyceum.Store {
	p.t.Helper()
	store, err := sqlstore.Open(p.t.Context(), p.dir, sqlstore.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	return store
}

func (p place) folder() string { return filepath.Join(p.dir, "index") }

// keep creates schools with a ledger of n sales each, saves their indexes, and returns the size
// of one.
func (p place) keep(schools, n int) (ids []lyceum.SchoolID, each int64) {
	p.t.Helper()
	s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	for range schools {
		id := storetest.MakeSchool(p.t, s)
		storetest.Ledger(p.t, s, id, 5, n)
		s.Settle(p.t, id)
		ids = append(ids, id)
	}
	storetest.Ledger(p.t, s, storetest.MakeSchool(p.t, s), 5, n) // never queried
	each = s.Stats().Bytes / int64(schools)
	if err := s.Close(); err != nil {
		p.t.Fatal(err)
	}
	return ids, each
}

// counted is a store that counts how often all sales were read.
type counted struct {
	lyceum.Store

	reads atomic.Int64
}

func (c *counted) ScanTransactions(ctx context.Context, id lyceum.SchoolID, visit func([]lyceum.Transaction) error) error {
	c.reads.Add(1)
	return c.Store.ScanTransactions(ctx, id, visit)
}

func TestRestart(t *testing.T) {
	p := place{t, t.TempDir()}
	s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 300)
	s.Settle(t, school)
	sales[7].AmountRefunded = sales[7].FinalPrice + 1
	storetest.Write(t, s, school, save(sales[7]))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	bare := p.database() // changes while no index follows
	sales[8].HasChargeback = lyceum.Some(true)
	storetest.Write(t, bare, school, save(sales[8]))
	if err := bare.Close(); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(p.folder(), "sales-1.snapshot")
	whole, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	other := otherSnapshot(t)
	for name, tc := range map[string]struct {
		file  []byte
		reads int64 // of all sales, to rebuild an index
		why   string
	}{
		"whole":           {whole, 0, ""},
		"none":            {nil, 1, "there is no snapshot"},
		"damaged":         {damaged, 1, "checksum"},
		"truncated":       {whole[:len(whole)/2], 1, "bytes"},
		"foreign":         {other, 1, "another school"},
		"no file of ours": {[]byte("hello"), 1, "snapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.file == nil {
				if err := os.Remove(snapshot); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(snapshot, tc.file, 0o600); err != nil {
				t.Fatal(err)
			}
			c := &counted{Store: p.database()}
			var log bytes.Buffer
			s := over(t, c, salesindex.Options{Memory: enough, Folder: p.folder(), Log: slog.New(slog.NewTextHandler(&log, nil))})
			s.Settle(t, school)
			if reads := c.reads.Load(); reads != tc.reads {
				t.Errorf("all sales were read %d times, want %d", reads, tc.reads)
			}
			same(t, s, s.Store, school, 2)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(log.Bytes(), []byte(tc.why)) {
				t.Errorf("the log does not say %q:\n%s", tc.why, &log)
			}
		})
	}
}

// TestResume checks that schools with snapshots have their indexes again before anyone queries
// them.
func TestResume(t *testing.T) {
	p := place{t, t.TempDir()}
	schools, _ := p.keep(2, 100)
	for _, stray := range []string{"sales-x.snapshot", "sales-01.snapshot", "sales-1.snapshot.partial", "notes"} {
		if err := os.WriteFile(filepath.Join(p.folder(), stray), []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &counted{Store: p.database()}
	s := over(t, c, salesindex.Options{Memory: enough, Folder: p.folder()})
	s.Resume()
	await(t, "all answer", func() bool { return len(s.Serving()) == len(schools) })
	if serving := s.Serving(); !slices.Equal(serving, schools) || c.reads.Load() != 0 {
		t.Errorf("schools %v answer after %d builds, want %v after none", serving, c.reads.Load(), schools)
	}
}

// otherSnapshot returns the snapshot of a school with the same id in another database.
func otherSnapshot(t *testing.T) []byte {
	t.Helper()
	p := place{t, t.TempDir()}
	s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	school, err := s.CreateSchool(t.Context(), lyceum.School{Name: "Another", CreatedAt: storetest.Begin.Add(time.Hour)}, "test")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Ledger(t, s, school.ID, 6, 300)
	s.Settle(t, school.ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(p.folder(), "sales-1.snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRestoredBackup checks that a snapshot is not used for a database that has continued
// differently since it was saved, whether its journal is shorter or not.
func TestRestoredBackup(t *testing.T) {
	p := place{t, t.TempDir()}
	s := salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	if err := s.Close(); err != nil { // never queried: there is no snapshot
		t.Fatal(err)
	}
	backup, err := os.ReadFile(filepath.Join(p.dir, sqlstore.FileName))
	if err != nil {
		t.Fatal(err)
	}
	s = salesindex.Over(p.database(), salesindex.Options{Memory: enough, Folder: p.folder()})
	s.Settle(t, school)
	for i := range 5 {
		sales[i].AmountRefunded++
		storetest.Write(t, s, school, save(sales[i]))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, more := range []int{0, 5, 9} {
		if err := os.WriteFile(filepath.Join(p.dir, sqlstore.FileName), backup, 0o600); err != nil {
			t.Fatal(err)
		}
		bare := p.database()
		for i := range more {
			err := bare.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin.Add(time.Minute), Actor: "test"}, func(tx lyceum.Tx) error {
				sale := sales[50+i]
				sale.HasChargeback = lyceum.Opt[bool]{Value: !sale.HasChargeback.Value, Present: true}
				_, err := tx.Transactions.Save(tx, sale)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		s := over(t, bare, salesindex.Options{Memory: enough, Folder: p.folder(), ReadOnly: true})
		s.Settle(t, school)
		same(t, s, bare, school, uint64(more))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHistories takes a database through random histories, with and without its index, with
// snapshots and restarts, during concurrent reads, and compares every list with the naive one.
func TestHistories(t *testing.T) {
	salesindex.Shrink(t)
	histories, steps := 0, 0
	dir := t.TempDir() // one database, and a school for each history
	rapid.Check(t, func(r *rapid.T) {
		histories++
		h := &history{r: r, model: newModel(), place: place{t, dir}, folder: filepath.Join(dir, strconv.Itoa(histories))}
		h.start()
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			steps++
			h.step()
			h.compare()
		}
		h.check(r, throughStore{h.store.Store, h.school, t}, []lyceum.TransactionFilter{{}, {Chargeback: lyceum.Some(false), PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1))}})
		h.end()
	})
	t.Logf("%d histories of %d steps", histories, steps)
}

type history struct {
	*model

	r      *rapid.T
	place  place
	folder string // of the snapshots
	school lyceum.SchoolID
	store  *salesindex.Store
	stop   func()
}

// start opens the store and starts readers.
func (h *history) start() {
	database := h.place.database()
	h.store = salesindex.Over(database, salesindex.Options{Memory: enough, Folder: h.folder})
	if h.school == 0 {
		h.school = storetest.MakeSchool(h.place.t, h.store)
		storetest.Write(h.place.t, h.store, h.school, h.people)
	}
	h.store.Settle(h.place.t, h.school)
	var done atomic.Bool
	var readers sync.WaitGroup
	readers.Go(func() {
		for n := 0; !done.Load(); n++ {
			q := listQueries[n%len(listQueries)]
			if _, err := h.store.FindTransactions(context.Background(), h.school, q.f, q.o, q.p); err != nil {
				h.place.t.Error(err)
			}
			time.Sleep(time.Millisecond) // lets other goroutines run
		}
	})
	h.stop = func() { done.Store(true); readers.Wait() }
}

func (h *history) end() {
	h.stop()
	if err := h.store.Close(); err != nil {
		h.r.Fatal(err)
	}
}

// people saves the users, courses and plans to which the model's sales refer.
func (h *history) people(tx lyceum.Tx) error {
	var users []lyceum.User
	var plans []lyceum.PricingPlan
	for i := range int32(6) {
		users = append(users, lyceum.User{ID: lyceum.UserID(i + 1), Email: fmt.Sprintf("user%d@example.com", i), Role: lyceum.Student, CreatedAt: storetest.Begin})
		plan := lyceum.PricingPlan{ID: lyceum.PricingPlanID(i + 1), Name: "Plan", Frequency: lyceum.OneTimePayment, Currency: "USD", CreatedAt: storetest.Begin}
		plans = append(plans, plan)
	}
	_, userErr := tx.Users.Save(tx, users...)
	_, courseErr := tx.Courses.Save(tx, []lyceum.Course{{ID: 1, Name: "One", CreatedAt: storetest.Begin}, {ID: 2, Name: "Two", CreatedAt: storetest.Begin}}...)
	_, planErr := tx.PricingPlans.Save(tx, plans...)
	return errors.Join(userErr, courseErr, planErr)
}

func (h *history) step() {
	switch rapid.IntRange(0, 5).Draw(h.r, "step") {
	case 0: // a restart
		h.end()
		h.start()
	case 1: // a restart, with changes that no index saw
		h.end()
		bare := h.place.database()
		h.change(bare)
		if err := bare.Close(); err != nil {
			h.r.Fatal(err)
		}
		h.start()
	default:
		h.change(h.store)
	}
}

// change saves some sales and plans in one write.
func (h *history) change(store lyceum.Store) {
	var sales []lyceum.Transaction
	for range rapid.IntRange(0, 9).Draw(h.r, "sales") {
		id := h.next
		if len(h.sales) > 0 && rapid.IntRange(0, 2).Draw(h.r, "change") == 0 {
			id = lyceum.TransactionID(rapid.Int32Range(1, int32(h.next)-1).Draw(h.r, "id"))
		} else {
			h.next++
		}
		t := h.sale(h.r, id)
		if old, is := h.sales[id]; is && rapid.IntRange(0, 3).Draw(h.r, "move") > 0 {
			t.CreatedAt = old.CreatedAt
		}
		h.sales[id] = t
		sales = append(sales, t)
	}
	var plans []lyceum.PricingPlan
	if rapid.IntRange(0, 2).Draw(h.r, "plan") == 0 {
		plan := lyceum.PricingPlanID(rapid.Int32Range(1, 5).Draw(h.r, "moved plan"))
		h.courses[plan] = optional[lyceum.CourseID](h.r, "course", 2)
		plans = append(plans, lyceum.PricingPlan{ID: plan, CourseID: h.courses[plan]})
	}
	storetest.Write(h.place.t, store, h.school, func(tx lyceum.Tx) error {
		for _, p := range plans {
			kept, err := tx.PricingPlans.Find(tx, p.ID)
			if err != nil {
				return err
			}
			whole := kept[p.ID]
			whole.CourseID = p.CourseID
			if _, err := tx.PricingPlans.Save(tx, whole); err != nil {
				return err
			}
		}
		_, err := tx.Transactions.Save(tx, sales...)
		return err
	})
}

// throughStore is a store as a lister of one school.
type throughStore struct {
	lyceum.Store

	school lyceum.SchoolID
	t      testing.TB
}

func (a throughStore) Len() int {
	return int(a.Find(lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1}).Total)
}

func (a throughStore) Find(f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) lyceum.TransactionListing {
	listing, err := a.FindTransactions(a.t.Context(), a.school, f, o, p)
	if err != nil {
		a.t.Fatal(err)
	}
	return listing
}

func (a throughStore) Each(f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error {
	v := a.In(a.t.Context(), a.school)
	return v.Transactions.Each(v, lyceum.TransactionQuery{TransactionFilter: f, Order: o}, visit)
}

// compare compares the list with the naive one.
func (h *history) compare() {
	h.store.Settle(h.place.t, h.school)
	n := func(to int32) int32 { return rapid.Int32Range(0, to).Draw(h.r, "filter") }
	hour := func() time.Time { return begin.Add(time.Duration(n(60)) * time.Hour) }
	all := filters(hour, n)
	r := rand.New(rand.NewPCG(uint64(n(1000)), 1))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	h.check(h.r, throughStore{h.store, h.school, h.place.t}, all[:40])
}
