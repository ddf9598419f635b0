package sales_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
)

// There are few random histories here; -rapid.checks sets another number.
var _ = flag.Set("rapid.checks", "30")

// TestAccessIsTheUnion generates random histories of sales, renewals, failed payments, lapses,
// changes of plan, refunds, chargebacks, cancellations, enrollments and gifts by hand, imports
// and moves of the clock. After each step everybody's access must equal what a naive model
// predicts, and so must the preview of the step. LYCEUM_HISTORIES sets a higher number of
// histories.
func TestAccessIsTheUnion(t *testing.T) {
	const perStore = 10
	var store lyceum.Store
	histories, steps, previews, seen := 0, 0, 0, map[string]int{}
	want, _ := strconv.Atoi(cmp.Or(os.Getenv("LYCEUM_HISTORIES"), "0"))
	for more := true; more; more = histories < want {
		rapid.Check(t, func(r *rapid.T) {
			if histories%perStore == 0 {
				store = historyStore(t)
			}
			b := openBooks(t, store)
			if err := b.learning.Expire(t.Context(), b.school); err != nil { // starting now
				r.Fatal(err)
			}
			m := &union{b: b, r: r, told: map[string]int{}, seen: seen}
			m.open(t)
			for range rapid.IntRange(50, 60).Draw(r, "steps") {
				m.step(t)
				m.compare(t)
				steps++
			}
			m.compareEvents(t)
			b.healthy(r, store)
			histories, previews = histories+1, previews+m.previews
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d histories, %d steps, %d previews, 0 mismatches; among them %v", histories, steps, previews, seen)
}

// reason is why somebody has access, in the simplest form.
type reason struct {
	user     lyceum.UserID
	course   lyceum.CourseID // 0: through the bundle or the tier
	bundle   bool
	tier     bool
	silver   bool // the other tier
	sale     lyceum.SaleID
	imported bool
	start    time.Time
	end      time.Time // zero: no end
	ended    lyceum.EntitlementEnd
}

func (x *reason) open(now time.Time) bool {
	return x.ended == "" && (x.end.IsZero() || now.Before(x.end))
}

type union struct {
	b       *books
	r       *rapid.T
	reasons []*reason
	deals   []*deal
	told    map[string]int // what must have been announced, by event, user and course
	was     map[[2]int32]bool
	bundle  map[lyceum.CourseID]bool      // what the collection contains
	tier    map[lyceum.CourseID]bool      // what the tier contains in addition to the collection
	left    map[lyceum.CourseID][]*reason // through the collection, which it was removed from
	blocks  map[[2]int32]bool
	pending bool              // enrollments do not reflect yet what was added or removed
	quiet   map[[2]int32]bool // opened or closed by an import, which may or may not be announced
	coached map[lyceum.UserID]bool

	zone       *time.Location
	policy     lyceum.SalePolicy
	references int
	imports    int
	silently   bool                          // changes are not announced
	yearly     map[lyceum.PricingPlanID]bool // of plans that were monthly

	previews int
	seen     map[string]int // how often something happened
}

// open creates the collection with course 1, sold by plan 8, and a tier with course 2 and the
// collection, sold monthly by plan 9.
func (m *union) open(t *testing.T) {
	err := m.b.store.Write(t.Context(), m.b.by().Stamp(m.b.now), func(tx lyceum.Tx) error {
		at := m.b.now
		_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: at, UpdatedAt: at})
		_, e2 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club", CreatedAt: at, UpdatedAt: at})
		_, e3 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1, CreatedAt: at, UpdatedAt: at})
		bundle, tier := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}, lyceum.Product{Kind: lyceum.TierKind, ID: 1}
		_, e4 := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product(), CreatedAt: at})
		_, e5 := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 1, In: 1, Product: lyceum.CourseID(2).Product(), CreatedAt: at},
			lyceum.TierProduct{ID: 2, In: 1, Product: bundle, CreatedAt: at})
		_, e6 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 8, Other: some(bundle), Name: "All", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment},
			lyceum.PricingPlan{ID: 9, Other: some(tier), Name: "Gold", Price: 900, Currency: "USD", Frequency: lyceum.Subscription})
		return errors.Join(e1, e2, e3, e4, e5, e6)
	})
	if err != nil {
		m.r.Fatal(err)
	}
	m.openTiers(t)
	m.begin(t)
}

