package sales_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestAccessIsTheUnion makes random histories of sales, changes of plan, refunds,
// chargebacks, cancellations, enrollments and gifts by hand, and imports. After each step the
// access of everybody is what a naive model kept beside it says, and the preview
// of the step has said what the model says. LYCEUM_HISTORIES makes more of them.
func TestAccessIsTheUnion(t *testing.T) {
	const perStore = 10
	var store lyceum.Store
	histories, steps, previews := 0, 0, 0
	want, _ := strconv.Atoi(cmp.Or(os.Getenv("LYCEUM_HISTORIES"), "0"))
	for more := true; more; more = histories < want {
		rapid.Check(t, func(r *rapid.T) {
			if histories%perStore == 0 {
				store = historyStore(t)
			}
			b := openBooks(t, store)
			if err := b.learning.Expire(t.Context(), b.school); err != nil { // from now on
				r.Fatal(err)
			}
			m := &union{b: b, r: r, told: map[string]int{}}
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
	t.Logf("%d histories, %d steps, %d previews, 0 mismatches", histories, steps, previews)
}

// reason is why somebody has access, in the simplest form.
type reason struct {
	user     lyceum.UserID
	course   lyceum.CourseID // 0: with the bundle or the tier
	bundle   bool
	tier     bool
	silver   bool // the other tier
	sale     lyceum.SaleID
	imported bool
	start    time.Time
	end      time.Time // zero: none
	ended    lyceum.EntitlementEnd
}

func (x *reason) open(now time.Time) bool {
	return x.ended == "" && (x.end.IsZero() || now.Before(x.end))
}

// deal is a sale as the model knows it.
type deal struct {
	id          lyceum.SaleID
	transaction lyceum.TransactionID
	user        lyceum.UserID
	plan        lyceum.PricingPlanID
	paid        lyceum.Minor
	back        lyceum.Minor
	bank        lyceum.DisputeState
	dispute     lyceum.DisputeID
	anchor      time.Time
	until       time.Time // paid until
	over        lyceum.SaleEnd
	follower
}

func (d *deal) course() lyceum.CourseID {
	return map[lyceum.PricingPlanID]lyceum.CourseID{1: 1, 2: 1, 3: 2, 4: 2, 6: 1}[d.plan]
}

func (d *deal) recurring() bool { return d.plan == 2 || d.plan == 6 || d.plan >= 9 }

func (d *deal) good() bool {
	return !d.unpaid && (d.paid == 0 || d.back < d.paid) && d.bank != lyceum.DisputeOpen && d.bank != lyceum.DisputeLost
}

type union struct {
	b       *books
	r       *rapid.T
	reasons []*reason
	deals   []*deal
	told    map[string]int // what must have been announced, by event, user and course
	was     map[[2]int32]bool
	bundle  map[lyceum.CourseID]bool // what the collection has
	tier    map[lyceum.CourseID]bool // what the tier has besides the collection
	blocks  map[[2]int32]bool
	pending bool              // enrollments do not follow what was added or removed yet
	quiet   map[[2]int32]bool // an import opened or closed it: announced or not
	coached map[lyceum.UserID]bool

	previews int
}

// open makes the collection with course 1, sold by plan 8, and a tier with course
// 2 and the collection, sold monthly by plan 9.
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

// leads reports whether a reason is one of a user for a course. The tier has the
// collection in it.
func (m *union) leads(x *reason, user lyceum.UserID, course lyceum.CourseID) bool {
	return x.user == user && (x.course == course || (x.bundle || x.tier) && m.bundle[course] || x.tier && m.tier[course] ||
		x.silver && (course == 1 || course == coach))
}

// note keeps which access opened or closed since the last time.
func (m *union) note() {
	for user := int32(1); user <= 3; user++ {
		for course := int32(1); course <= 2; course++ {
			key := [2]int32{user, course}
			_, _, open := m.of(lyceum.UserID(user), lyceum.CourseID(course))
			if open != m.was[key] {
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
		if err := b.learning.Expire(ctx, b.school); err != nil {
			r.Fatal(err)
		}
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

func (m *union) sell(t *testing.T, user lyceum.UserID) {
	plan := lyceum.PricingPlanID(rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 9}).Draw(m.r, "plan"))
	d, err := m.b.service.Record(t.Context(), m.b.by(), m.purchase(user, plan))
	if err != nil {
		m.r.Fatal(err)
	}
	m.sold(d)
}

// sold keeps a sale that was recorded now, or since a moment that has passed.
func (m *union) sold(d sales.SaleDetail) *deal {
	user, plan := d.UserID.Value, d.PricingPlanID.Value
	kept := &deal{id: d.ID, user: user, plan: plan, until: d.PaidUntil.Value, anchor: d.CreatedAt}
	kept.unpaid = len(d.Transactions) == 0
	for _, x := range d.Transactions {
		kept.transaction, kept.paid = x.ID, x.FinalPrice+x.TaxCharge
	}
	m.deals = append(m.deals, kept)
	why := &reason{user: user, course: kept.course(), sale: d.ID, start: d.CreatedAt}
	switch plan {
	case 3:
		why.end = later(m.b.now, 6)
	case 8:
		why.bundle = true
	case 9, 11:
		why.tier = true
	case 10:
		why.silver = true
	}
	m.reasons = append(m.reasons, why)
	m.unblockAll(why)
	return kept
}

func (m *union) unblock(user lyceum.UserID, course lyceum.CourseID) {
	delete(m.blocks, [2]int32{int32(user), int32(course)})
}

// block keeps a user out who still has a course with something else.
func (m *union) block(user lyceum.UserID, course lyceum.CourseID) {
	if _, _, open := m.of(user, course); open {
		m.blocks[[2]int32{int32(user), int32(course)}] = true
	}
}

// include puts a course into the collection or the tier, or takes it out.
func (m *union) include(t *testing.T, course lyceum.CourseID) {
	ctx, by := t.Context(), m.b.by()
	var err error
	switch in, was := rapid.IntRange(0, 2).Draw(m.r, "where"), m.spans(); {
	case in == 0 && !m.bundle[course]:
		m.bundle[course] = true
		_, err = m.b.learning.CollectionProducts().Add(ctx, by, learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: course.Product()})
	case in == 0:
		q := learning.Removal[lyceum.ProductCollectionID]{
			ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: course.Product()},
			EndAccess: rapid.Bool().Draw(m.r, "end access"),
		}
		said := m.ask(t, func() (lyceum.AccessPreview, error) {
			return m.b.learning.CollectionProducts().PreviewRemove(ctx, by, q, firstPage)
		})
		err = m.b.learning.CollectionProducts().Remove(ctx, by, q)
		m.bundle[course] = false
		for _, x := range m.reasons {
			if x.bundle && !q.EndAccess && x.open(m.b.now) {
				kept := *x
				kept.course, kept.bundle = course, false
				m.reasons = append(m.reasons, &kept)
			}
		}
		m.happened("removal from the bundle", said, err, was)
	case !m.tier[course]:
		m.tier[course] = true
		_, err = m.b.learning.TierProducts().Add(ctx, by, learning.ProductIn[lyceum.MembershipTierID]{In: 1, Product: course.Product()})
	default:
		q := learning.Removal[lyceum.MembershipTierID]{ProductIn: learning.ProductIn[lyceum.MembershipTierID]{In: 1, Product: course.Product()}}
		said := m.ask(t, func() (lyceum.AccessPreview, error) {
			return m.b.learning.TierProducts().PreviewRemove(ctx, by, q, firstPage)
		})
		err = m.b.learning.TierProducts().Remove(ctx, by, q)
		m.tier[course] = false
		m.happened("removal from the tier", said, err, was)
	}
	if err != nil {
		m.r.Fatal(err)
	}
	m.pending = true
	for user := int32(1); user <= 3; user++ { // what opens and closes again at once is not announced
		m.quiet[[2]int32{user, int32(course)}] = true
	}
}

// settle lets enrollments follow what was added and removed.
func (m *union) settle(t *testing.T) {
	if err := m.b.learning.Settle(t.Context(), m.b.school); err != nil {
		m.r.Fatal(err)
	}
	m.pending = false
}

// later is a number of months later, at the end of a month that is shorter.
func later(from time.Time, months int) time.Time {
	to := from.AddDate(0, months, 0)
	for to.Day() != from.Day() && to.Day() < 4 {
		to = to.AddDate(0, 0, -1)
	}
	return to
}

// over ends what a sale gave.
func (m *union) over(d *deal, why lyceum.SaleEnd, at time.Time) {
	if d.over == "" {
		d.over = why
	}
	d.stop(!at.After(m.b.now))
	for _, x := range m.reasons {
		switch {
		case x.sale != d.id || !x.open(m.b.now):
		case !at.After(m.b.now):
			x.ended = why.Entitlement()
		case x.end.IsZero() || at.Before(x.end):
			x.end = at
		}
	}
}

func (m *union) pick() *deal {
	if len(m.deals) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.deals).Draw(m.r, "sale")
}

func (m *union) refund(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	amount := d.paid - d.back
	if amount > 1 && rapid.Bool().Draw(m.r, "part") {
		amount /= 2
	}
	end := rapid.SampledFrom([]lyceum.Opt[bool]{{}, {}, {}, some(true), some(false)}).Draw(m.r, "end access")
	q := sales.Refund{Transaction: d.transaction, Amount: some(amount), EndAccess: end}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewRefund(t.Context(), m.b.by(), q, firstPage) })
	_, err := m.b.service.Refund(t.Context(), m.b.by(), q)
	if allowed := amount > 0 && d.bank != lyceum.DisputeOpen && d.bank != lyceum.DisputeLost; (err == nil) != allowed {
		m.r.Fatalf("refund of %d of %+v: %v", amount, d, err)
	}
	if err == nil {
		d.back += amount
		switch full := d.back == d.paid; {
		case full && !end.Present || end.Value:
			if full {
				m.reopen(d)
			}
			m.over(d, lyceum.SaleRefunded, m.b.now)
		case full: // it buys no time any more
			d.until = time.Time{}
		}
	}
	m.happened("refund", said, err, was)
}

