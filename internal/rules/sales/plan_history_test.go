package sales_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// historyStore opens a store for histories: PostgreSQL, used by one or two processes, if
// LYCEUM_HISTORIES_ON says so.
func historyStore(t *testing.T) lyceum.Store {
	t.Helper()
	on := os.Getenv("LYCEUM_HISTORIES_ON")
	if on == "" || on == "SQLite" {
		return openStore(t)
	}
	address := storetest.Postgres(t)
	open := func() lyceum.Store {
		store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		store.IndexLists(16 << 20) // as a server does
		return store
	}
	if on == "processes" {
		return storetest.Pair(open(), open())
	}
	return open()
}

// follower is what the model knows about a sale besides its money: which sales follow each
// other, and whether it has stopped.
type follower struct {
	replaces, replacedBy *deal
	next                 lyceum.PricingPlanID // from the end of the period on
	stopsAt              time.Time            // if still to come
	stopped, told        bool                 // and webhooks were notified
	toStop               bool                 // somebody has to stop charging it
}

// stop makes a sale stop being active; nothing more is paid for it.
func (d *deal) stop(at, now time.Time) {
	d.next = 0
	switch {
	case !d.recurring():
	case !at.After(now):
		d.told = d.told || !d.stopped
		d.stopped, d.stopsAt = true, time.Time{}
	case d.stopsAt.IsZero() || at.Before(d.stopsAt):
		d.stopsAt = at
	}
}

// coach is the ID of the coaching that comes with tier 2. The model treats it as a course.
const coach = 3

// openTiers creates tier 2 with course 1 and coaching, sold monthly by plan 10, and another
// plan of tier 1, yearly.
func (m *union) openTiers(t *testing.T) {
	err := m.b.store.Write(t.Context(), m.b.by().Stamp(m.b.now), func(tx lyceum.Tx) error {
		at, coaching := m.b.now, lyceum.Product{Kind: lyceum.CoachingKind, ID: coach}
		tier := func(id int32) lyceum.Opt[lyceum.Product] { return some(lyceum.Product{Kind: lyceum.TierKind, ID: id}) }
		_, e1 := tx.Coaching.Save(tx, lyceum.Coaching{ID: coach, Name: "An hour", CreatedAt: at, UpdatedAt: at})
		_, e2 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 2, MembershipID: 1, Name: "Silver", Position: 2, CreatedAt: at, UpdatedAt: at})
		_, e3 := tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 11, In: 2, Product: lyceum.CourseID(1).Product(), CreatedAt: at},
			lyceum.TierProduct{ID: 12, In: 2, Product: coaching, CreatedAt: at})
		_, e4 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 10, Other: tier(2), Name: "Silver", Price: 500, Currency: "USD", Frequency: lyceum.Subscription},
			lyceum.PricingPlan{ID: 11, Other: tier(1), Name: "Gold, yearly", Price: 9000, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: some("year"), BillingIntervalCount: some(int32(1))},
			lyceum.PricingPlan{ID: 12, CourseID: some(lyceum.CourseID(1)), Name: "In parts", Price: 1000, Currency: "USD", Frequency: lyceum.PaymentPlan, Payments: some(int32(partPayments))})
		return errors.Join(e1, e2, e3, e4)
	})
	if err != nil {
		m.r.Fatal(err)
	}
	m.coached, m.yearly = map[lyceum.UserID]bool{}, map[lyceum.PricingPlanID]bool{}
}

// purchase returns a purchase of a plan. It has a reference, so that it is recorded even if
// something about it does not fit.
func (m *union) purchase(user lyceum.UserID, plan lyceum.PricingPlanID) sales.NewSale {
	n := sales.NewSale{User: user, Plan: plan, Reference: m.reference()}
	n.Charge = euros(plan)
	if plan == 6 && rapid.Bool().Draw(m.r, "trial") {
		n.FinalPrice = some(lyceum.Minor(0))
	}
	return n
}

// reference returns the reference of a payment that has not been reported before.
func (m *union) reference() lyceum.Opt[string] {
	m.references++
	return some(fmt.Sprint("ch_", m.references))
}

// families lists the plans that can follow each other.
var families = [][]lyceum.PricingPlanID{{1, 2, 6, 12}, {9, 10, 11}}

// planSteps is the number of steps that planStep has.
const planSteps = 18

