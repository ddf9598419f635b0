package sqlstore

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// makeSale makes up a change that mostly queries what is known: a sale, and now and then a
// rejection, a new price or a user.
func makeSale(r *rand.Rand) *deed {
	plan, user, price, kind := lyceum.PricingPlanID(1+r.IntN(2)), lyceum.UserID(1+r.IntN(4)), r.IntN(5), r.IntN(20)
	d := &deed{}
	d.do = func(tx lyceum.Tx, found func(string, ...any)) (err error) {
		if d.place, err = tx.LastEntry(); err != nil {
			return err
		}
		offer, err := tx.FindOffer(plan, user)
		if err != nil {
			return err
		}
		found("plan %d costs %d, user %d is %t", plan, offer.Plan.Value.Price, user, offer.UserKnown)
		switch kind {
		case 0:
			return errRefused
		case 1:
			offer.Plan.Value.Price = lyceum.Minor(price)
			tx.Note(lyceum.PricingPlanUpdated, int32(plan))
			return tx.PricingPlans.Update(tx, offer.Plan.Value)
		case 2:
			tx.Note(lyceum.UserCreated, 1)
			return makeBuyer(tx, found, 2) // which the database rejects for the whole group
		}
		id, err := tx.Sales.NextID(tx)
		if err != nil {
			return err
		}
		found("sale %d", id)
		tx.Note(lyceum.CouponCreated, int32(id))
		return tx.Sales.Insert(tx, lyceum.Sale{
			ID: id, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin, UpdatedAt: storetest.Begin, UserID: lyceum.Some(user),
			PricingPlanID: lyceum.Some(plan), FinalPrice: lyceum.Some(offer.Plan.Value.Price), Currency: lyceum.Some(lyceum.Currency("USD")),
		})
	}
	return d
}

// inHand is how many groups, of one school each, the writers are working on.
func (l *queue) inHand() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, h := range l.taken {
		for ; h != nil; h = h.before {
			n++
		}
	}
	return n
}

// TestGroupsThatFollowAgree checks that, if groups of a school follow one another before they
// are committed, and another process makes their guesses wrong now and then, each change
// finds, does and rejects what it would alone, after those before it. LYCEUM_GROUPS is the
// number of deeds per caller.
func TestGroupsThatFollowAgree(t *testing.T) {
	t.Parallel()
	const callers, least, rounds = 12, 30, 50
	each, _ := strconv.Atoi(os.Getenv("LYCEUM_GROUPS"))
	each = max(each, least)
	var followed atomic.Int64
	var of atomic.Pointer[queue]
	stores := openProcesses(t, false, func(text string) {
		if l := of.Load(); l != nil && strings.Contains(text, "pg_advisory_xact_lock") && l.inHand() > 1 {
			followed.Add(1)
		}
	})
	s := stores[0]
	s.queue.leastFollowing = 1
	of.Store(s.queue)
	seed := rand.Uint64()
	makeDeed := func(n int) *deed { return makeSale(rand.New(rand.NewPCG(seed, uint64(n)))) }
	var schools []lyceum.SchoolID
	for range 2 {
		school := schoolOfDeeds(t, stores[2])
		makePlans(t, stores[2], school)
		for id := range lyceum.UserID(4) {
			if err := addUser(stores[2], school, id+1); err != nil {
				t.Fatal(err)
			}
		}
		schools = append(schools, school)
	}
	a, b := schools[0], schools[1]
	var deeds []*deed
	run := func(s *Store, d *deed) { d.end(s, s.submit(t.Context(), d.in(s, a))) }
	for round := 0; round < rounds && followed.Load() == 0; round++ { // callers need not come at the same time
		var group sync.WaitGroup
		for caller := range callers {
			own := make([]*deed, each)
			for n := range own {
				own[n] = makeDeed(len(deeds) + n)
			}
			deeds = append(deeds, own...)
			group.Go(func() {
				for n, d := range own {
					at := s
					if caller == 0 && n%10 == 9 {
						at = stores[1]
					}
					run(at, d)
				}
			})
		}
		group.Wait()
	}
	order := make([]int, len(deeds))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { // a rejected one has the same place as the next one
		return cmp.Or(cmp.Compare(deeds[i].place, deeds[j].place), cmp.Compare(deeds[i].last, deeds[j].last))
	})
	for _, i := range order {
		alone := makeDeed(i)
		together(stores[2], []*deed{alone}, b)
		wantAsAlone(t, fmt.Sprintf("seed %d, deed %d after entry %d", seed, i, deeds[i].place), deeds[i:i+1], []*deed{alone})
	}
	wantSameState(t, fmt.Sprintf("seed %d", seed), stores[2], schools[:1], schools[1:])
	ahead := s.writes.ahead.Load()
	t.Logf("%d deeds: %d groups went ahead, %d followed one that was not committed", len(deeds), ahead, followed.Load())
	if followed.Load() == 0 {
		t.Error("no group followed another one")
	}
}

