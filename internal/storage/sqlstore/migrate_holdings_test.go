package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// Entitlements from before they were listed are listed and counted.
func TestEntitlementsFromBeforeHoldings(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 37,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0), (7, 2, 'b@x', 'b@x', 'student', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Dyes', 1, 0, 0)",
				"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, starts_at, ends_at, imported) VALUES "+
					"(7, 1, 1, 'course', 1, 1000000, NULL, 0), (7, 2, 2, 'course', 1, 2000000, 3000000, 0), (7, 3, 2, 'digital_download', 1, 2000000, NULL, 1)",
				"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, expires_at) VALUES (7, 1, 1, 1, 1000000, NULL), (7, 2, 2, 1, 2000000, 3000000)",
				"INSERT INTO progress (school_id, progress_id, user_id, course_id, percent_complete, completed_at) VALUES (7, 1, 1, 1, 100, 5000000)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'user_id', 2), (7, 'users', 2), (7, 'course_id', 1), "+
					"(7, 'entitlement_id', 3), (7, 'enrollment_id', 2), (7, 'progress_id', 1), (7, 'open:1', 2)",
			)
			v := store.In(t.Context(), 7)
			course := lyceum.CourseID(1).Product()
			list := func(f lyceum.HoldingFilter) (ids []lyceum.EntitlementID) {
				f.Product, f.At = course, time.Unix(9, 0)
				found, err := v.FindHoldings(f, lyceum.Page{Number: 1, Size: 10})
				if err != nil || found.Total != int64(len(found.Rows)) {
					t.Fatal(found.Total, err)
				}
				for i := range found.Rows {
					ids = append(ids, found.Rows[i].ID)
				}
				return ids
			}
			got := map[string][]lyceum.EntitlementID{
				"all":           list(lyceum.HoldingFilter{}),
				"by completion": list(lyceum.HoldingFilter{ByCompletion: true}),
				"completed":     list(lyceum.HoldingFilter{Statuses: []lyceum.HoldingStatus{lyceum.HoldingCompleted}}),
				"expired":       list(lyceum.HoldingFilter{Statuses: []lyceum.HoldingStatus{lyceum.HoldingExpired}}),
			}
			want := map[string][]lyceum.EntitlementID{
				"all": {2, 1}, "by completion": {1, 2}, "completed": {1}, "expired": {2},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("holdings (-want +got):\n%s", diff)
			}
		})
	}
}