// of returns the union of a user's reasons for a course.
func (m *union) of(user lyceum.UserID, course lyceum.CourseID) (start, end time.Time, open bool) {
	forever := false
	for _, x := range m.reasons {
		if !m.leads(x, user, course) || !x.open(m.b.now) || m.shutOut(x, course) || m.blocks[[2]int32{int32(user), int32(course)}] {
			continue
		}
		if !open || x.start.Before(start) {
			start = x.start
		}
		forever = forever || x.end.IsZero()
		if x.end.After(end) {
			end = x.end
		}
		open = true
	}
	if forever {
		end = time.Time{}
	}
	return start, end, open
}

// leads reports whether a reason gives a user access to a course. The tier contains the
// collection.
func (m *union) leads(x *reason, user lyceum.UserID, course lyceum.CourseID) bool {
	return x.user == user && (x.course == course || (x.bundle || x.tier) && m.bundle[course] || x.tier && m.tier[course] ||
		x.silver && (course == 1 || course == coach))
}

// note records which access opened or closed since the last call.
func (m *union) note() {
	for user := int32(1); user <= 3; user++ {
		for course := int32(1); course <= 2; course++ {
			key := [2]int32{user, course}
			_, _, open := m.of(lyceum.UserID(user), lyceum.CourseID(course))
			if open != m.was[key] && !m.silently {
				event := lyceum.EnrollmentDisabledEvent
				if open {
					event = lyceum.EnrollmentCreatedEvent
				}
				m.told[fmt.Sprint(event, " ", user, " ", course)]++
			}
			m.was[key] = open
		}
	}
	m.noteCoaching()
}

func (m *union) step(t *testing.T) {
	if m.was == nil {
		m.was, m.quiet, m.blocks = map[[2]int32]bool{}, map[[2]int32]bool{}, map[[2]int32]bool{}
		m.bundle, m.tier = map[lyceum.CourseID]bool{1: true}, map[lyceum.CourseID]bool{2: true}
		m.left = map[lyceum.CourseID][]*reason{}
	}
	ctx, b, r := t.Context(), m.b, m.r
	b.now = b.now.Add(time.Duration(rapid.IntRange(1, 25*24*3600).Draw(r, "seconds")) * time.Second)
	m.note()
	user := lyceum.UserID(rapid.IntRange(1, 3).Draw(r, "user"))
	course := lyceum.CourseID(rapid.IntRange(1, 2).Draw(r, "course"))
	switch rapid.IntRange(0, 15+planSteps).Draw(r, "step") {
	case 0, 1, 2:
		m.sell(t, user)
	case 3:
		m.refund(t)
	case 4:
		m.bank(t)
	case 5:
		m.cancel(t)
	case 6:
		if err := b.learning.Enroll(ctx, b.by(), user, course); err != nil {
			r.Fatal(err)
		}
		if _, _, open := m.of(user, course); !open {
			m.reasons = append(m.reasons, &reason{user: user, course: course, start: b.now})
			m.unblock(user, course)
		}
	case 7:
		m.unenroll(t, user, course)
	case 8:
		m.importEnrollment(t, user, course)
	case 9:
		m.importSales(t)
	case 10:
		m.turn(t)
	case 11:
		m.include(t, course)
	case 12:
		m.settle(t)
	case 13:
		m.void(t)
	case 14:
		m.give(t, user)
	case 15:
		m.unenrollFrom(t, user)
	default:
		m.planStep(t, user)
	}
	m.note()
}