// prepareTwo leaves the store with two connections, which have prepared the statements that
// one of them had and the statement for the turn of a group that follows.
func prepareTwo(t *testing.T, s *Store) {
	t.Helper()
	s.writes.db.SetMaxOpenConns(2)
	err := s.writes.onPostgres(t.Context(), "BEGIN", func(one *pipeline) error {
		return s.writes.onPostgres(t.Context(), "BEGIN", func(other *pipeline) error {
			texts := []string{s.dialect.turn}
			for _, p := range []*pipeline{one, other} {
				texts = slices.AppendSeq(texts, maps.Keys(p.ofConnection().of))
			}
			one.mayBeOutstanding(texts...)
			other.mayBeOutstanding(texts...)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// soldAhead is a sale and its outcome.
type soldAhead struct {
	id    lyceum.SaleID
	price lyceum.Minor
	err   error
}

// sellAhead sells plan 1 to user 1, and counts how often that runs.
func sellAhead(t *testing.T, s *Store, school lyceum.SchoolID, runs *atomic.Int64) (sold soldAhead) {
	sold.err = s.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
		runs.Add(1)
		offer, err := tx.FindOffer(1, 1)
		if err != nil {
			return err
		}
		sold.price = offer.Plan.Value.Price
		if sold.id, err = tx.Sales.NextID(tx); err != nil {
			return err
		}
		return tx.Sales.Insert(tx, lyceum.Sale{
			ID: sold.id, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin, UpdatedAt: storetest.Begin,
		})
	})
	return sold
}

// prepareFollowers returns a store in which the sales of sellAhead go ahead, so that each may be
// followed by another, and the last sale.
func prepareFollowers(t *testing.T) (s *Store, school lyceum.SchoolID, last lyceum.SaleID) {
	t.Helper()
	s = openProcesses(t, false, func(string) {})[0]
	s.queue.leastFollowing, s.hastyTurn = 1, s.dialect.hasty(s.dialect.turn, time.Minute, time.Minute)
	school = schoolOfDeeds(t, s)
	makePlans(t, s, school)
	if err := addUser(s, school, 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all statements of a sale that goes ahead are prepared", func() bool {
		last = sellAhead(t, s, school, new(atomic.Int64)).id
		return s.writes.ahead.Load() == 4
	})
	prepareTwo(t, s)
	return s, school, last
}

// another returns another connection to the database of a store, and a function that runs statements
// on it.
func another(t *testing.T, s *Store) (conn *sql.Conn, run func(text string, args ...any)) {
	t.Helper()
	conn, err := s.reads.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, func(text string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoGroupOvertakes checks that a change does not follow one that still waits for its turn: it
// could take the turn first, and would find its guesses wrong.
func TestNoGroupOvertakes(t *testing.T) {
	t.Parallel()
	const polls = 100
	s, school, last := prepareFollowers(t)
	_, run := another(t, s)
	run("BEGIN")
	run(s.dialect.turn, int64(school))
	var runs atomic.Int64
	var sales [2]chan soldAhead
	for i := range sales {
		sales[i] = make(chan soldAhead, 1)
		go func() { sales[i] <- sellAhead(t, s, school, &runs) }()
		eventually(t, "a sale waits: the first one for its turn, the second one for the first", func() bool {
			s.queue.mu.Lock()
			defer s.queue.mu.Unlock()
			return s.queue.taken[school] != nil && len(s.queue.waiting[school]) == i
		})
	}
	for range polls {
		if run("SELECT 1"); s.queue.inHand() != 1 {
			t.Fatal("a change followed one that waits for its turn")
		}
	}
	run("COMMIT")
	if first, second := <-sales[0], <-sales[1]; first != (soldAhead{last + 1, 100, nil}) || second != (soldAhead{last + 2, 100, nil}) {
		t.Errorf("the sales are %v and %v, want %d and %d at 100", first, second, last+1, last+2)
	}
	if runs.Load() != 2 {
		t.Errorf("they ran %d times, want 2", runs.Load())
	}
}

// TestFollowers checks that a change that follows one whose commit was sent knows what that one
// did, and takes the outcome of that one into account.
func TestFollowers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		end     string       // runs before the first one can write: a statement with the school and the session of the first one
		price   lyceum.Minor // of the second one
		refused bool         // the first one
		runs    int
	}{
		{"guessed right", "SELECT $1::int, $2::int", 100, false, 2},
		{"guessed wrong", "UPDATE pricing_plans SET price = 300 WHERE school_id = $1 AND $2::int > 0", 300, false, 0},
		{"connection lost", "SELECT $1::int, pg_terminate_backend($2)", 100, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, school, last := prepareFollowers(t)
			var runs atomic.Int64
			before := s.writes.ahead.Load()
			conn, run := another(t, s)
			run("BEGIN")
			run("LOCK TABLE sales IN SHARE MODE")
			var sales [2]chan soldAhead
			var session int64
			for i, wait := range []string{"relation", "advisory"} {
				sales[i] = make(chan soldAhead, 1)
				go func() { sales[i] <- sellAhead(t, s, school, &runs) }()
				eventually(t, "a sale waits in the database: the first one to write, the second one for its turn", func() bool {
					var waits int64
					err := conn.QueryRowContext(t.Context(), `SELECT pid FROM pg_stat_activity
						WHERE datname = current_database() AND wait_event = $1`, wait).Scan(&waits)
					if i == 0 {
						session = waits
					}
					return err == nil && s.queue.inHand() == i+1 && s.writes.ahead.Load() == before+int64(i+1)
				})
			}
			run(test.end, int64(school), session)
			run("COMMIT")
			first, second := <-sales[0], <-sales[1]
			if failed := first.err != nil; failed != test.refused || second.err != nil {
				t.Fatalf("they end with %v and %v", first.err, second.err)
			}
			got, want := []soldAhead{first, second}, []soldAhead{{last + 1, 100, nil}, {last + 2, test.price, nil}}
			if test.refused {
				got, want = got[1:], want[:1]
			}
			slices.SortFunc(got, func(a, b soldAhead) int { return cmp.Compare(a.id, b.id) }) // those that run again do so in any order
			if !slices.Equal(got, want) {
				t.Errorf("the sales are %v, want %v", got, want)
			}
			if test.runs > 0 && runs.Load() != int64(test.runs) {
				t.Errorf("they ran %d times, want %d", runs.Load(), test.runs)
			}
			if s.guesses.shared(school) {
				t.Error("another process seems to change the school")
			}
			if s.queue.inHand() > 0 {
				t.Error("a group is still in hand")
			}
			if follow, want := s.queue.halved[school], test.runs > 0; follow != want {
				t.Errorf("the next groups are to follow one another: %t, want %t", follow, want)
			}
		})
	}
}
