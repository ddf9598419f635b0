package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

const (
	// pacedSales is how many sales per second are recorded while events are swept.
	pacedSales = 500
	// pacedTime is how long they are recorded.
	pacedTime = 10 * time.Second
	// sweptEvents is how many events there are to sweep.
	sweptEvents = 200_000
)

// measureKept measures the space that events take, how much a year of them adds up to if they
// are swept each month, and how long writes take during a sweep.
func measureKept(ctx context.Context, s settings) error {
	size := s.sizes[0]
	fmt.Printf("## What is kept\n\nA year of %d sales in SQLite, each with three events for a webhook; events are kept "+
		"90 days and attempts 30.\n\n", size)
	if err := measureYear(ctx, filepath.Join(s.work, "year"), size); err != nil {
		return err
	}
	fmt.Printf("\n%d sales a second, while %d events are swept and without that:\n\n", pacedSales, sweptEvents)
	fmt.Print("| round | p99 without | p99 while sweeping | ratio | swept |\n|---|---|---|---|---|\n")
	for round := range s.rounds {
		if err := measureSweep(ctx, filepath.Join(s.work, "swept"), round+1); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// measureYear sells in twelve parts. The events of each are delivered, and swept a month later.
func measureYear(ctx context.Context, dir string, size int) error {
	if size > marketSales {
		return fmt.Errorf("a year has at most %d sales: each of them begins an enrollment", marketSales)
	}
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	const month = 365 * 24 * time.Hour / 12
	var ahead atomic.Int64
	m, err := openMarketAt(ctx, store, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	if err != nil {
		return err
	}
	var came atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	defer receiver.Close()
	if _, err := m.events.Create(ctx, lyceum.By{School: m.school, Actor: "bench"}, events.WebhookForm{
		URL: receiver.URL, Events: []string{
			string(lyceum.SaleCreatedEvent), string(lyceum.TransactionCreatedEvent), string(lyceum.EnrollmentCreatedEvent),
		},
	}); err != nil {
		return err
	}
	fmt.Print("| after | database MB | free MB | events | bytes each | attempts | bytes each |\n" +
		"|---|---|---|---|---|---|---|\n")
	for n := range 12 {
		if err := m.sellMany(ctx, size/12); err != nil {
			return err
		}
		if err := m.deliverAll(ctx, &came, int64(3*(n+1)*(size/12))); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "month %d of 12 is delivered\n", n+1)
		if n == 0 || n == 11 {
			if err := keptRow(ctx, dir, fmt.Sprintf("month %d", n+1)); err != nil {
				return err
			}
		}
		ahead.Add(int64(month))
		if err := access.Sweep(ctx, store, m.clock()); err != nil {
			return err
		}
	}
	return keptRow(ctx, dir, "the last sweep")
}

func (m *market) sellMany(ctx context.Context, n int) error {
	var selling sync.WaitGroup
	failures := make([]error, writers)
	for writer := range writers {
		selling.Go(func() {
			for i := writer; i < n; i += writers {
				failures[writer] = errors.Join(failures[writer], m.sell(ctx))
			}
		})
	}
	selling.Wait()
	return errors.Join(failures...)
}

// deliverAll runs a courier until the given number of messages has arrived in total and their
// attempts are recorded.
func (m *market) deliverAll(ctx context.Context, came *atomic.Int64, want int64) error {
	background, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { m.courier().Run(background) })
	defer running.Wait()
	defer stop()
	const pause = 10 * time.Millisecond
	before, still := int64(0), time.Duration(0)
	for now := came.Load(); now < want; now = came.Load() {
		if still += pause; now > before {
			before, still = now, 0
		}
		if still > time.Minute {
			return fmt.Errorf("only %d of %d events came, and none for a minute", now, want)
		}
		time.Sleep(pause)
	}
	return nil
}

// keptRow prints what the database file contains.
func keptRow(ctx context.Context, dir, after string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName)+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	var bytes, free, payloads, attempts, payloadBytes, attemptBytes float64
	of := func(table string) string {
		return "(SELECT sum(d.pgsize) FROM dbstat d JOIN sqlite_schema m ON m.name = d.name WHERE d.aggregate = TRUE " +
			"AND m.tbl_name = '" + table + "')"
	}
	err = db.QueryRowContext(ctx, "SELECT page_count * page_size, freelist_count * page_size, "+
		"(SELECT count(*) FROM event_payloads), (SELECT count(*) FROM webhook_attempts), "+of("event_payloads")+", "+
		of("webhook_attempts")+" FROM pragma_page_count, pragma_page_size, pragma_freelist_count").
		Scan(&bytes, &free, &payloads, &attempts, &payloadBytes, &attemptBytes)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %.1f | %.1f | %.0f | %.0f | %.0f | %.0f |\n", after, bytes/1e6, free/1e6, payloads,
		payloadBytes/max(1, payloads), attempts, attemptBytes/max(1, attempts))
	return nil
}