// void ends a sale by hand.
func (m *union) void(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) {
		return m.b.service.PreviewEndNow(t.Context(), m.b.by(), sales.Ending{Sale: d.id}, firstPage)
	})
	_, err := m.b.service.EndNow(t.Context(), m.b.by(), sales.Ending{Sale: d.id})
	if (err == nil) != (d.over == "") {
		m.r.Fatalf("end %+v: %v", d, err)
	}
	if err == nil {
		m.over(d, lyceum.SaleVoided, m.b.now)
	}
	m.happened("end", said, err, was)
}

// bank opens a dispute, closes it, or wins what was lost.
func (m *union) bank(t *testing.T) {
	d := m.pick()
	if d == nil || d.paid == 0 || d.back == d.paid {
		return
	}
	ctx, by := t.Context(), m.b.by()
	was := m.spans()
	switch d.bank {
	case lyceum.DisputeOpen:
		d.bank = rapid.SampledFrom([]lyceum.DisputeState{lyceum.DisputeWon, lyceum.DisputeLost}).Draw(m.r, "outcome")
		q := sales.Outcome{Transaction: d.transaction, State: d.bank}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewCloseChargeback(ctx, by, q, firstPage) })
		if _, err := m.b.service.CloseChargeback(ctx, by, q); err != nil {
			m.r.Fatal(err)
		}
		if d.bank == lyceum.DisputeLost {
			m.over(d, lyceum.SaleChargedBack, m.b.now)
		}
		m.happened("close chargeback", said, nil, was)
	case lyceum.DisputeLost:
		q := sales.DisputeOutcome{Dispute: d.dispute, State: lyceum.DisputeWon}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewCloseDispute(ctx, by, q, firstPage) })
		if _, err := m.b.service.CloseDispute(ctx, by, q); err != nil {
			m.r.Fatal(err)
		}
		if d.bank = lyceum.DisputeWon; d.over == lyceum.SaleChargedBack {
			d.over = ""
		}
		for _, x := range m.reasons {
			if x.sale == d.id && x.ended == lyceum.EndedByChargeback {
				x.ended = ""
			}
		}
		if next := d.replacedBy; next != nil && next.over == lyceum.SaleRefunded && next.paid > 0 && next.back == next.paid {
			m.reopen(next)
		}
		m.happened("win dispute", said, nil, was)
	default:
		q := sales.NewDispute{Transaction: d.transaction}
		said := m.askSale(t, func() (sales.Preview, error) { return m.b.service.PreviewOpenDispute(ctx, by, q, firstPage) })
		opened, err := m.b.service.OpenDispute(ctx, by, q)
		if err != nil {
			m.r.Fatal(err)
		}
		d.bank, d.dispute = lyceum.DisputeOpen, opened.ID
		m.happened("open dispute", said, nil, was)
	}
}

