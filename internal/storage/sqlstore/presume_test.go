package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestComparisonOfPostgreSQL checks that PostgreSQL compares the results of queries with guesses
// as Go does, and that one wrong guess makes the verdict wrong.
func TestComparisonOfPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := openTestPostgres(t).writes
	const text = `SELECT CAST($1 AS int4) AS id, name, bytes, share FROM (VALUES ('a "b\,()', CAST('\x00ff' AS bytea), 0.1::float8),
		(NULL, NULL, NULL), ('', '\x', 1e21)) v (name, bytes, share) WHERE $1 > 0`
	found := func(id int64) [][]any {
		return [][]any{
			{id, `a "b\,()`, []byte{0, 255}, 0.1}, {id, nil, nil, nil}, {id, "", []byte{}, 1e21},
		}
	}
	changed := func(row, column int, to any) [][]any {
		rows := found(7)
		rows[row][column] = to
		return rows
	}
	verdict := func(guesses ...[][]any) (verdict string) {
		t.Helper()
		err := pool.change(t.Context(), false, func(q *session) (bool, error) {
			p := q.link.(*pipeline)
			if p.combinationOf(text).compare == "" {
				return false, nil
			}
			for _, guess := range guesses {
				if err := p.compare([]*lookup{{text: text, args: []any{int64(7)}, guess: guess}, {text: text, args: []any{int64(0)}}}, &verdict); err != nil {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return verdict
	}
	verdict() // learns the text
	if got := verdict(found(7), found(7)); got != right {
		t.Errorf("guessed right: %q", got)
	}
	for name, guesses := range map[string][][][]any{
		"nothing":        {nil},
		"a row less":     {found(7)[:2]},
		"a row more":     {append(found(7), found(7)[0])},
		"another order":  {{found(7)[1], found(7)[0], found(7)[2]}},
		"a number":       {found(8)},
		"a text":         {changed(0, 1, `a "b\,() `)},
		"bytes":          {changed(0, 2, []byte{0})},
		"a fraction":     {changed(0, 3, 0.1000001)},
		"NULL for empty": {changed(2, 1, nil)},
		"empty for NULL": {changed(1, 1, "")},
		"no bytes":       {changed(2, 2, nil)},
		"the first one":  {found(8), found(7)},
		"the last one":   {found(7), found(8)},
	} {
		if got := verdict(guesses...); got != "wrong" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// makePurchase returns a random change for which guesses can be presumed to be right, and now and
// then one for which they cannot.
func makePurchase(r *rand.Rand) *deed {
	plan, id, kind := lyceum.PricingPlanID(1+r.IntN(2)), lyceum.UserID(1+r.IntN(2020)), r.IntN(40)
	price := lyceum.Minor(r.IntN(5))
	return &deed{at: r.IntN(2), do: func(tx lyceum.Tx, found func(string, ...any)) error {
		offer, err := tx.FindOffer(plan, id)
		if err != nil {
			return err
		}
		found("plan %d costs %d, user %d is %t", plan, offer.Plan.Value.Price, id, offer.UserKnown)
		switch kind {
		case 0:
			return errRefused
		case 1: // changes what was guessed
			changed := offer.Plan.Value
			changed.Price = price
			_, err := tx.PricingPlans.Save(tx, changed)
			return err
		case 2:
			last, err := tx.LastEntry()
			found("entry %d", last)
			return err
		}
		switch {
		case kind < 5:
			return makeBuyer(tx, found, kind)
		case kind < 9: // depends on a counter that also falls
			taken, err := tx.CountTaken([]lyceum.PricingPlanID{plan}, nil)
			found("%d taken", taken.Seats[plan])
			if err != nil {
				return err
			}
			if taken.Seats[plan]%2 == 0 {
				if kind < 7 {
					return errRefused
				}
				price++
			}
		case kind < 13: // lets it fall
			ended, err := tx.Sales.Get(tx, lyceum.SaleID(1+int(id)%20))
			if err != nil {
				return err
			}
			ended.EndedAt, ended.EndReason = lyceum.Some(storetest.Begin), lyceum.Some(lyceum.SaleCanceled)
			return tx.Sales.Update(tx, ended)
		}
		sid, err := tx.Sales.NextID(tx)
		if err != nil {
			return err
		}
		found("sale %d", sid)
		sale := lyceum.Sale{
			ID: sid, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin, UpdatedAt: storetest.Begin,
			PricingPlanID: lyceum.Some(plan), FinalPrice: lyceum.Some(price), Currency: lyceum.Some(lyceum.Currency("USD")),
		}
		if err := tx.Sales.Insert(tx, sale); err != nil || !offer.UserKnown {
			return err
		}
		eid, err := tx.Enrollments.NextID(tx)
		if err != nil {
			return err
		}
		begun, err := tx.BeginEnrollment(lyceum.Enrollment{
			ID: eid, User: id, Course: lyceum.CourseID(plan), EnrolledAt: storetest.Begin, Sale: lyceum.Some(sid),
		})
		found("enrollment %d, begun %t", eid, begun)
		return err
	}}
}

func makeBuyer(tx lyceum.Tx, found func(string, ...any), kind int) error {
	buyer, err := tx.Users.NextID(tx)
	if err != nil {
		return err
	}
	found("buyer %d", buyer)
	email := "buyer@example.com" // the database rejects it if it exists
	if kind == 3 {               // differs if the id differs
		email = fmt.Sprintf("buyer-%d@example.com", buyer)
	}
	return tx.Users.Insert(tx, lyceum.User{ID: buyer, Email: email, CreatedAt: storetest.Begin})
}

// openProcesses opens a database for two traced processes, which may be distant from it, and for
// one that is neither traced nor distant.
func openProcesses(t *testing.T, distant bool, trace func(string)) (stores [3]*Store) {
	t.Helper()
	address := storetest.Postgres(t)
	for i := range stores {
		options := Options{}
		if i < 2 {
			options.Trace = trace
		}
		s, err := OpenPostgres(t.Context(), address, options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		s.distant, s.aheadAfter = distant && i < 2, leastStreak
		stores[i] = s
	}
	return stores
}

// makePlans creates pricing plans 1 and 2 for courses 1 and 2.
func makePlans(t *testing.T, s *Store, school lyceum.SchoolID) {
	t.Helper()
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		var plans []lyceum.PricingPlan
		for n := range lyceum.PricingPlanID(2) {
			plans = append(plans, lyceum.PricingPlan{
				ID: n + 1, CourseID: lyceum.Some(lyceum.CourseID(n + 1)), Name: "Plan", Price: 100, Currency: "USD",
				Frequency: lyceum.OneTimePayment, AuthorShare: lyceum.Some(12.5), CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin,
			})
		}
		_, err := tx.PricingPlans.Save(tx, plans...)
		return err
	})
}

// TestGroupsOfTwoProcessesAgree checks that if two processes change the same schools, in groups
// or one by one, each change finds, does and rejects what it would on its own, and reports the
// same. LYCEUM_GROUPS is the number of groups.
func TestGroupsOfTwoProcessesAgree(t *testing.T) {
	t.Parallel()
	for name, distant := range map[string]bool{"distant": true, "near": false} {
		t.Run(name, func(t *testing.T) { t.Parallel(); groupsOfTwoProcessesAgree(t, distant) })
	}
}

func groupsOfTwoProcessesAgree(t *testing.T, distant bool) {
	groups, _ := strconv.Atoi(os.Getenv("LYCEUM_GROUPS"))
	const inSchools = 150 // before most buyers have all courses
	groups = max(groups, inSchools)
	var presumed, counted, written atomic.Int64
	stores := openProcesses(t, distant, func(text string) {
		switch {
		case strings.Contains(text, "set_config('lyceum.counters'"):
			counted.Add(1)
		case strings.Contains(text, "pg_advisory_xact_lock") && strings.Contains(text, "unnest"):
			presumed.Add(1)
		case strings.HasPrefix(text, "INSERT INTO counters") && !strings.Contains(text, ifRight):
			written.Add(1)
		}
	})
	school := func() lyceum.SchoolID {
		id := schoolOfDeeds(t, stores[2])
		storetest.Write(t, stores[2], id, func(tx lyceum.Tx) error {
			var users []lyceum.User
			for n := range lyceum.UserID(2000) {
				users = append(users, lyceum.User{ID: n + 1, Email: fmt.Sprintf("%d@example.com", n), CreatedAt: storetest.Begin})
			}
			_, err := tx.Users.Save(tx, users...)
			return err
		})
		makePlans(t, stores[2], id)
		return id
	}
	seed := rand.Uint64()
	one, other, at := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0)), 0
	for range groups / inSchools {
		a, b := []lyceum.SchoolID{school(), school()}, []lyceum.SchoolID{school(), school()}
		for n := range inSchools {
			if n%50 >= 25 { // one process for a while, then both
				at = 1 - at
			}
			var deeds, alone []*deed
			for range 1 + one.IntN(6) {
				deeds = append(deeds, makePurchase(one))
			}
			for range 1 + other.IntN(6) {
				alone = append(alone, makePurchase(other))
			}
			together(stores[at], deeds, a...)
			for i := range alone {
				stores[2].guesses = guesses{}
				together(stores[2], alone[i:i+1], b...)
			}
			wantAsAlone(t, fmt.Sprintf("seed %d, group %d", seed, n), deeds, alone)
		}
		wantSameState(t, fmt.Sprintf("seed %d", seed), stores[2], a, b)
	}
	ahead := stores[0].writes.ahead.Load() + stores[1].writes.ahead.Load()
	t.Logf("%d groups: %d compared by the database, %d of them but for counters; %d went ahead; %d inserted counters otherwise",
		groups, presumed.Load(), counted.Load(), ahead, written.Load())
	if counted.Load() == 0 || presumed.Load() <= counted.Load() || written.Load() == 0 || distant == (ahead > 0) {
		t.Error("not all ways were taken")
	}
}

// TestPresumedGroupsWriteOnce checks that a group with right guesses is sent in one round trip,
// even if another process has changed counters since, and likewise a single change.
func TestPresumedGroupsWriteOnce(t *testing.T) {
	t.Parallel()
	var unguarded atomic.Int64
	stores := openProcesses(t, true, func(text string) {
		if strings.HasPrefix(text, "INSERT INTO") && !strings.Contains(text, ifRight) {
			unguarded.Add(1)
		}
	})
	school := schoolOfDeeds(t, stores[0])
	makePlans(t, stores[0], school)
	buyers := lyceum.UserID(0)
	for _, test := range []struct {
		name  string
		size  int
		at    []int // the processes, one after the other
		price bool  // the first change of the last group also changes a row
		runs  int   // of a change
	}{
		{"groups", 3, []int{0, 0}, false, 1},
		{"a change alone", 1, []int{0, 0}, false, 1},
		{"an update", 1, []int{0}, true, 1},
		{"groups after another process", 3, []int{1, 0, 1, 0}, false, 3},
		{"a change alone after another process", 1, []int{1, 0}, false, 3},
	} {
		once := func(at int, price bool) (runs int) {
			var deeds []*deed
			for i := range test.size {
				buyers++
				id := buyers
				deeds = append(deeds, &deed{do: func(tx lyceum.Tx, found func(string, ...any)) error {
					runs++
					offer, err := tx.FindOffer(1, 1)
					if err != nil {
						return err
					}
					if price && i == 0 {
						offer.Plan.Value.Price += lyceum.Minor(id)
						if err := tx.PricingPlans.Update(tx, offer.Plan.Value); err != nil {
							return err
						}
					}
					bid, err := tx.Blocks.NextID(tx)
					found("%d is %d", id, bid)
					if err != nil {
						return err
					}
					return tx.Blocks.Insert(tx, lyceum.Block{
						ID: bid, User: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: int32(id)}, CreatedAt: storetest.Begin,
					})
				}})
			}
			together(stores[at], deeds, school)
			for i, d := range deeds {
				if want := fmt.Sprintf("%d is %d", int(buyers)-test.size+i+1, int(buyers)-test.size+i+1); d.failed || !slices.Equal(d.found, []string{want}) {
					t.Errorf("%s: %q, %v, want %q", test.name, d.found, d.reason, want)
				}
			}
			return runs
		}
		if err := addUser(stores[0], school, 1); err != nil && buyers == 0 {
			t.Fatal(err)
		}
		for range 2 * (leastStreak + 1) {
			for _, at := range test.at {
				once(at, false)
			}
		}
		before := unguarded.Load()
		for _, at := range test.at {
			if runs := once(at, test.price); runs != test.runs*test.size {
				t.Errorf("%s: %d runs of %d changes, want %d of each", test.name, runs, test.size, test.runs)
			}
		}
		if n := unguarded.Load() - before; n > 0 {
			t.Errorf("%s: %d inserts without a condition", test.name, n)
		}
	}
}

// TestProvisionalCountersAreChecked checks that a change that does not follow its counters is not
// reported as written, and that counters that went back are not taken for those that were known.
func TestProvisionalCountersAreChecked(t *testing.T) {
	t.Parallel()
	stores := openProcesses(t, true, func(string) {})
	school := schoolOfDeeds(t, stores[2])
	makePlans(t, stores[2], school)
	if err := addUser(stores[2], school, 1); err != nil {
		t.Fatal(err)
	}
	setCounter := func(n int) {
		t.Helper()
		_, err := stores[2].writes.db.ExecContext(t.Context(), "INSERT INTO counters (school_id, name, value) VALUES ($1, 'block_id', $2) "+
			"ON CONFLICT (school_id, name) DO UPDATE SET value = excluded.value", int64(school), n)
		if err != nil {
			t.Fatal(err)
		}
	}
	product := int32(0)
	block := func(at int, id lyceum.BlockID, odd func(lyceum.BlockID) int32) *deed {
		product++
		of := product * 2
		d := &deed{do: func(tx lyceum.Tx, found func(string, ...any)) (err error) {
			id := id
			if _, err = tx.FindOffer(1, 1); err == nil && id == 0 {
				id, err = tx.Blocks.NextID(tx)
			}
			if err != nil {
				return err
			}
			b := lyceum.Block{
				ID: id, User: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: of + odd(id)}, CreatedAt: storetest.Begin,
			}
			found("product %d", b.Product.ID)
			_, err = tx.Blocks.Save(tx, b)
			return err
		}}
		together(stores[at], []*deed{d}, school)
		return d
	}
	none := func(lyceum.BlockID) int32 { return 0 }
	ofID := func(id lyceum.BlockID) int32 { return int32(id) % 2 }
	setCounter(1001)
	for n := range 10 { // both ways, so that everything is trusted
		block(n%2, 0, none)
	}
	// The last id of process 0 was 1010 and that of the other one 1011. By the known and the
	// provisional counter, the next id is expected to be odd, but it is 1012.
	if d := block(0, 0, ofID); !d.unknown {
		t.Errorf("a change that goes by whether its id is odd: %q, %v; want that its outcome is unknown", d.found, d.reason)
	}
	for n := range 10 {
		if d := block(n%2, lyceum.BlockID(n+1), none); d.failed {
			t.Fatal(d.reason)
		}
	}
	setCounter(500)
	if d := block(0, 700, none); d.failed {
		t.Fatal(d.reason)
	}
	var kept int
	err := stores[2].writes.db.QueryRowContext(t.Context(),
		"SELECT value FROM counters WHERE school_id = $1 AND name = 'block_id'", int64(school)).Scan(&kept)
	if err != nil || kept != 700 {
		t.Errorf("the counter is %d, %v; want that of the highest id, 700", kept, err)
	}
}