func (m *union) planStep(t *testing.T, user lyceum.UserID) {
	switch rapid.IntRange(1, planSteps).Draw(m.r, "plan step") {
	case 1:
		m.changeNow(t)
	case 2:
		m.changeLater(t)
	case 3:
		m.dropChange(t)
	case 4:
		m.restart()
		m.turn(t)
	case 12, 13:
		m.move()
		m.turn(t)
	case 14:
		m.move()
		m.renew(t)
	case 15, 16:
		m.fail(t)
	case 17:
		m.move()
		m.fail(t)
	case 18:
		m.changeTerms(t)
	case 5:
		m.buyTier(t, user)
	case 6, 7, 8:
		m.renew(t)
	case 9:
		m.choose(t)
	case 10:
		m.confirm(t)
	case 11:
		m.importSale(t, user)
	}
}

// otherTier reports whether a sale other than except gives a user a tier other than the plan's.
func (m *union) otherTier(user lyceum.UserID, plan lyceum.PricingPlanID, except *deal) bool {
	return slices.ContainsFunc(m.reasons, func(x *reason) bool {
		return x.user == user && x.open(m.b.now) && (plan == 10 && x.tier || (plan == 9 || plan == 11) && x.silver) &&
			slices.ContainsFunc(m.deals, func(d *deal) bool { return d.id == x.sale && d.over == "" && d != except })
	})
}

// mayChange reports whether a sale can change to a plan.
func (d *deal) mayChange(plan lyceum.PricingPlanID) bool {
	return d.recurring() && d.over == "" && !d.full && plan != d.plan && slices.ContainsFunc(families, func(f []lyceum.PricingPlanID) bool {
		return slices.Contains(f, plan) && slices.Contains(f, d.plan)
	})
}

func (m *union) drawPlan() lyceum.PricingPlanID {
	return lyceum.PricingPlanID(rapid.SampledFrom([]int{1, 2, 6, 9, 10, 11, 12}).Draw(m.r, "next plan"))
}

// changeNow changes the plan of a sale immediately.
func (m *union) changeNow(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	plan := m.drawPlan()
	warned := m.otherTier(d.user, plan, d)
	q := sales.PlanChange{Ending: m.ending(d), NewSale: m.purchase(0, plan)}
	try(m, t, "change of plan", q, m.b.service.PreviewChangePlan, m.b.service.ChangePlan, func(fresh sales.SaleDetail, err error) {
		if (err == nil) != d.mayChange(plan) {
			m.r.Fatalf("change %+v to %d: %v", d, plan, err)
		}
		if err == nil {
			m.warned(fresh, warned)
			m.followed(d, m.sold(fresh), q.ChargingStopped)
		}
	})
}

func (m *union) warned(d sales.SaleDetail, want bool) {
	if got := slices.ContainsFunc(d.Warnings, func(w lyceum.SaleWarning) bool { return w.Code == "second_tier" }); got != want {
		m.r.Fatalf("sale %d is warned about: %v, want %v", d.ID, d.Warnings, want)
	}
}

func (m *union) followed(d, fresh *deal, stopped bool) {
	d.replacedBy, fresh.replaces = fresh, d
	m.over(d, lyceum.SaleChanged, m.b.now)
	d.toStop = d.toStop && !stopped
}

// changeLater schedules a change for the end of the period.
func (m *union) changeLater(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	plan := m.drawPlan()
	q := sales.PlanChange{Ending: sales.Ending{Sale: d.id}, AtPeriodEnd: true, NewSale: sales.NewSale{Plan: plan}}
	try(m, t, "change of plan later", q, m.b.service.PreviewChangePlan, m.b.service.ChangePlan, func(_ sales.SaleDetail, err error) {
		allowed := d.mayChange(plan) && plan != 1 && d.until.After(m.b.now) && !m.otherTier(d.user, plan, d)
		if (err == nil) != allowed {
			m.r.Fatalf("change %+v to %d later: %v", d, plan, err)
		}
		if err == nil {
			d.next = plan
		}
	})
}

func (m *union) dropChange(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	err := m.b.service.DropChange(t.Context(), m.b.by(), d.id)
	if (err == nil) != (d.replacedBy == nil) {
		m.r.Fatalf("drop the change of %+v: %v", d, err)
	}
	if err == nil {
		d.next = 0
	}
}

