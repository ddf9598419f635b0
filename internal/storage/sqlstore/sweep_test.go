package sqlstore

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Events and attempts older than a given time are swept, except those that a delivery waits for;
// what was counted before is what is deleted.
func TestOldEventsAreSwept(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		school, other := storetest.MakeSchool(t, store), storetest.MakeSchool(t, store)
		const (
			old     = 2*sweepSize + 50
			all     = old + 5
			waiting = 3
		)
		until := storetest.Begin.Add(time.Hour)
		at := func(n int) time.Time {
			if n <= old {
				return storetest.Begin
			}
			return until
		}
		for _, of := range []lyceum.SchoolID{school, other} {
			storetest.Write(t, store, of, func(tx lyceum.Tx) error {
				_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true})
				if err != nil {
					return err
				}
				deliveries := []lyceum.WebhookEvent{
					{ID: 1, Webhook: 1, State: lyceum.DeliveryPending, CreatedAt: at(1), Number: lyceum.Some[int64](waiting), NextAttemptAt: lyceum.Some(until)},
					{ID: 2, Webhook: 1, State: lyceum.DeliveryFailed, CreatedAt: at(1), Number: lyceum.Some[int64](waiting + 1)},
					{ID: 3, Webhook: 1, State: lyceum.DeliveryFailed, CreatedAt: at(1), Number: lyceum.Some[int64](all)},
				}
				if err := tx.CreateDeliveries(deliveries); err != nil {
					return err
				}
				events := []lyceum.EventPayload{{Number: -1, At: at(1)}, {Number: -2, At: at(all)}}
				for n := 1; n <= all; n++ {
					events = append(events, lyceum.EventPayload{Number: int64(n), At: at(n), Object: "{}"})
					if err := tx.CreateAttempt(lyceum.Attempt{Delivery: 1, Number: int32(n), At: at(n)}); err != nil {
						return err
					}
				}
				return tx.Payloads.Insert(tx, events...)
			})
		}
		e := lyceum.Expired{EventUntil: until, AttemptUntil: until}
		want := map[lyceum.Kept]int64{lyceum.KeptEvents: old, lyceum.KeptAttempts: old} // one waits, and one is a test
		rows, expired, err := store.CountKept(t.Context(), school, e)
		if err != nil || rows[lyceum.KeptEvents] != all+2 || rows[lyceum.KeptAttempts] != all {
			t.Fatalf("there are %v: %v", rows, err)
		}
		for kept, n := range want {
			if expired[kept] != n {
				t.Errorf("%d %s have expired, want %d", expired[kept], kept, n)
			}
		}
		if _, none, err := store.CountKept(t.Context(), school, lyceum.Expired{}); err != nil || none[lyceum.KeptEvents] != 0 {
			t.Errorf("kept for good, %v have expired: %v", none, err)
		}
		if err := store.Sweep(t.Context(), school, lyceum.Expired{}); err != nil {
			t.Fatal(err)
		}
		if err := store.Sweep(t.Context(), school, e); err != nil {
			t.Fatal(err)
		}
		numbers := func(of lyceum.SchoolID) (numbers []int64) {
			v := store.In(t.Context(), of)
			err := v.Payloads.Each(v, struct{}{}, func(p *lyceum.EventPayload) error {
				numbers = append(numbers, p.Number)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return numbers
		}
		if got := numbers(school); !slices.Equal(got, []int64{-2, waiting, old + 1, old + 2, old + 3, old + 4, all}) {
			t.Errorf("there are events %v", got)
		}
		if got := numbers(other); len(got) != all+2 {
			t.Errorf("another school has %d events", len(got))
		}
		attempts, _, err := store.In(t.Context(), school).FindAttempts(1, 0)
		if err != nil || len(attempts) != all-old || attempts[0].Number != old+1 {
			t.Errorf("there are attempts %v: %v", attempts, err)
		}
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			again, err := tx.ReplayDeliveries(lyceum.ResendFilter{Webhook: 1, State: lyceum.Some(lyceum.DeliveryFailed)}, lyceum.None[lyceum.WebhookEvent](), 10, until)
			if len(again) != 1 || again[0].ID != 3 {
				t.Errorf("sent again are %+v", again)
			}
			if err != nil {
				return err
			}
			again[0].NextAttemptAt = lyceum.None[time.Time]()
			return tx.UpdateDelivery(lyceum.WebhookEvent{ID: 1, State: lyceum.DeliveryDelivered})
		})
		if err := store.Sweep(t.Context(), school, e); err != nil {
			t.Fatal(err)
		}
		if got := numbers(school); slices.Contains(got, waiting) {
			t.Errorf("there are events %v", got)
		}
	})
}