func (m *union) cancel(t *testing.T) {
	d := m.pick()
	if d == nil {
		return
	}
	was := m.spans()
	said := m.askSale(t, func() (sales.Preview, error) {
		return m.b.service.PreviewCancel(t.Context(), m.b.by(), sales.Ending{Sale: d.id}, firstPage)
	})
	_, err := m.b.service.Cancel(t.Context(), m.b.by(), sales.Ending{Sale: d.id})
	if allowed := d.recurring() && d.over == ""; (err == nil) != allowed {
		m.r.Fatalf("cancel %+v: %v", d, err)
	}
	if err == nil {
		m.over(d, lyceum.SaleCanceled, d.until)
	}
	m.happened("cancel", said, err, was)
}

func (m *union) unenroll(t *testing.T, user lyceum.UserID, course lyceum.CourseID) {
	from := learning.UserProduct{User: user, Product: course.Product()}
	known, was := m.knows(t, user, course), m.spans()
	said := m.ask(t, func() (lyceum.AccessPreview, error) {
		return m.b.learning.PreviewUnenroll(t.Context(), m.b.by(), from, firstPage)
	})
	err := m.b.learning.Unenroll(t.Context(), m.b.by(), from)
	if (err == nil) != known {
		m.r.Fatalf("unenroll %d from %d, known %v: %v", user, course, known, err)
	}
	m.endOwn(user, fmt.Sprint("course ", course))
	m.block(user, course)
	m.happened("unenrollment", said, err, was)
}