// measureSweep records sales at a fixed rate, with and without a sweep.
func measureSweep(ctx context.Context, dir string, round int) error {
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	m, err := openMarket(ctx, store)
	if err != nil {
		return err
	}
	by := lyceum.By{School: m.school, Actor: "bench"}
	if _, err := m.events.Create(ctx, by, events.WebhookForm{URL: "http://127.0.0.1:9/hook"}); err != nil {
		return err
	}
	old := time.Now().Add(-365 * 24 * time.Hour)
	object := fmt.Sprintf(`{"id":7,"text":"%x"}`, make([]byte, 100))
	for n := int64(0); n < sweptEvents; n += 1000 {
		stamp := lyceum.Stamp{School: m.school, At: old, Actor: "bench"}
		err := store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			made := make([]lyceum.EventPayload, 1000)
			for i := range made {
				made[i] = lyceum.EventPayload{Number: n + int64(i) + 1, Event: lyceum.UserUpdatedEvent, At: old, Object: object}
			}
			if err := tx.Payloads.Insert(tx, made...); err != nil {
				return err
			}
			return m.delivered(tx, made)
		})
		if err != nil {
			return err
		}
	}
	without, err := m.paced(ctx)
	if err != nil {
		return err
	}
	sweeping, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { err = access.Sweep(sweeping, store, time.Now()) })
	while, failed := m.paced(ctx)
	stop()
	running.Wait()
	if failed != nil || err != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(failed, err)
	}
	rows, _, err := store.CountKept(ctx, m.school, lyceum.Expired{})
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %v | %v | %.2f | %d |\n", round, without, while, float64(while)/float64(without),
		sweptEvents-rows[lyceum.KeptEvents])
	return nil
}

// delivered creates a delivery of each event that was delivered at the first attempt.
func (m *market) delivered(tx lyceum.Tx, made []lyceum.EventPayload) error {
	if err := tx.Reserve(len(made), lyceum.WebhookEventSequence); err != nil {
		return err
	}
	deliveries := make([]lyceum.WebhookEvent, len(made))
	for i := range made {
		id, err := tx.Deliveries.NextID(tx)
		if err != nil {
			return err
		}
		deliveries[i] = lyceum.WebhookEvent{
			ID: id, Webhook: 1, State: lyceum.DeliveryDelivered, CreatedAt: made[i].At, ObjectType: "User",
			Number: lyceum.Some(made[i].Number),
		}
	}
	return tx.CreateDeliveries(deliveries)
}

// paced records sales at a fixed rate and returns the 99th percentile of the time they took.
func (m *market) paced(ctx context.Context) (p99 time.Duration, err error) {
	n := int(pacedTime.Seconds() * pacedSales)
	took, failures := make([]time.Duration, n), make([]error, n)
	var selling sync.WaitGroup
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / pacedSales)))
		selling.Go(func() {
			at := time.Now()
			failures[i] = m.sell(ctx)
			took[i] = time.Since(at)
		})
	}
	selling.Wait()
	slices.Sort(took)
	return took[n*99/100].Round(10 * time.Microsecond), errors.Join(failures...)
}
