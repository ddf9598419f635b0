package sales_test

import (
	"fmt"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func (m *union) compare(t *testing.T) {
	v := m.b.store.In(t.Context(), m.b.school)
	m.compareCoaching(v)
	m.compareStatus(t)
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

// dump shows what the store and the model have about a user in a course.
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

// expired reports whether a reason expired that nobody ended: the start of its enrollment is
// only updated by the next Expire.
func (m *union) expired(user lyceum.UserID, course lyceum.CourseID) bool {
	for _, x := range m.reasons {
		if x.user == user && (x.course == course || x.course == 0) && x.ended == "" && !x.open(m.b.now) {
			return true
		}
	}
	return false
}

// compareEvents compares the announcements with what opened and closed, except where an import
// was involved.
func (m *union) compareEvents(t *testing.T) {
	m.settle(t)
	m.turn(t)
	m.note()
	m.compare(t)
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
	m.comparePlans(t, v, got)
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