// knows reports whether a user ever had access to a course.
func (m *union) knows(t *testing.T, user lyceum.UserID, course lyceum.CourseID) bool {
	v := m.b.store.In(t.Context(), m.b.school)
	_, known, err := v.Enrollments.First(v, lyceum.EnrollmentFilter{User: some(user), Course: some(course)})
	if err != nil {
		m.r.Fatal(err)
	}
	for _, x := range m.reasons {
		known = known || m.leads(x, user, course) && !m.blocks[[2]int32{int32(user), int32(course)}]
	}
	return known
}

// importEnrollment takes a row in: an open enrollment, or the end of one.
func (m *union) importEnrollment(t *testing.T, user lyceum.UserID, course lyceum.CourseID) {
	v := m.b.store.In(t.Context(), m.b.school)
	f := lyceum.EnrollmentFilter{User: some(user), Course: some(course), ActiveAt: some(m.b.now)}
	shown, found, err := v.Enrollments.First(v, f)
	if err != nil {
		m.r.Fatal(err)
	}
	row := lyceum.Enrollment{User: user, Course: course, EnrolledAt: shown.EnrolledAt}
	if !found {
		row.EnrolledAt = m.b.now.AddDate(0, 0, -1)
	}
	kind := rapid.SampledFrom([]string{"open", "limited", "ended"}).Draw(m.r, "kind")
	switch kind {
	case "limited":
		row.ExpiresAt = some(m.b.now.AddDate(0, 1, 0))
	case "ended":
		row.EndedAt = some(m.b.now)
	}
	_, problems, err := m.b.learning.ImportEnrollments(m.b.by()).Save(t.Context(), []lyceum.Enrollment{row})
	if err != nil {
		m.r.Fatal(err)
	}
	if len(problems) > 0 { // one that expired is not noted yet
		return
	}
	m.quiet[[2]int32{int32(user), int32(course)}] = true
	if kind == "ended" {
		found := false
		for _, x := range m.reasons {
			if x.user == user && x.course == course {
				found = found || x.start.Equal(row.EnrolledAt)
				if m.stands(x) {
					x.ended, x.end = lyceum.EndedByImport, time.Time{}
				}
			}
		}
		if !found {
			m.reasons = append(m.reasons, &reason{user: user, course: course, imported: true, start: row.EnrolledAt, ended: lyceum.EndedByImport})
		}
		m.block(user, course)
		return
	}
	m.unblock(user, course)
	m.link(user, course, row.EnrolledAt, row.ExpiresAt.Value, true)
	if s, e, o := m.of(user, course); !o || !s.Equal(row.EnrolledAt) || !e.Equal(row.ExpiresAt.Value) {
		var oldest *reason
		for _, x := range m.reasons {
			if x.user == user && x.course == course && m.stands(x) {
				x.end = row.ExpiresAt.Value
				if oldest == nil || x.start.Before(oldest.start) {
					oldest = x
				}
				if x.start.Before(row.EnrolledAt) {
					x.start = row.EnrolledAt
				}
			}
		}
		oldest.start = row.EnrolledAt
	}
}

