package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// Events and attempts from before packing are unchanged, and are kept for good.
func TestEventsFromBeforePacking(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 2*packedAtOnce + 3
			var events, deliveries, attempts []string
			object := func(i int) string {
				return fmt.Sprintf(`{"id":%d,"user":{"name":"Zoë %d","email":"zoe%d@example.com"},"text":"a''b %s"}`, i, i, i,
					strings.Repeat("x", i%9*500))
			}
			for i := 1; i <= n; i++ {
				events = append(events, fmt.Sprintf("(%d, %d, 'User.updated', %d, %d, '%s')", 7+i%2, i, i, 1000*i, object(i)))
				deliveries = append(deliveries, fmt.Sprintf("(7, %d, 1, 'delivered', 1, 0, 'User', %d)", i, i))
				attempts = append(attempts, fmt.Sprintf("(7, %d, 2, %d, 84, NULL, 'It broke.', 'A: %d\n', '', '', 0), (7, %d, 11, 5, 84, 200, NULL, 'A: b', 'C: d', 'thank you', 1)", i, 5*i, i, i))
			}
			events = append(events, "(7, -3, 'Sale.created', 0, 9, '{}')")
			insert := func(into string, rows []string) string {
				return "INSERT INTO " + into + " VALUES " + strings.Join(rows, ", ")
			}
			store := oldDatabase(t, postgres, 61,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Southwind', 0)",
				"INSERT INTO webhooks (school_id, webhook_id, state, url, event_trigger, events_count, created_at) VALUES (7, 1, 'verified', 'https://hooks.example.com', 'all', 1, 0)",
				insert("webhook_events (school_id, webhook_event_id, webhook_id, state, attempt_count, created_at, object_type, object_id)", deliveries),
				insert("event_payloads (school_id, number, event, object_id, at, object)", events),
				insert("webhook_attempts (school_id, webhook_event_id, attempt, at, took, status, problem, request_header, response_header, response_body, is_kept)", attempts))
			for school, want := range map[lyceum.SchoolID]int{7: n/2 + 1, 8: n/2 + n%2} {
				v := store.In(t.Context(), school)
				all, err := lyceum.All(v.Payloads, v, struct{}{})
				if err != nil || len(all) != want {
					t.Fatalf("school %d has %d events, want %d: %v", school, len(all), want, err)
				}
				for _, p := range all {
					if p.Number < 0 {
						continue
					}
					of := strings.ReplaceAll(object(int(p.Number)), "''", "'")
					if p.Object != of || p.Event != lyceum.UserUpdatedEvent || p.At.UnixMicro() != 1000*p.Number || int64(p.ObjectID) != p.Number {
						t.Errorf("event %d is %+v", p.Number, p)
					}
				}
			}
			for _, id := range []lyceum.WebhookEventID{1, packedAtOnce, n} {
				found, _, err := store.In(t.Context(), 7).FindAttempts(id, 0)
				want := []lyceum.Attempt{
					{Delivery: id, Number: 2, At: ofMicros(5 * int64(id)), Took: 84_000, Problem: lyceum.Some("It broke."), RequestHeader: fmt.Sprintf("A: %d\n", id), Unkept: true},
					{Delivery: id, Number: 11, At: ofMicros(5), Took: 84_000, Status: lyceum.Some[int32](200), RequestHeader: "A: b", ResponseHeader: "C: d", ResponseBody: "thank you"},
				}
				if diff := cmp.Diff(want, found); err != nil || diff != "" {
					t.Errorf("attempts at %d: %v\n%s", id, err, diff)
				}
			}
			school, err := store.In(t.Context(), 7).GetSchool()
			if want := (lyceum.Retention{Answers: 2, Sessions: 1, Links: 1, Emails: 30}); err != nil || school.Retention != want {
				t.Errorf("the school keeps %+v, want %+v: %v", school.Retention, want, err)
			}
			schemaOf := sqliteSchema
			if postgres {
				schemaOf = postgresSchema
			}
			columns, _ := schemaOf(t, store)
			if slices.ContainsFunc(columns, func(c schemaColumn) bool { return strings.HasPrefix(c.Table, "plain_") }) {
				t.Error("the older tables are there")
			}
		})
	}
}
