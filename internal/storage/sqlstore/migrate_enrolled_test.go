package sqlstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The enrollments of a user from before their indexes were merged are found in the order in which
// they began, and so is the first of them.
func TestEnrollmentsAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Oak', 0)",
		"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES " +
			"(7, 1, 'a@example.com', 'a@example.com', 'student', 0), (7, 2, 'b@example.com', 'b@example.com', 'student', 0), " +
			"(8, 1, 'a@example.com', 'a@example.com', 'student', 0)",
		"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES " +
			"(7, 1, 'Bread', 1, 0, 0), (7, 2, 'Cakes', 1, 0, 0), (8, 1, 'Rolls', 1, 0, 0)",
	}
	for _, row := range []struct {
		school, id, user, course, at int
		ended                        string
	}{
		{7, 1, 1, 2, 30, "40000000"}, {7, 2, 2, 1, 20, "NULL"}, {7, 3, 1, 1, 10, "NULL"}, {7, 4, 1, 2, 50, "NULL"}, {8, 1, 1, 1, 5, "NULL"},
	} {
		statements = append(statements, fmt.Sprintf("INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, "+
			"ended_at) VALUES (%d, %d, %d, %d, %d, %s)", row.school, row.id, row.user, row.course, row.at*1e6, row.ended))
	}
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := oldDatabase(t, postgres, 90, statements...).In(t.Context(), 7)
			user, course := lyceum.Some(lyceum.UserID(1)), lyceum.Some(lyceum.CourseID(2))
			for _, test := range []struct {
				filter lyceum.EnrollmentFilter
				want   []lyceum.EnrollmentID
			}{
				{lyceum.EnrollmentFilter{User: user}, []lyceum.EnrollmentID{1, 3, 4}},
				{lyceum.EnrollmentFilter{User: user, Course: course}, []lyceum.EnrollmentID{1, 4}},
				{lyceum.EnrollmentFilter{User: user, Course: course, Open: true}, []lyceum.EnrollmentID{4}},
				{lyceum.EnrollmentFilter{User: user, Open: true}, []lyceum.EnrollmentID{3, 4}},
				{lyceum.EnrollmentFilter{Users: []lyceum.UserID{2, 1}}, []lyceum.EnrollmentID{1, 3, 4, 2}},
			} {
				rows, err := lyceum.All(v.Enrollments, v, test.filter)
				var got []lyceum.EnrollmentID
				for _, e := range rows {
					got = append(got, e.ID)
				}
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("%+v finds %v, %v; want %v", test.filter, got, err, test.want)
				}
			}
			besides, err := v.FindBesides([]lyceum.UserID{1, 2})
			want := map[lyceum.UserID]time.Duration{1: 10 * time.Second, 2: 20 * time.Second}
			for id, at := range want {
				if got := besides[id].FirstEnrolled; err != nil || !got.Present || got.Value.Sub(time.Unix(0, 0)) != at {
					t.Errorf("user %d first enrolled at %v, %v; want %v", id, got, err, at)
				}
			}
		})
	}
}