// The sizes of the tables add up to nearly the whole size.
func TestSizes(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		sizes, err := store.FindSizes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, table := range sizes.Tables {
			sum += table.Bytes + table.Indexes
		}
		if sum == 0 || sum > sizes.Bytes || sizes.Free > sizes.Bytes-sum {
			t.Errorf("%d tables take %d bytes of %d, of which %d are free", len(sizes.Tables), sum, sizes.Bytes, sizes.Free)
		}
	})
}

// A sweep of events and attempts reads no more than it deletes.
func TestSweepsReadByIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	school := storetest.MakeSchool(t, store)
	old := storetest.Begin.Add(-time.Hour)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true})
		if err != nil {
			return err
		}
		if err := tx.CreateDeliveries([]lyceum.WebhookEvent{{ID: 1, Webhook: 1, CreatedAt: old, Number: lyceum.Some[int64](1)}}); err != nil {
			return err
		}
		if err := tx.CreateAttempt(lyceum.Attempt{Delivery: 1, Number: 1, At: old}); err != nil {
			return err
		}
		return tx.Payloads.Insert(tx, lyceum.EventPayload{Number: 1, At: old})
	})
	by.seen = nil
	if err := store.Sweep(t.Context(), school, lyceum.Expired{EventUntil: storetest.Begin, AttemptUntil: storetest.Begin}); err != nil {
		t.Fatal(err)
	}
	wants := map[string][]string{
		"SELECT at, number":                  {"sqlite_autoindex_event_payloads_1 (school_id=? AND number>?"},
		"DELETE FROM event_payloads":         {"sqlite_autoindex_event_payloads_1 (school_id=? AND number>? AND number<?", "webhook_events_waiting (school_id=? AND number=?)"},
		"SELECT at, webhook_event_id":        {"sqlite_autoindex_webhook_attempts_1 (school_id=? AND (webhook_event_id,attempt)>(?,?)"},
		"DELETE FROM webhook_attempts WHERE": {"sqlite_autoindex_webhook_attempts_1 (school_id=? AND (webhook_event_id,attempt)>(?,?) AND (webhook_event_id,attempt)<(?,?)"},
	}
	for begin, parts := range wants {
		at := slices.IndexFunc(by.seen, func(text string) bool { return strings.HasPrefix(text, begin) })
		if at < 0 {
			t.Errorf("no statement is %s", begin)
			continue
		}
		plan := lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(by.seen[at], "1"), 4)
		for _, part := range parts {
			if !slices.ContainsFunc(plan, func(step []string) bool { return strings.Contains(step[3], part) }) {
				t.Errorf("%s: %v, want %s", by.seen[at], plan, part)
			}
		}
	}
}

// Deliveries are swept with their events, unless they wait, have an attempt, or were made by
// another server.
func TestOldDeliveriesAreSwept(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		school := storetest.MakeSchool(t, store)
		old, until := storetest.Begin, storetest.Begin.Add(time.Hour)
		event := lyceum.Some[int64](1)
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true})
			if err != nil {
				return err
			}
			err = tx.CreateDeliveries([]lyceum.WebhookEvent{
				{ID: 1, Webhook: 1, CreatedAt: old, Number: event},
				{ID: 2, Webhook: 1, CreatedAt: old, Number: event, NextAttemptAt: lyceum.Some(until)},
				{ID: 3, Webhook: 1, CreatedAt: old, Number: event},
				{ID: 4, Webhook: 1, CreatedAt: old},
				{ID: 5, Webhook: 1, CreatedAt: until, Number: event},
				{ID: 6, Webhook: 1, CreatedAt: old, Number: event},
			})
			if err != nil {
				return err
			}
			if err := tx.CreateAttempt(lyceum.Attempt{Delivery: 3, Number: 1, At: until}); err != nil {
				return err
			}
			return tx.CreateAttempt(lyceum.Attempt{Delivery: 6, Number: 1, At: old})
		})
		e := lyceum.Expired{AttemptUntil: until, DeliveryUntil: until}
		rows, expired, err := store.CountKept(t.Context(), school, e)
		if err != nil || rows[lyceum.KeptDeliveries] != 6 || expired[lyceum.KeptDeliveries] != 3 {
			t.Errorf("of %v have expired %v: %v", rows, expired, err)
		}
		if err := store.Sweep(t.Context(), school, e); err != nil {
			t.Fatal(err)
		}
		v := store.In(t.Context(), school)
		var left []lyceum.WebhookEventID
		err = v.Deliveries.Each(v, lyceum.WebhookEventFilter{}, func(d *lyceum.WebhookEvent) error {
			left = append(left, d.ID)
			return nil
		})
		if err != nil || !slices.Equal(left, []lyceum.WebhookEventID{2, 3, 4, 5}) {
			t.Errorf("there are deliveries %v: %v", left, err)
		}
	})
}