// stands reports whether an import may change a reason.
func (m *union) stands(x *reason) bool {
	return x.open(m.b.now) || x.imported && x.ended == ""
}

// link finds the sales that imported reasons stand for.
func (m *union) link(user lyceum.UserID, course lyceum.CourseID, start, end time.Time, row bool) {
	var imported, others []*reason
	var rest []*reason
	had := map[lyceum.SaleID]bool{}
	for _, x := range m.reasons {
		mine := x.user == user && x.course == course
		if mine && x.sale != 0 && (!x.imported || x.ended != "") {
			had[x.sale] = true
		}
		switch {
		case mine && x.imported && x.ended == "":
			imported = append(imported, x)
			continue
		case mine && m.stands(x):
			others = append(others, x)
		}
		rest = append(rest, x)
	}
	if len(imported) == 0 && !row {
		return
	}
	if len(imported) > 0 && !row {
		start, end = imported[0].start, imported[0].end
	}
	var wanted []lyceum.SaleID
	for _, d := range m.deals {
		if d.user == user && d.course() == course && d.good() && !had[d.id] {
			wanted = append(wanted, d.id)
		}
	}
	if len(wanted) == 0 && (len(imported) > 0 || len(others) == 0) {
		wanted = []lyceum.SaleID{0}
	}
	for n, sale := range wanted {
		x := &reason{user: user, course: course, imported: true, start: start, end: end, sale: sale}
		if n < len(imported) {
			x.start, x.end = imported[n].start, imported[n].end
		}
		rest = append(rest, x)
	}
	m.reasons = rest
}

// importSales takes all transactions in again, as an export has them.
func (m *union) importSales(t *testing.T) {
	v := m.b.store.In(t.Context(), m.b.school)
	all, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{})
	if err != nil {
		m.r.Fatal(err)
	}
	_, problems, err := m.b.service.Import(m.b.by(), lyceum.RefuseMissing).Save(t.Context(), all)
	if err != nil || len(problems) > 0 {
		m.r.Fatal(err, problems)
	}
	for user := lyceum.UserID(1); user <= 3; user++ {
		for course := lyceum.CourseID(1); course <= 2; course++ {
			m.link(user, course, time.Time{}, time.Time{}, false)
		}
	}
}

