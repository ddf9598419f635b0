package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestEnrollmentsStandOnOnePage checks that a program that only reads the first page, as access
// gates do, finds everybody who is enrolled.
func TestEnrollmentsStandOnOnePage(t *testing.T) {
	const enrolled = 154
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		users := make([]lyceum.User, enrolled)
		stays := make([]lyceum.Enrollment, enrolled)
		for n := range enrolled {
			id := int32(1000 + n)
			users[n] = lyceum.User{ID: lyceum.UserID(id), Email: fmt.Sprintf("%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Day(1)}
			stays[n] = lyceum.Enrollment{ID: lyceum.EnrollmentID(id), User: lyceum.UserID(id), Course: 4, EnrolledAt: storetest.Day(2)}
		}
		storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
			if _, err := tx.Users.Save(tx, users...); err != nil {
				return err
			}
			return storetest.Enroll(tx, stays...)
		})
		for _, tc := range []struct {
			query                             string
			shown, page, from, to, per, pages int
		}{
			{"", 154, 1, 1, 154, 10_000, 1},
			{"?page=2", 0, 2, 0, 0, 10_000, 1},
			{"?per=100", 100, 1, 1, 100, 100, 2},
			{"?per=100&page=2", 54, 2, 101, 154, 100, 2},
			{"?per=10000", 100, 1, 1, 100, 100, 2}, // if per is sent, it is at most 100
		} {
			w := k.do(request(http.MethodGet, "/v1/courses/4/enrollments"+tc.query, nil, "apiKey: "+k.ours.key))
			wantStatus(t, w, http.StatusOK)
			var list struct {
				Enrollments []struct {
					UserID int `json:"user_id"`
				} `json:"enrollments"`
				Meta map[string]int `json:"meta"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
				t.Fatal(err)
			}
			want := map[string]int{"total": 154, "page": tc.page, "from": tc.from, "to": tc.to, "per_page": tc.per, "number_of_pages": tc.pages}
			if len(list.Enrollments) != tc.shown || fmt.Sprint(list.Meta) != fmt.Sprint(want) {
				t.Errorf("%q shows %d with %v, want %d with %v", tc.query, len(list.Enrollments), list.Meta, tc.shown, want)
			}
		}
	})
}
