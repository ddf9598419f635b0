package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// openStore opens a store at a PostgreSQL address or in a data folder.
func openStore(ctx context.Context, place string, o sqlstore.Options) (*sqlstore.Store, error) {
	if sqlstore.IsPostgres(place) {
		return sqlstore.OpenPostgres(ctx, place, o)
	}
	return sqlstore.Open(ctx, place, o)
}

// writersSchools is how many schools the writers write to, and mostWriters the number of
// writers for which there are plans.
const (
	writers        = 8
	writersSchools = 2
	mostWriters    = 192
)

// written is a transaction of a writer. Its row contains all of this, so that a row that was
// written twice, or over another one, is noticed.
type written struct {
	School lyceum.SchoolID
	ID     lyceum.TransactionID
	Round  lyceum.Minor         // of the test; 1, 2, 3, …
	Writer lyceum.PricingPlanID // 1 to mostWriters
	Number int64                // of the writer in the round; 1, 2, 3, …
}

func (w written) String() string {
	return fmt.Sprintln(w.School, w.ID, w.Round, w.Writer, w.Number)
}

func parseWritten(line string) (w written, err error) {
	_, err = fmt.Sscanln(line, &w.School, &w.ID, &w.Round, &w.Writer, &w.Number)
	return w, err
}

func (w written) row(at time.Time) lyceum.Transaction {
	return lyceum.Transaction{
		ID: w.ID, UserID: 1, PricingPlanID: w.Writer, SaleID: lyceum.SaleID(w.ID), CreatedAt: at, PurchasedAt: at,
		Charge: lyceum.USDCents(w.Number), TaxCharge: w.Round, Currency: "USD", Paid: true,
	}
}

func writtenOf(school lyceum.SchoolID, t *lyceum.Transaction) written {
	return written{School: school, ID: t.ID, Round: t.TaxCharge, Writer: t.PricingPlanID, Number: int64(t.Charge)}
}

// prepareWriters creates what the writers' rows refer to.
func prepareWriters(t testing.TB, store *sqlstore.Store) {
	t.Helper()
	for range writersSchools {
		school := storetest.MakeSchool(t, store)
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			var plans []lyceum.PricingPlan
			for id := range lyceum.PricingPlanID(mostWriters) {
				plans = append(plans, lyceum.PricingPlan{
					ID: id + 1, Name: "Plan", Currency: "USD", Frequency: lyceum.Free, CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin,
				})
			}
			_, err := tx.PricingPlans.Save(tx, plans...)
			if err != nil {
				return err
			}
			_, err = tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
			return err
		})
	}
}

// childWriters writes transactions from several goroutines until it is killed, and prints each
// once the store has acknowledged it. Its arguments are the place of the store, the round, the
// first and the last of its writers, and the first and the last of the schools that they write
// to.
func childWriters(args []string) error {
	ctx := context.Background()
	store, err := openStore(ctx, args[0], sqlstore.Options{})
	if err != nil {
		return err
	}
	var round lyceum.Minor
	var first, last lyceum.PricingPlanID
	var from, to lyceum.SchoolID
	if _, err := fmt.Sscan(strings.Join(args[1:], " "), &round, &first, &last, &from, &to); err != nil {
		return err
	}
	failed := make(chan error)
	for writer := first; writer <= last; writer++ {
		go func() {
			school := from + lyceum.SchoolID(writer)%(to-from+1)
			w := written{School: school, Round: round, Writer: writer}
			for w.Number = 1; ; w.Number++ {
				if err := writeOne(ctx, store, &w); err != nil {
					failed <- err
					return
				}
				if _, err := os.Stdout.WriteString(w.String()); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

func writeOne(ctx context.Context, store *sqlstore.Store, w *written) error {
	stamp := lyceum.Stamp{School: w.School, At: storetest.Begin, Actor: "writer"}
	return store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		id, err := tx.Transactions.NextID(tx)
		if err != nil {
			return err
		}
		w.ID = id
		if _, err := tx.Sales.Save(tx, lyceum.Sale{ID: lyceum.SaleID(w.ID), CreatedAt: storetest.Begin}); err != nil {
			return err
		}
		saved, err := tx.Transactions.Save(tx, w.row(storetest.Begin))
		if err == nil && saved.Created != 1 {
			err = fmt.Errorf("id %d was given out twice", id)
		}
		return err
	})
}

// journal is what a test has read of a child's acknowledgements.
type journal struct {
	mu   sync.Mutex
	acks []written
	err  error
	done chan struct{}
}

// startWriters starts the child and reads its acknowledgements until it ends, including those
// that it had written when it was killed. Its last arguments are those of childWriters.
func startWriters(t testing.TB, place string, args ...int) (*process, *journal) {
	t.Helper()
	all := []string{place}
	for _, arg := range args {
		all = append(all, strconv.Itoa(arg))
	}
	cmd := childCommand(t, "writers", all...)
	cmd.Stderr = os.Stderr
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = writer
	child, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.kill(t) })
	_ = writer.Close() // the child has its own
	j := &journal{done: make(chan struct{})}
	go j.read(reader)
	return child, j
}

