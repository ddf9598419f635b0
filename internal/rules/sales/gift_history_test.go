package sales_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// shut is the key of a block of the collection, used instead of a course.
const shut = 100

// gifts are the products that are given by hand and ended.
var gifts = map[string]lyceum.Product{
	"course 1": lyceum.CourseID(1).Product(), "course 2": lyceum.CourseID(2).Product(),
	"bundle": {Kind: lyceum.CollectionKind, ID: 1}, "gold": {Kind: lyceum.TierKind, ID: 1},
	"silver": {Kind: lyceum.TierKind, ID: 2}, "coaching": {Kind: lyceum.CoachingKind, ID: coach},
}

// to returns the name in gifts of the product that a reason gives access to.
func (x *reason) to() string {
	switch {
	case x.bundle:
		return "bundle"
	case x.tier:
		return "gold"
	case x.silver:
		return "silver"
	}
	return map[lyceum.CourseID]string{1: "course 1", 2: "course 2", coach: "coaching"}[x.course]
}

// give gives a product of any kind by hand, perhaps until an end.
func (m *union) give(t *testing.T, user lyceum.UserID) {
	to := rapid.SampledFrom([]string{"course 1", "course 2", "bundle", "gold", "silver", "coaching"}).Draw(m.r, "gift")
	why := &reason{user: user, bundle: to == "bundle", tier: to == "gold", silver: to == "silver", start: m.b.now}
	if kind := gifts[to].Kind; kind == lyceum.CourseKind || kind == lyceum.CoachingKind {
		why.course = lyceum.CourseID(gifts[to].ID)
	}
	q := learning.Gift{UserProduct: learning.UserProduct{User: user, Product: gifts[to]}}
	if days := rapid.IntRange(0, 60).Draw(m.r, "days"); days > 0 {
		why.end = m.b.now.Add(time.Duration(days) * 24 * time.Hour)
		q.EndsAt = some(why.end)
	}
	if _, err := m.b.learning.Give(t.Context(), m.b.by(), q); err != nil {
		m.r.Fatal(err)
	}
	m.reasons = append(m.reasons, why)
	m.unblockAll(why)
}

// unblockAll removes a user's blocks from everything that a reason gives access to.
func (m *union) unblockAll(why *reason) {
	for course := lyceum.CourseID(1); course <= coach; course++ {
		if m.leads(why, why.user, course) {
			m.unblock(why.user, course)
		}
	}
	if why.bundle || why.tier {
		m.unblock(why.user, shut)
	}
}

// unenrollFrom ends access to a product other than a course.
func (m *union) unenrollFrom(t *testing.T, user lyceum.UserID) {
	to := rapid.SampledFrom([]string{"bundle", "gold", "silver", "coaching"}).Draw(m.r, "from")
	q, was, known, others := learning.UserProduct{User: user, Product: gifts[to]}, m.spans(), false, false
	for _, x := range m.reasons {
		if x.user != user {
			continue
		}
		known = known || x.to() == to || to == "bundle" && x.tier || to == "coaching" && x.silver
		others = others || to == "bundle" && x.tier && x.open(m.b.now)
	}
	said := m.ask(t, func() (lyceum.AccessPreview, error) {
		return m.b.learning.PreviewUnenroll(t.Context(), m.b.by(), q, firstPage)
	})
	err := m.b.learning.Unenroll(t.Context(), m.b.by(), q)
	if (err == nil) != known {
		m.r.Fatalf("unenroll %d from %s, known %v: %v", user, to, known, err)
	}
	m.endOwn(user, to)
	switch {
	case others:
		m.blocks[[2]int32{int32(user), shut}] = true
	case to == "coaching":
		m.block(user, coach)
	}
	m.happened("unenrollment from "+to, said, err, was)
}

// endOwn ends a user's reasons for the product itself, and the subscriptions behind them.
func (m *union) endOwn(user lyceum.UserID, to string) {
	for _, x := range m.reasons {
		if x.user != user || x.to() != to || !x.open(m.b.now) {
			continue
		}
		x.ended = lyceum.EndedByUnenrollment
		for _, d := range m.deals {
			if d.id == x.sale && d.recurring() && !d.full && (d.over == "" || !d.stopsAt.IsZero()) {
				m.over(d, lyceum.SaleCanceled, m.b.now)
			}
		}
	}
}

// shutOut reports whether a reason only gives access to a course through the collection, from
// which the user is blocked.
func (m *union) shutOut(x *reason, course lyceum.CourseID) bool {
	return (x.bundle || x.tier && !m.tier[course]) && m.blocks[[2]int32{int32(x.user), shut}]
}
