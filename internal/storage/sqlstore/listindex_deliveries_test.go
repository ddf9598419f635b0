package sqlstore

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const historyWebhooks = 2

// receivers creates the webhooks of a history.
func (h *history) receivers(tx lyceum.Tx) (err error) {
	for id := range lyceum.WebhookID(historyWebhooks) {
		_, e := tx.Webhooks.Save(tx, lyceum.Webhook{
			ID: id + 1, State: lyceum.WebhookPending, URL: "https://example.com", EventTrigger: lyceum.AllEvents,
			CreatedAt: h.now, Live: true,
		})
		err = errors.Join(err, e)
	}
	return err
}

func (h *history) receiver() lyceum.WebhookID { return lyceum.WebhookID(1 + h.IntN(historyWebhooks)) }

// deliver creates deliveries, ends them, sends them again, saves one or sweeps some.
func (h *history) deliver(t *testing.T) {
	t.Helper()
	hook := h.receiver()
	if h.IntN(8) == 0 {
		err := h.store.Sweep(t.Context(), 1, lyceum.Expired{DeliveryUntil: h.now.Add(-time.Duration(30+h.IntN(90)) * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	h.change(t, func(tx lyceum.Tx) error {
		switch h.IntN(6) {
		case 0:
			_, err := tx.CancelDeliveries(hook)
			return err
		case 1:
			_, err := tx.ReplayDeliveries(lyceum.ResendFilter{Webhook: hook}, lyceum.None[lyceum.WebhookEvent](), 2, h.now)
			return err
		case 2:
			d, found, err := tx.Deliveries.First(tx, lyceum.WebhookEventFilter{Webhook: hook, Newest: h.IntN(2) == 0})
			if err != nil || !found {
				return err
			}
			if h.IntN(4) == 0 && !d.Number.Present {
				return tx.Deliveries.Delete(tx, d.ID)
			}
			d.CreatedAt, d.Webhook = h.now.Add(-time.Duration(h.IntN(100))*time.Second), h.receiver()
			_, err = tx.Deliveries.Save(tx, d)
			return err
		case 3:
			id, err := tx.Deliveries.NextID(tx)
			if err != nil {
				return err
			}
			_, err = tx.Deliveries.Save(tx, lyceum.WebhookEvent{
				ID: id, Webhook: hook, State: lyceum.DeliveryDelivered, CreatedAt: h.now.Add(-time.Minute), ObjectType: "User",
			})
			return err
		case 4:
			return h.send(tx, hook)
		}
		return h.dispatch(tx, hook)
	})
}

// dispatch creates deliveries, most of them at one moment.
func (h *history) dispatch(tx lyceum.Tx, hook lyceum.WebhookID) error {
	made := make([]lyceum.WebhookEvent, 1+h.IntN(5))
	for i := range made {
		id, err := tx.Deliveries.NextID(tx)
		if err != nil {
			return err
		}
		h.deliveries++
		made[i] = lyceum.WebhookEvent{
			ID: id, Webhook: hook, State: lyceum.DeliveryPending, CreatedAt: lyceum.Second(h.now), ObjectType: "User",
			ObjectID: 1, Number: lyceum.Some(h.deliveries), NextAttemptAt: lyceum.Some(h.now),
		}
		payload := lyceum.EventPayload{Number: h.deliveries, Event: lyceum.UserCreatedEvent, ObjectID: 1, At: h.now, Object: "{}"}
		if err := tx.Payloads.Insert(tx, payload); err != nil {
			return err
		}
	}
	return tx.CreateDeliveries(made)
}

// send claims deliveries and ends or postpones them.
func (h *history) send(tx lyceum.Tx, hook lyceum.WebhookID) error {
	claimed, err := tx.ClaimDeliveries(hook, h.now, h.now.Add(time.Minute), 4)
	for i := range claimed {
		d := claimed[i]
		d.AttemptCount++
		d.LastAttemptedAt = lyceum.Some(h.now)
		d.ResponseStatus = lyceum.Some([]int32{200, 204, 404, 500}[h.IntN(4)])
		switch d.NextAttemptAt = lyceum.None[time.Time](); {
		case d.ResponseStatus.Value < 300:
			d.State = lyceum.DeliveryDelivered
		case h.IntN(2) == 0:
			d.State = lyceum.DeliveryFailed
		default:
			d.NextAttemptAt = lyceum.Some(h.now.Add(time.Second))
		}
		err = errors.Join(err, tx.UpdateDelivery(d))
	}
	return err
}

// deliveryLists are the lists of deliveries that are read after a change.
func (h *history) deliveryLists(window lyceum.Period) (all []listQuery) {
	rows := func(v lyceum.View) lyceum.Rows[lyceum.WebhookEventID, lyceum.WebhookEvent, lyceum.WebhookEventFilter] {
		return v.Deliveries
	}
	f := lyceum.WebhookEventFilter{Webhook: h.receiver(), Created: window, Newest: h.IntN(4) > 0}
	all = append(all, listOf("deliveries", rows, f))
	if h.IntN(2) == 0 {
		f.State = lyceum.Some([]string{lyceum.DeliveryPending, lyceum.DeliveryDelivered, lyceum.DeliveryFailed}[h.IntN(3)])
	} else {
		f.StatusFrom, f.StatusUntil = lyceum.Some[int32](201), lyceum.Some[int32](404)
	}
	return append(all, listOf("deliveries", rows, f))
}

// TestIndexOfDeliveriesThatMissedSome checks that the record of changed deliveries is bounded,
// and that an index that has missed some, or finds something other than it knew, is built
// again.
func TestIndexOfDeliveriesThatMissedSome(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oldDatabase(t, postgres, 81,
				"INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)",
				oldWebhooks+"(1, 1, 'verified', 'https://one.example.com', 'all', 2, 0, 1, 'contract', NULL)",
				"INSERT INTO webhook_events (school_id, webhook_event_id, webhook_id, state, attempt_count, created_at, object_type, "+
					"object_id) VALUES (1, 1, 1, 'delivered', 1, 5, 'User', 1), (1, 2, 1, 'failed', 1, 4, 'User', 1)",
				"INSERT INTO counters (school_id, name, value) VALUES (1, 'webhook_event_id', 2)")
			indexAll(s)
			s.lists.least = 0
			h := &history{Rand: rand.New(rand.NewPCG(1, 3)), store: s, other: s, now: storetest.Begin}
			// read compares lists, and checks whether indexes are built for them.
			read := func(what string, made bool) {
				t.Helper()
				before := s.ListStats()
				for range 3 { // the first two trigger the index, or its rebuilding
					for _, f := range []lyceum.WebhookEventFilter{{}, {State: lyceum.Some(lyceum.DeliveryDelivered)}} {
						f.Webhook, f.Newest = 1, true
						l := listOf(what, func(v lyceum.View) lyceum.Rows[lyceum.WebhookEventID, lyceum.WebhookEvent, lyceum.WebhookEventFilter] {
							return v.Deliveries
						}, f)
						h.compare(t, l, lyceum.Page{Number: 1, Size: 50})
					}
				}
				after := s.ListStats()
				if after.Misses > before.Misses != made || after.Hits == before.Hits {
					t.Errorf("%s, indexes answered %d times and were missing %d times", what, after.Hits-before.Hits,
						after.Misses-before.Misses)
				}
			}
			end := func(n int) {
				for range n {
					h.change(t, func(tx lyceum.Tx) error {
						d, err := tx.Deliveries.Get(tx, lyceum.WebhookEventID(1+h.IntN(2)))
						if err != nil {
							return err
						}
						d.State = []string{lyceum.DeliveryFailed, lyceum.DeliveryDelivered}[h.IntN(2)]
						return tx.UpdateDelivery(d)
					})
				}
			}
			alter := func(statement string) {
				if _, err := s.writes.db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			read("before any change", true)
			end(5)
			read("after some", false)
			for _, lost := range []string{
				"DELETE FROM delivery_changes WHERE number < 7", "UPDATE delivery_changes SET at = at + 1",
				"UPDATE delivery_changes SET number = number - 1", "DELETE FROM delivery_changes",
			} {
				end(5)
				alter(lost)
				read(lost, true)
			}
			end(3)
			alter(map[bool]string{
				false: "UPDATE delivery_changes SET notes = X'80'", true: `UPDATE delivery_changes SET notes = '\x80'`,
			}[postgres])
			read("after damage", true)
			alter("UPDATE delivery_changes SET number = number + 2000 WHERE number > 1")
			end(2 * trimEvery)
			read("after many", true)
			if kept := lines(t, s, "SELECT min(number) FROM delivery_changes", 1)[0][0]; kept != "2002" {
				t.Errorf("change %s is kept, of more than 2,000", kept)
			}
		})
	}
}

// TestIndexesOfDeliveriesBesideAnotherProcess checks that two processes that create deliveries
// at the same time record all of them, and that each has the list that the database has.
func TestIndexesOfDeliveriesBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	var stores [2]*Store
	for i := range stores {
		s, err := OpenPostgres(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		indexAll(s)
		s.lists.eager = true
		stores[i] = s
	}
	school := storetest.MakeSchool(t, stores[0])
	storetest.Write(t, stores[0], school, (&history{now: storetest.Begin}).receivers)
	newest := lyceum.WebhookEventFilter{Webhook: 1, Newest: true}
	var writers sync.WaitGroup
	for n := range 4 {
		s := stores[n%2]
		writers.Go(func() {
			for range 20 {
				storetest.Write(t, s, school, func(tx lyceum.Tx) error {
					id, err := tx.Deliveries.NextID(tx)
					if err != nil {
						return err
					}
					return tx.CreateDeliveries([]lyceum.WebhookEvent{{
						ID: id, Webhook: 1, State: lyceum.DeliveryPending, CreatedAt: storetest.Begin, ObjectType: "User", ObjectID: 1,
					}})
				})
				v := s.In(t.Context(), school)
				l, err := v.Deliveries.List(v, newest, lyceum.Page{Number: 1, Size: 1000})
				if err != nil || l.Total != int64(len(l.Rows)) || len(l.Rows) == 0 || int64(l.Rows[0].ID) != l.Total {
					t.Errorf("%d rows of %d, %v", len(l.Rows), l.Total, err)
				}
			}
		})
	}
	writers.Wait()
	for _, s := range stores {
		v := s.In(t.Context(), school)
		l, err := v.Deliveries.List(v, newest, lyceum.Page{Number: 1, Size: 1000})
		if stats := s.ListStats(); err != nil || l.Total != 80 || len(l.Rows) != 80 || stats.Hits == 0 {
			t.Errorf("%d rows of %d, an index answered %d times, %v", len(l.Rows), l.Total, stats.Hits, err)
		}
	}
	if kept := lines(t, stores[0], "SELECT max(number), count(*) FROM delivery_changes", 2)[0]; kept[0] != kept[1] {
		t.Errorf("%s notes are numbered up to %s", kept[1], kept[0])
	}
}

// TestChangesOfDeliveriesOfEachSchoolAreBounded checks that the record of changed deliveries is
// bounded in each of two schools whose changes take turns.
func TestChangesOfDeliveriesOfEachSchoolAreBounded(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	schools := []lyceum.SchoolID{storetest.MakeSchool(t, s), storetest.MakeSchool(t, s)}
	d := lyceum.WebhookEvent{
		ID: 1, Webhook: 1, State: lyceum.DeliveryPending, CreatedAt: storetest.Begin, ObjectType: "User", ObjectID: 1,
	}
	for _, school := range schools {
		storetest.Write(t, s, school, (&history{now: storetest.Begin}).receivers)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error { return tx.CreateDeliveries([]lyceum.WebhookEvent{d}) })
	}
	for range keptChanges + 3*trimEvery {
		for _, school := range schools {
			storetest.Write(t, s, school, func(tx lyceum.Tx) error { return tx.UpdateDelivery(d) })
		}
	}
	kept := lines(t, s, "SELECT school_id, count(*) FROM delivery_changes GROUP BY school_id ORDER BY school_id", 2)
	for i, school := range schools {
		if n, err := strconv.Atoi(kept[i][1]); err != nil || n < keptChanges || n > keptChanges+trimEvery {
			t.Errorf("school %d has %s changes, %v; want %d to %d", school, kept[i][1], err, keptChanges, keptChanges+trimEvery)
		}
	}
}