func (j *journal) read(from io.ReadCloser) {
	defer close(j.done)
	defer from.Close()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		w, err := parseWritten(lines.Text())
		j.mu.Lock()
		j.acks, j.err = append(j.acks, w), errors.Join(j.err, err)
		j.mu.Unlock()
	}
}

func (j *journal) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.acks)
}

// entries returns the acknowledgements read so far.
func (j *journal) entries(t testing.TB) []written {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		t.Fatal(j.err)
	}
	return append([]written(nil), j.acks...)
}

// savedIn returns every transaction of the writers' schools.
func savedIn(t testing.TB, store *sqlstore.Store) map[written]bool {
	t.Helper()
	found := map[written]bool{}
	for school := range lyceum.SchoolID(writersSchools) {
		v := store.In(t.Context(), school+1)
		err := v.Transactions.Each(v, lyceum.TransactionQuery{Order: lyceum.OldestFirst}, func(x *lyceum.Transaction) error {
			found[writtenOf(school+1, x)] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// healthy fails the test if the books are inconsistent, or an entry of a journal is missing or
// duplicate.
func healthy(t testing.TB, store *sqlstore.Store) {
	t.Helper()
	findings, err := store.Check(t.Context())
	if err != nil || len(findings) > 0 {
		t.Fatalf("check found %v, %v", findings, err)
	}
	for school := range lyceum.SchoolID(writersSchools) {
		var last int64
		created := map[int32]bool{}
		for {
			entries, err := storetest.FindEntries(t.Context(), store, school+1, last, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) == 0 {
				break
			}
			for _, e := range entries {
				if last++; e.Type == lyceum.SchoolRestored && e.Number > last { // a restore skips numbers
					last = e.Number
				}
				if e.Number != last {
					t.Fatalf("school %d: entry %d comes after %d", school+1, e.Number, last-1)
				}
				if e.Type == lyceum.TransactionCreated {
					if created[e.ObjectID] {
						t.Fatalf("school %d: transaction %d was created twice", school+1, e.ObjectID)
					}
					created[e.ObjectID] = true
				}
			}
		}
	}
}

// crew is the set of writers that killDuringWrites kills.
type crew struct {
	processes, writers int  // writers is per process
	apart              bool // each process writes to a separate school
	most               int  // the most that are acknowledged before a kill
}

// killDuringWrites repeatedly kills writers at random moments: first one process and, after the
// others have been sent more acknowledgements, those too. Each time it then checks that
// everything acknowledged was stored.
func killDuringWrites(t *testing.T, place string, cycles int, c crew) {
	store, err := openStore(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prepareWriters(t, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []written
	for round := 1; round <= cycles; round++ {
		acknowledged = append(acknowledged, c.killed(t, place, round)...)
		store, err := openStore(t.Context(), place, sqlstore.Options{})
		if err != nil {
			t.Fatalf("cycle %d: open again: %v", round, err)
		}
		found := savedIn(t, store)
		seen, kept := map[written]bool{}, map[written]bool{}
		for _, w := range acknowledged {
			if !found[w] {
				t.Errorf("cycle %d: transaction %+v was acknowledged and is lost", round, w)
			}
			if id := (written{School: w.School, ID: w.ID}); seen[id] {
				t.Errorf("cycle %d: id %d of school %d was acknowledged twice", round, w.ID, w.School)
			} else {
				seen[id] = true
			}
		}
		for w := range found {
			if number := (written{Round: w.Round, Writer: w.Writer, Number: w.Number}); kept[number] {
				t.Errorf("cycle %d: %+v is there twice", round, w)
			} else {
				kept[number] = true
			}
		}
		// Each writer has at most one write that was not acknowledged.
		if most := len(acknowledged) + round*c.processes*c.writers; len(found) > most {
			t.Errorf("cycle %d: %d rows, more than the %d that can be", round, len(found), most)
		}
		healthy(t, store)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d acknowledged transactions, %d cycles, none lost", len(acknowledged), cycles)
}

// killed returns what was acknowledged to the writers of a round, all of which are killed.
func (c crew) killed(t *testing.T, place string, round int) (acknowledged []written) {
	children, journals := make([]*process, c.processes), make([]*journal, c.processes)
	for i := range children {
		from, to := 1, writersSchools
		if c.apart {
			from, to = 1+i, 1+i
		}
		children[i], journals[i] = startWriters(t, place, round, 1+i*c.writers, (i+1)*c.writers, from, to)
	}
	enough := 1 + rand.IntN(c.most)
	for i, child := range children {
		already := journals[i].len()
		if !await(func() bool { return journals[i].len() >= already+enough || !child.running() }) || !child.running() {
			t.Fatalf("cycle %d: the writers of process %d stopped by themselves: %v", round, i, child.err)
		}
		child.kill(t)
		<-journals[i].done
		acknowledged = append(acknowledged, journals[i].entries(t)...)
	}
	return acknowledged
}

// TestR1_KillDuringWrites kills eight writers, and on PostgreSQL two processes with so many
// writers that groups are full: on the same schools, and on a separate school each, whose
// groups then follow one another. LYCEUM_KILLS sets a higher number of kills.
func TestR1_KillDuringWrites(t *testing.T) {
	t.Parallel()
	cycles := func(usual int) int {
		n, _ := strconv.Atoi(os.Getenv("LYCEUM_KILLS"))
		return max(n, usual)
	}
	few := crew{processes: 1, writers: writers, most: 120}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		usual := 20
		if testing.Short() {
			usual = 5
		}
		killDuringWrites(t, t.TempDir(), cycles(usual), few)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killDuringWrites(t, storetest.Postgres(t), cycles(5), few)
	})
	t.Run("postgres, crowded", func(t *testing.T) {
		t.Parallel()
		killDuringWrites(t, storetest.Postgres(t), cycles(3), crew{processes: 2, writers: mostWriters / 2, most: 3000})
	})
	t.Run("postgres, crowded, apart", func(t *testing.T) {
		t.Parallel()
		killDuringWrites(t, storetest.Postgres(t), cycles(3), crew{
			processes: 2, writers: mostWriters / 2, apart: true, most: 3000,
		})
	})
}

// TestR1_KillDuringImport kills an import three times, or fewer if it finishes first. Repeating
// the command resumes the import.
func TestR1_KillDuringImport(t *testing.T) {
	t.Parallel()
	total := 80_000 // eight batches
	if underRace() {
		total = 50_000
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(file, salesFile(total), 0o600); err != nil {
		t.Fatal(err)
	}
	var dir string
	for killed, schools := 0, 0; killed == 0; schools++ {
		if schools == mostSchools {
			t.Fatalf("%d imports ended before they were killed", schools)
		}
		dir = newSchool(t)
		killed = killImports(t, dir, file, total)
	}
	args, before := importOf(file, dir), imported(t, (&shop{place: dir}).look(t))
	got := command(t, args...)
	want := fmt.Sprintf("%d transactions read: %d created, 0 updated, %d unchanged, 0 bad\n", total, total-before, before)
	if got != want {
		t.Errorf("after the kills: %q, want %q", got, want)
	}
	if got, want := command(t, "check", "--data", dir), fmt.Sprintf("school 1, Fernwood: %d transactions, all in order\n", total); got != want {
		t.Errorf("check says %q, want %q", got, want)
	}
	if got, want := command(t, args...), fmt.Sprintf("%d transactions read: 0 created, 0 updated, %[1]d unchanged, 0 bad\n", total); got != want {
		t.Errorf("again: %q, want %q", got, want)
	}
	// The database contains what the file says: newest first, like the export.
	exported := command(t, "export", "transactions", "--data", dir, "--sort-direction", "asc")
	if exported != string(salesFile(total)) {
		t.Error("the export differs from the file")
	}
}

func importOf(file, dir string) []string {
	return []string{"import", "transactions", file, "--data", dir, "--create-missing"}
}

// imported counts the transactions of a database while they are being written.
func imported(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	// An error means that the database is busy; the next poll sees more.
	_ = db.QueryRowContext(t.Context(), "SELECT value FROM counters WHERE school_id = 1 AND name = 'transactions'").Scan(&n)
	return n
}

// killImports kills an import into a folder up to three times, and returns how often it did so
// before the import had finished.
func killImports(t *testing.T, dir, file string, total int) (killed int) {
	t.Helper()
	db := (&shop{place: dir}).look(t)
	for ; killed < 3; killed++ {
		point := imported(t, db) + 1 + rand.IntN(total/10)
		var errs bytes.Buffer
		cmd := exec.Command("lyceum", importOf(file, dir)...)
		cmd.Stderr = &errs
		child, err := launch(cmd)
		if err != nil {
			t.Fatal(err)
		}
		await(func() bool { return imported(t, db) >= point || !child.running() })
		status, err := child.signal(syscall.SIGKILL)
		if err == nil && status == 0 {
			return killed // the import was quicker than this kill
		}
		if err != nil || status != -1 {
			t.Fatalf("the import was not killed with %d rows saved: status %d, %v\n%s", point, status, err, errs.String())
		}
		at := imported(t, db)
		if at < point {
			t.Fatalf("killed with %d of %d rows saved, want at least %d", at, total, point)
		}
		t.Logf("killed with %d rows saved", at)
		command(t, "check", "--data", dir)
		if at >= total {
			return killed // everything but the end of the command was quicker
		}
	}
	return killed
}

// salesFile returns an export of n transactions, oldest first.
func salesFile(n int) []byte {
	var b bytes.Buffer
	b.WriteString("id,user_id,pricing_plan_id,sale_id,created_at,purchased_at,charge,final_price,currency,tax_charge,revenue,status,has_chargeback,chargeback_fee,affiliate_id,affiliate_fees,author_id,author_fees,coupon_id,refunded_at,amount_refunded\n")
	for i := range n {
		at := storetest.Begin.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&b, "%d,%d,%d,%d,%s,%s,1999,1999,USD,0,1899,paid,,,,0,,0,,,0\n", i+1, 2+i%500, 1+i%20, 1+i/2, at, at)
	}
	return b.Bytes()
}