func (m *union) compare(t *testing.T) {
	v := m.b.store.In(t.Context(), m.b.school)
	m.compareCoaching(v)
	for user := lyceum.UserID(1); user <= 3; user++ {
		for course := lyceum.CourseID(1); course <= 2; course++ {
			start, end, open := m.of(user, course)
			f := lyceum.EnrollmentFilter{User: some(user), Course: some(course), ActiveAt: some(m.b.now)}
			row, found, err := v.Enrollments.First(v, f)
			if err != nil {
				m.r.Fatal(err)
			}
			_, access, err := v.Access.First(v, lyceum.EntitlementFilter{
				User: some(user), Products: []lyceum.Product{course.Product()}, OpenAt: some(m.b.now),
			})
			if err != nil || access != open {
				m.r.Fatalf("user %d and course %d: access %v, the model says %v, %v%s", user, course, access, open, err, m.dump(t, user, course))
			}
			if m.pending {
				continue
			}
			if found != open {
				m.r.Fatalf("user %d in course %d: access %v, the model says %v%s", user, course, found, open, m.dump(t, user, course))
			}
			lags := m.expired(user, course)
			if open && !lags && (!row.EnrolledAt.Equal(start) || !row.ExpiresAt.Value.Equal(end)) {
				m.r.Fatalf("user %d in course %d: from %v until %v, the model says %v until %v%s", user, course, row.EnrolledAt,
					row.ExpiresAt, start, end, m.dump(t, user, course))
			}
		}
	}
}

// dump shows what the store and the model know of a user in a course.
func (m *union) dump(t *testing.T, user lyceum.UserID, course lyceum.CourseID) string {
	v := m.b.store.In(t.Context(), m.b.school)
	all, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{User: some(user)})
	text := fmt.Sprintf("\nnow %v %v, blocks %v, bundle %v, tier %v, pending %v", m.b.now, err, m.blocks, m.bundle, m.tier, m.pending)
	kept, _ := lyceum.All(v.Blocks, v, lyceum.BlockFilter{User: some(user)})
	text += fmt.Sprintf("\nstore blocks %v", kept)
	for _, e := range all {
		if e.Product.ID == int32(course) {
			text += fmt.Sprintf("\nstore %+v", e)
		}
	}
	for _, x := range m.reasons {
		if x.user == user && (x.course == course || x.course == 0) {
			text += fmt.Sprintf("\nmodel %+v", *x)
		}
	}
	return text
}

// expired reports whether a reason's time was over that nobody ended: when its
// enrollment began is brought up to date by the next Expire.
func (m *union) expired(user lyceum.UserID, course lyceum.CourseID) bool {
	for _, x := range m.reasons {
		if x.user == user && (x.course == course || x.course == 0) && x.ended == "" && !x.open(m.b.now) {
			return true
		}
	}
	return false
}

// compareEvents holds the announcements to what opened and closed, where no
// import had a hand in it.
func (m *union) compareEvents(t *testing.T) {
	m.settle(t)
	m.endPeriods(t)
	m.note()
	m.compare(t)
	if err := m.b.learning.Expire(t.Context(), m.b.school); err != nil {
		m.r.Fatal(err)
	}
	v := m.b.store.In(t.Context(), m.b.school)
	whose := map[int32]string{}
	err := v.Enrollments.Each(v, lyceum.EnrollmentFilter{}, func(e *lyceum.Enrollment) error {
		whose[int32(e.ID)] = fmt.Sprint(e.User, " ", e.Course)
		return nil
	})
	if err != nil {
		m.r.Fatal(err)
	}
	got := map[string]int{}
	for _, line := range m.b.events(t, 0) {
		var event string
		var id int32
		if _, err := fmt.Sscan(line, &event, &id); err != nil {
			m.r.Fatal(err)
		}
		if name := lyceum.EventName(event); name == lyceum.EnrollmentCreatedEvent || name == lyceum.EnrollmentDisabledEvent {
			got[event+" "+whose[id]]++
		} else {
			got[line]++
		}
	}
	m.comparePlans(v, got)
	for user := int32(1); user <= 3; user++ {
		for course := int32(1); course <= 2; course++ {
			for _, event := range []lyceum.EventName{lyceum.EnrollmentCreatedEvent, lyceum.EnrollmentDisabledEvent} {
				key := fmt.Sprint(event, " ", user, " ", course)
				if !m.quiet[[2]int32{user, course}] && got[key] != m.told[key] {
					m.r.Fatalf("%s: announced %d times, access changed %d times", key, got[key], m.told[key])
				}
			}
		}
	}
}
