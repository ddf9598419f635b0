package sales_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (m *union) unblock(user lyceum.UserID, course lyceum.CourseID) {
	delete(m.blocks, [2]int32{int32(user), int32(course)})
}

// block blocks a user who still has a course through something else.
func (m *union) block(user lyceum.UserID, course lyceum.CourseID) {
	if _, _, open := m.of(user, course); open {
		m.blocks[[2]int32{int32(user), int32(course)}] = true
	}
}

// include adds a course to the collection or the tier, or removes it.
func (m *union) include(t *testing.T, course lyceum.CourseID) {
	ctx, by := t.Context(), m.b.by()
	var err error
	switch in, was := rapid.IntRange(0, 2).Draw(m.r, "where"), m.spans(); {
	case in == 0 && !m.bundle[course]:
		m.bundle[course], m.left[course] = true, nil
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
		m.bundle[course], m.left[course] = false, nil
		for _, x := range m.reasons {
			if !x.bundle || q.EndAccess {
				continue
			}
			m.left[course] = append(m.left[course], x)
			if x.open(m.b.now) {
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
	for user := int32(1); user <= 3; user++ { // what opens and closes again right away is not announced
		m.quiet[[2]int32{user, int32(course)}] = true
	}
}

// settle makes enrollments reflect what was added and removed.
func (m *union) settle(t *testing.T) {
	if err := m.b.learning.Settle(t.Context(), m.b.school); err != nil {
		m.r.Fatal(err)
	}
	m.pending = false
	clear(m.left)
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

// knows reports whether a user ever had access to a course. What was removed from the
// collection still counts until enrollments reflect that.
func (m *union) knows(t *testing.T, user lyceum.UserID, course lyceum.CourseID) bool {
	v := m.b.store.In(t.Context(), m.b.school)
	_, known, err := v.Enrollments.First(v, lyceum.EnrollmentFilter{User: some(user), Course: some(course)})
	if err != nil {
		m.r.Fatal(err)
	}
	for _, x := range m.reasons {
		known = known || m.leads(x, user, course) || x.user == user && slices.Contains(m.left[course], x)
	}
	return known
}

// importEnrollment imports a row: an open enrollment, or an ended one.
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
	if len(problems) > 0 { // an expired one is not recorded as ended yet
		return
	}
	m.quiet[[2]int32{int32(user), int32(course)}] = true
	if kind == "ended" {
		found := false
		for _, x := range m.reasons {
			if x.user == user && x.course == course {
				found = found || x.start.Equal(row.EnrolledAt)
				if x.open(m.b.now) || m.stands(x) && x.start.Equal(row.EnrolledAt) {
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

// link finds the sales that imported reasons belong to.
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

// importSales imports all transactions again, as in an export.
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
