package sqlstore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// makeSale makes up a change that mostly asks what is known: a sale, and now and then a refusal, a new
// price or a user.
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
			return makeBuyer(tx, found, 2) // which the database refuses for all of its group
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

// inHand is how many groups writers have.
func (l *queue) inHand() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.hands)
}

// TestGroupsThatFollowAgree: where groups of a school follow one another before they are committed, and
// another process makes their guesses wrong now and then, each change finds, does and refuses what it
// would if it were alone, after those that came before it. LYCEUM_GROUPS is the number of deeds of each
// caller.
func TestGroupsThatFollowAgree(t *testing.T) {
	t.Parallel()
	const callers, least = 12, 30
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
	deeds := make([]*deed, callers*each)
	for i := range deeds {
		deeds[i] = makeDeed(i)
	}
	run := func(s *Store, d *deed) { d.end(s, s.submit(t.Context(), d.in(s, a))) }
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for n := range each {
				at := s
				if caller == 0 && n%10 == 9 {
					at = stores[1]
				}
				run(at, deeds[caller*each+n])
			}
		})
	}
	group.Wait()
	order := make([]int, len(deeds))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { // one that is refused leaves the next one its place
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
