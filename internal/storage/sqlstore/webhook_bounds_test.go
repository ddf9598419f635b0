package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A webhook from before limits has none, and what was stored of its attempts is still there.
func TestWebhooksFromBeforeBounds(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 5,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO webhooks (school_id, webhook_id, state, url, event_trigger, events_count, created_at, is_live, schedule) "+
					"VALUES (7, 1, 'verified', 'https://hooks.example.com', 'all', 1, 0, 1, 'contract')",
				"INSERT INTO webhook_events (school_id, webhook_event_id, webhook_id, state, attempt_count, created_at, object_type, object_id) "+
					"VALUES (7, 5, 1, 'delivered', 1, 0, 'Sale', 9)",
				"INSERT INTO webhook_attempts (school_id, webhook_event_id, attempt, at, took, status, request_header, response_header, response_body) "+
					"VALUES (7, 5, 1, 0, 84, 200, 'A: b', 'C: d', 'thank you')")
			v := store.In(t.Context(), 7)
			w, err := v.Webhooks.Get(v, 1)
			if err != nil || w.RateLimit != 0 || w.URL != "https://hooks.example.com" || !w.Live {
				t.Errorf("the webhook is %+v, %v", w, err)
			}
			attempts, _, err := store.In(t.Context(), 7).FindAttempts(5, 0)
			if err != nil || len(attempts) != 1 || attempts[0].Unkept || attempts[0].ResponseBody != "thank you" || attempts[0].Status != lyceum.Some[int32](200) {
				t.Errorf("the attempts are %+v, %v", attempts, err)
			}
		})
	}
}
