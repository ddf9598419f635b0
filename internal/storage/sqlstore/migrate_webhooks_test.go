package sqlstore

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const oldWebhooks = "INSERT INTO webhooks (school_id, webhook_id, state, url, event_trigger, events_count, created_at, is_live, schedule, deleted_at) VALUES "

// A webhook of a database that did not store since when it receives events gets those that no
// webhook was sent yet, and no earlier ones. In a school that never sent any, that is all of
// them.
func TestWebhooksFromBeforeSince(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 11,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Southwind', 0)",
				"INSERT INTO cursors (school_id, name, number) VALUES (7, 'another', 90), (7, 'webhooks', 41), (8, 'another', 91)",
				oldWebhooks+"(7, 1, 'verified', 'https://one.example.com', 'all', 1, 0, 1, 'contract', NULL), (7, 2, 'failed', 'https://two.example.com', 'all', 1, 0, 0, '', 5), "+
					"(8, 1, 'verified', 'https://three.example.com', 'all', 1, 0, 1, 'contract', NULL)")
			type known struct {
				school lyceum.SchoolID
				id     lyceum.WebhookID
			}
			for of, want := range map[known]int64{{7, 1}: 41, {8, 1}: 0} {
				v := store.In(t.Context(), of.school)
				w, err := v.Webhooks.Get(v, of.id)
				if err != nil || w.Since != want || !w.Live {
					t.Errorf("the webhook %v is told since %d, want %d: %+v, %v", of, w.Since, want, w, err)
				}
			}
			if deleted := lines(t, store, "SELECT since FROM webhooks WHERE deleted_at = 5", 1); len(deleted) != 1 || deleted[0][0] != "41" {
				t.Errorf("the deleted one is told since %v", deleted)
			}
		})
	}
}

// Webhooks and events of a database that had other indexes are found by the new ones.
func TestWebhooksAndEventsFromBeforeLeanReads(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 12,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Southwind', 0)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 8), (7, 'journal', 4), (8, 'journal', 1), (7, 'webhook_id', 4)",
				oldWebhooks+"(7, 1, 'verified', 'https://one.example.com', 'all', 1, 0, 1, 'contract', NULL), (7, 2, 'verified', 'https://two.example.com', 'all', 1, 0, 1, 'contract', 5), "+
					"(7, 3, 'verified', 'https://three.example.com', 'all', 1, 0, 0, '', NULL), (8, 4, 'verified', 'https://four.example.com', 'all', 1, 0, 1, 'contract', NULL)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id, event, detail) VALUES (7, 1, 0, 'test', 'school.created', 7, NULL, NULL), "+
					"(7, 2, 0, 'test', 'user.updated', 1, 'User.updated', '{\"old_name\":\"Ada\"}'), (7, 3, 0, 'test', 'user.tagged', 1, 'UserTag.created', '{\"name\":\"vip\"}'), "+
					"(7, 4, 0, 'test', 'user.updated', 2, 'User.updated', NULL), (8, 1, 0, 'test', 'user.updated', 1, 'User.updated', '{\"old_name\":\"Eve\"}')")
			ids := func(found []lyceum.Webhook, err error) (ids []lyceum.WebhookID) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range found {
					ids = append(ids, found[i].ID)
				}
				return ids
			}
			v := store.In(t.Context(), 7)
			if got := ids(lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true})); !slices.Equal(got, []lyceum.WebhookID{1, 3}) {
				t.Errorf("the webhooks are %v", got)
			}
			if got := ids(lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true, Live: true})); !slices.Equal(got, []lyceum.WebhookID{1}) {
				t.Errorf("those that are sent to are %v", got)
			}
			listing, err := v.FindChanges(lyceum.ChangeFilter{Limit: 10, Events: true, Names: []lyceum.EventName{lyceum.UserUpdatedEvent}})
			if err != nil {
				t.Fatal(err)
			}
			var numbers []int64
			for _, c := range listing.Changes {
				numbers = append(numbers, c.Number)
			}
			if !slices.Equal(numbers, []int64{2, 4}) || listing.Next != 4 {
				t.Errorf("the events are %v, and the next is %d", numbers, listing.Next)
			}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				called, err := tx.FindCalled(1)
				if !slices.Equal(called.Names, []string{"Ada"}) {
					t.Errorf("a user was called %q", called.Names)
				}
				return err
			})
			schemaOf := sqliteSchema
			if postgres {
				schemaOf = postgresSchema
			}
			_, indexes := schemaOf(t, store)
			for want, there := range map[index]bool{
				{"webhooks", "school_id,is_live,webhook_id", false, true}: true,
				{"journal", "school_id,event,object_id", false, true}:     true,
				{"journal", "school_id,number,event", false, true}:        false,
			} {
				if slices.Contains(indexes, want) != there {
					t.Errorf("that there is an index %+v is not %v", want, there)
				}
			}
		})
	}
}