// buyTier buys a tier, whether or not the user already has another one.
func (m *union) buyTier(t *testing.T, user lyceum.UserID) {
	plan := lyceum.PricingPlanID(rapid.IntRange(9, 11).Draw(m.r, "tier"))
	warned := m.otherTier(user, plan, nil)
	d, err := m.b.service.Record(t.Context(), m.b.by(), m.purchase(user, plan))
	if err != nil {
		m.r.Fatal(err)
	}
	m.warned(d, warned)
	m.sold(d)
}

// reopen reopens the sale that d replaced, now that d is refunded in full. If that sale was
// refunded in full before, the one that it replaced opens.
func (m *union) reopen(d *deal) {
	if d.over != "" && d.over != lyceum.SaleRefunded {
		return
	}
	old := d.replaces
	for ; old != nil && old.replacedBy == d && old.refundedWhole(); d, old = old, old.replaces {
		m.seen["refunds of sales that replaced refunded ones"]++
	}
	if old == nil || old.replacedBy != d || old.lostAny() {
		return
	}
	kept := *old
	old.over, old.ended = "", time.Time{}
	if m.count(old); !old.full && !old.until.After(m.b.now) {
		*old = kept
		return
	}
	m.comeBack(old, lyceum.EndedByChange)
}

// noteCoaching records whose coaching opened or closed since the last call.
func (m *union) noteCoaching() {
	for user := lyceum.UserID(1); user <= 3; user++ {
		_, _, open := m.of(user, coach)
		switch {
		case m.silently:
		case open && !m.coached[user]:
			m.told[fmt.Sprint(lyceum.AdmissionCreatedEvent, " user ", user)]++
		case !open && m.coached[user]:
			m.told[fmt.Sprint(lyceum.AdmissionDisabledEvent, " user ", user)]++
		}
		m.coached[user] = open
	}
}

func (m *union) compareCoaching(v lyceum.View) {
	for user := lyceum.UserID(1); user <= 3; user++ {
		_, _, want := m.of(user, coach)
		_, open, err := v.Access.First(v, lyceum.EntitlementFilter{
			User: some(user), Products: []lyceum.Product{{Kind: lyceum.CoachingKind, ID: coach}}, OpenAt: some(m.b.now),
		})
		if err != nil || open != want {
			m.r.Fatalf("user %d has coaching: %v, the model says %v: %v", user, open, want, err)
		}
	}
}

// comparePlans compares the announcements of stops and of coaching with the model, and what
// each sale says about the others.
func (m *union) comparePlans(t *testing.T, v lyceum.View, got map[string]int) {
	for _, d := range m.deals {
		want := 0
		if d.told {
			want = 1
		}
		if n := got[fmt.Sprint(lyceum.SubscriptionCanceledEvent, " ", d.id)]; n != want {
			m.r.Fatalf("the stop of %+v is announced %d times, want %d", d, n, want)
		}
		sale, err := v.Sales.Get(v, d.id)
		if err != nil || sale.EndReason.Value != d.over || sale.ToStop.Present != d.toStop || !sale.BilledSince.Value.Equal(d.billed) || sale.NextPlan.Value != d.next ||
			sale.ReplacedBy.Present != (d.replacedBy != nil) || sale.Replaces.Present != (d.replaces != nil) {
			m.r.Fatalf("%v: %+v, the model says %+v", err, sale, d)
		}
		if d.recurring() && d.known && (!sale.PaidUntil.Value.Equal(d.until) || sale.PaidInFull != d.full) {
			m.r.Fatalf("sale %+v is paid until %v, in full %v; the model says %v, %v: %+v", d, sale.PaidUntil.Value, sale.PaidInFull, d.until, d.full, sale)
		}
	}
	m.compareToStop(t)
	admitted := map[string]int{}
	err := v.Admissions.Each(v, lyceum.AdmissionFilter{}, func(a *lyceum.Admission) error {
		for _, event := range []lyceum.EventName{lyceum.AdmissionCreatedEvent, lyceum.AdmissionDisabledEvent} {
			admitted[fmt.Sprint(event, " user ", a.UserID)] += got[fmt.Sprint(event, " ", a.ID)]
		}
		return nil
	})
	if err != nil {
		m.r.Fatal(err)
	}
	for user := lyceum.UserID(1); user <= 3; user++ {
		for _, event := range []lyceum.EventName{lyceum.AdmissionCreatedEvent, lyceum.AdmissionDisabledEvent} {
			key := fmt.Sprint(event, " user ", user)
			if admitted[key] != m.told[key] {
				m.r.Fatalf("%s: announced %d times, access changed %d times", key, admitted[key], m.told[key])
			}
		}
	}
}