// A file shrinks if much of it is free, and the backup of a file whose pages cannot be moved has
// pages that can.
func TestFilesShrink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := Open(t.Context(), dir, Options{Synchronous: Off})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	const rows = 60
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		for n := int64(1); n <= rows; n++ {
			event := lyceum.EventPayload{Number: n, At: storetest.Begin, Object: noise(n, 50_000)}
			if err := tx.Payloads.Insert(tx, event); err != nil {
				return err
			}
		}
		return nil
	})
	sizes := func() lyceum.Sizes {
		sizes, err := store.FindSizes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sizes
	}
	if err := store.Sweep(t.Context(), school, lyceum.Expired{EventUntil: storetest.Begin.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	before := sizes()
	if before.Free < rows*50_000 {
		t.Fatalf("%d bytes are free", before.Free)
	}
	if err := store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sizes(); got.Bytes != before.Bytes {
		t.Errorf("%d bytes became %d, although few are free", before.Bytes, got.Bytes)
	}
	if err := store.compact(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := sizes(); got.Bytes > before.Bytes-before.Free*3/4 || got.Free > got.Bytes/spareShare {
		t.Errorf("%d bytes became %d, of which %d are free", before.Bytes, got.Bytes, got.Free)
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("%v, %v", findings, err)
	}
	older := filepath.Join(t.TempDir(), FileName)
	if _, err := store.writes.db.ExecContext(t.Context(), "PRAGMA auto_vacuum = none"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.writes.db.ExecContext(t.Context(), "VACUUM INTO '"+older+"'"); err != nil {
		t.Fatal(err)
	}
	old, err := OpenFile(t.Context(), older, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := old.compact(t.Context(), 0); err != nil {
		t.Error(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := old.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{older: "0", backup: "2"} {
		db, err := sql.Open("sqlite", fileDSN(path, "mode=ro"))
		if err != nil {
			t.Fatal(err)
		}
		var mode string
		err = db.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&mode)
		if err = errors.Join(err, db.Close()); err != nil || mode != want {
			t.Errorf("%s has mode %q, want %s: %v", path, mode, want, err)
		}
	}
}

// noise returns a text that cannot be compressed.
func noise(seed int64, size int) string {
	source := rand.New(rand.NewPCG(uint64(seed), 1))
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(source.Uint32())
	}
	return string(text)
}

// Check unpacks packed texts.
func TestCheckSeesDamagedPackedTexts(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true})
		if err != nil {
			return err
		}
		if _, err := tx.Deliveries.NextID(tx); err != nil {
			return err
		}
		if err := tx.CreateDeliveries([]lyceum.WebhookEvent{{ID: 1, Webhook: 1, CreatedAt: storetest.Begin, Number: lyceum.Some[int64](1)}}); err != nil {
			return err
		}
		if err := tx.CreateAttempt(lyceum.Attempt{Delivery: 1, Number: 1, At: storetest.Begin}); err != nil {
			return err
		}
		return tx.Payloads.Insert(tx, lyceum.EventPayload{Number: 1, Object: "{}"}, lyceum.EventPayload{Number: 2, Object: "{}"})
	})
	for _, damage := range []string{"UPDATE event_payloads SET object = x'09' WHERE number = 2", "UPDATE webhook_attempts SET exchange = x''"} {
		if findings, err := store.Check(t.Context()); err != nil || len(findings) > 1 {
			t.Errorf("before %s: %v, %v", damage, findings, err)
		}
		if _, err := store.writes.db.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
	}
	want := []lyceum.Finding{
		{School: school, What: "1 stored events cannot be read"},
		{School: school, What: "1 stored attempts to deliver events cannot be read"},
	}
	if findings, err := store.Check(t.Context()); err != nil || !slices.Equal(findings, want) {
		t.Errorf("%v, %v", findings, err)
	}
}
