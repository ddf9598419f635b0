package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

const (
	// buyers is how many users take turns buying.
	buyers = 1000
	// marketCourses is how many courses they buy.
	marketCourses = 1200
	// marketSales is how many sales start an enrollment.
	marketSales = buyers * marketCourses
	// deliveredEvents is how many events a round delivers.
	deliveredEvents = 4000
	// waitingDeliveries is how many deliveries wait for their next attempt.
	waitingDeliveries = 1000
	// followedSales is the size of the school whose changes are read.
	followedSales = 100_000
)

// measureJournal measures sales as they happen, what webhooks add to them, how fast events are
// delivered, and how fast the change feed is read.
func measureJournal(ctx context.Context, s settings) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // like the server
	fmt.Printf("## Sales, webhooks and the change feed\n\n%d writers record sales, each of which enrolls; a bare commit "+
		"is one row in a database of its own, by as many writers.\n\n", writers)
	fmt.Print("| engine | bare commits/s | sales/s | of bare commits | with 1,000 deliveries waiting | of without |\n" +
		"|---|---|---|---|---|---|\n")
	if err := measureSales(ctx, s, "sqlite", func(dir string) (*sqlstore.Store, error) {
		return sqlstore.Open(ctx, dir, sqlstore.Options{})
	},
		func() (float64, error) { return bareCommits(ctx, s.work, s.duration) }); err != nil {
		return err
	}
	if address := os.Getenv("LYCEUM_TEST_POSTGRES"); address != "" {
		bare, err := openBare(ctx, address)
		if err != nil {
			return err
		}
		defer bare.close()
		err = measureSales(ctx, s, "postgres", func(string) (*sqlstore.Store, error) {
			return sqlstore.OpenPostgres(ctx, address, sqlstore.Options{})
		},
			func() (float64, error) { return bare.rate(ctx, writers, s.duration) })
		if err != nil {
			return err
		}
	}
	fmt.Print("\n| what | a second |\n|---|---|\n")
	if err := measureDeliveries(ctx, s); err != nil {
		return err
	}
	return measureFeed(ctx, s)
}

// market is a school that sells, with webhooks.
type market struct {
	store  *sqlstore.Store
	school lyceum.SchoolID
	sales  *sales.Service
	events *events.Service
	sender *webhook.Sender
	clock  func() time.Time
	next   atomic.Int64

	receipts bool // payments have references, and get receipts
}

func openMarket(ctx context.Context, store *sqlstore.Store) (*market, error) {
	return openMarketAt(ctx, store, time.Now)
}

func newMarket(store *sqlstore.Store, clock func() time.Time) *market {
	m := &market{store: store, sender: webhook.New(webhook.Options{Loopback: true}), clock: clock}
	m.sales = sales.New(store, clock, learning.New(store, clock), people.New(store, clock))
	m.events = events.New(store, clock, events.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}), CheckURL: m.sender.CheckURL,
	})
	return m
}

func openMarketAt(ctx context.Context, store *sqlstore.Store, clock func() time.Time) (*market, error) {
	m := newMarket(store, clock)
	now := time.Now()
	school, err := store.CreateSchool(ctx, lyceum.School{Name: "Market", CreatedAt: now}, "bench")
	if err != nil {
		return nil, err
	}
	m.school = school.ID
	return m, store.Write(ctx, lyceum.Stamp{School: m.school, At: now, Actor: "bench"}, func(tx lyceum.Tx) error {
		var users []lyceum.User
		for id := range lyceum.UserID(buyers) {
			users = append(users, lyceum.User{
				ID: id + 1, Email: fmt.Sprintf("buyer%d@example.com", id), Role: lyceum.Student, CreatedAt: now,
			})
		}
		var courses []lyceum.Course
		var plans []lyceum.PricingPlan
		for id := range lyceum.CourseID(marketCourses) {
			courses = append(courses, lyceum.Course{ID: id + 1, Name: "Course", CreatedAt: now, UpdatedAt: now})
			plans = append(plans, lyceum.PricingPlan{
				ID: lyceum.PricingPlanID(id + 1), CourseID: lyceum.Some(id + 1), Name: "Plan", Price: 1999, Currency: "USD",
				Frequency: lyceum.OneTimePayment, CreatedAt: now, UpdatedAt: now,
			})
		}
		_, e1 := tx.Users.Save(tx, users...)
		_, e2 := tx.Courses.Save(tx, courses...)
		_, e3 := tx.PricingPlans.Save(tx, plans...)
		return errors.Join(e1, e2, e3)
	})
}

func (m *market) sell(ctx context.Context) error {
	n := m.next.Add(1)
	sale := sales.NewSale{
		User: lyceum.UserID(1 + n%buyers), Plan: lyceum.PricingPlanID(1 + n/buyers%marketCourses),
		Amounts: sales.Amounts{TaxCharge: lyceum.Some(lyceum.Minor(380))},
	}
	if m.receipts {
		sale.Reference = lyceum.Some(fmt.Sprintf("ch_%d", n))
	}
	_, err := m.sales.Record(ctx, lyceum.By{School: m.school, Actor: "bench"}, sale)
	return err
}

// issueReceipts makes the school issue receipts, and gives its payments references.
func (m *market) issueReceipts(ctx context.Context) error {
	m.receipts = true
	_, err := m.sales.ChangeSeller(ctx, lyceum.By{School: m.school, Actor: "bench"}, sales.SellerChange{
		Name: lyceum.Some("Market Ltd"),
	})
	return err
}

func (m *market) courier() *webhook.Courier {
	return &webhook.Courier{
		Events: m.events, Sender: m.sender, Log: slog.New(slog.DiscardHandler),
		Changed: func() <-chan struct{} { return m.store.Changed(0) },
	}
}

func measureSales(
	ctx context.Context,
	s settings,
	engine string,
	open func(dir string) (*sqlstore.Store, error),
	bare func() (float64, error),
) error {
	dir := filepath.Join(s.work, "market")
	defer os.RemoveAll(dir)
	store, err := open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	quiet, err := openMarket(ctx, store)
	if err != nil {
		return err
	}
	waiting, err := openMarket(ctx, store)
	if err != nil {
		return err
	}
	if err := waiting.wait(ctx); err != nil {
		return err
	}
	var commits, sold, ofBare, withWaiting, ofQuiet []float64
	for range s.rounds {
		base, err := bare()
		if err != nil {
			return err
		}
		a, err := sellFor(ctx, s.duration, writers, []*market{quiet})
		if err != nil {
			return err
		}
		background, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { waiting.courier().Run(background) })
		b, err := sellFor(ctx, s.duration, writers, []*market{waiting})
		stop()
		running.Wait()
		if err != nil {
			return err
		}
		commits, sold, ofBare = append(commits, base), append(sold, a.perSecond), append(ofBare, a.perSecond/base)
		withWaiting, ofQuiet = append(withWaiting, b.perSecond), append(ofQuiet, b.perSecond/a.perSecond)
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f | %.0f | %.2f |\n",
		engine, median(commits), median(sold), median(ofBare), median(withWaiting), median(ofQuiet))
	return nil
}

// wait creates a webhook with deliveries that wait for their next attempt.
func (m *market) wait(ctx context.Context) error {
	by := lyceum.By{School: m.school, Actor: "bench"}
	w, err := m.events.Create(ctx, by, events.WebhookForm{
		URL: "http://127.0.0.1:9/hook", Events: []string{string(lyceum.UserCreatedEvent)},
	})
	if err != nil {
		return err
	}
	return m.store.Write(ctx, lyceum.Stamp{School: m.school, At: time.Now(), Actor: "bench"}, func(tx lyceum.Tx) error {
		if err := tx.Reserve(waitingDeliveries, lyceum.WebhookEventSequence); err != nil {
			return err
		}
		first, err := tx.Deliveries.NextID(tx)
		if err != nil {
			return err
		}
		var all []lyceum.WebhookEvent
		for n := range int32(waitingDeliveries) {
			all = append(all, lyceum.WebhookEvent{
				ID: first + lyceum.WebhookEventID(n), Webhook: w.ID, State: lyceum.DeliveryPending, CreatedAt: time.Now(),
				ObjectType: "User", ObjectID: 1,
				Number: lyceum.Some[int64](1), NextAttemptAt: lyceum.Some(time.Now().Add(time.Hour)),
			})
		}
		return tx.CreateDeliveries(all)
	})
}

// bareSessions are sessions of PostgreSQL that commit one row at a time. They stay open between
// rounds, because sessions that begin or end take processor time from what is measured.
type bareSessions struct {
	db    *sql.DB
	conns []*sql.Conn
}

func openBare(ctx context.Context, address string) (*bareSessions, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bare (id BIGSERIAL PRIMARY KEY, n BIGINT NOT NULL)")
	return &bareSessions{db: db}, err
}

func (b *bareSessions) close() { _ = b.db.Close() }

// rate returns the number of commits per second by a number of writers.
func (b *bareSessions) rate(ctx context.Context, writers int, duration time.Duration) (float64, error) {
	commit := func(writer int) error {
		_, err := b.conns[writer].ExecContext(ctx, "INSERT INTO bare (n) VALUES (1)")
		return err
	}
	for len(b.conns) < writers {
		conn, err := b.db.Conn(ctx)
		if err != nil {
			return 0, err
		}
		b.conns = append(b.conns, conn)
		if err := commit(len(b.conns) - 1); err != nil {
			return 0, err
		}
	}
	return writeFor(duration, writers, commit)
}

// measureDeliveries records sales first and then delivers their events to a receiver on the
// same machine.
func measureDeliveries(ctx context.Context, s settings) error {
	var rates []float64
	for range s.rounds {
		rate, err := deliverOnce(ctx, filepath.Join(s.work, "deliveries"))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	fmt.Printf("| events dispatched, delivered to a local receiver and recorded, SQLite | %.0f |\n", median(rates))
	return nil
}

func deliverOnce(ctx context.Context, dir string) (float64, error) {
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	m, err := openMarket(ctx, store)
	if err != nil {
		return 0, err
	}
	all := make(chan struct{})
	var came atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if came.Add(1) == deliveredEvents {
			close(all)
		}
	}))
	defer receiver.Close()
	by := lyceum.By{School: m.school, Actor: "bench"}
	if _, err := m.events.Create(ctx, by, events.WebhookForm{
		URL: receiver.URL, Events: []string{string(lyceum.SaleCreatedEvent)},
	}); err != nil {
		return 0, err
	}
	var selling sync.WaitGroup
	failures := make([]error, writers)
	for writer := range writers {
		selling.Go(func() {
			for range deliveredEvents / writers {
				failures[writer] = errors.Join(failures[writer], m.sell(ctx))
			}
		})
	}
	selling.Wait()
	if err := errors.Join(failures...); err != nil {
		return 0, err
	}
	background, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	begin := time.Now()
	running.Go(func() { m.courier().Run(background) })
	select {
	case <-all:
	case <-time.After(time.Minute):
		err = fmt.Errorf("only %d of %d events came", came.Load(), deliveredEvents)
	}
	took := time.Since(begin)
	stop()
	running.Wait()
	return deliveredEvents / took.Seconds(), err
}

// measureFeed reads all changes of a school over one connection.
func measureFeed(ctx context.Context, s settings) error {
	sandbox, err := start(
		ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--transactions",
		strconv.Itoa(followedSales),
	)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	var rates []float64
	rows := 0
	for range s.rounds {
		begin := time.Now()
		if rows, err = follow(sandbox); err != nil {
			return err
		}
		rates = append(rates, float64(rows)/time.Since(begin).Seconds())
	}
	fmt.Printf("| changes read by one connection, 10,000 a request, of a school with %d | %.0f |\n\n", rows, median(rates))
	return nil
}

// follow reads the feed to its end and returns the number of changes.
func follow(s *server) (rows int, err error) {
	c, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	for after := 0; ; {
		_, body, err := c.do(request(fmt.Sprintf("/lyceum/v1/changes?limit=10000&after=%d", after), s.key), true)
		if err != nil {
			return 0, err
		}
		var tail struct {
			Next int  `json:"next"`
			More bool `json:"more"`
		}
		// The changes themselves are not parsed, because that would measure the reader.
		end := bytes.LastIndex(body, []byte(`],"next":`))
		if end < 0 {
			return 0, fmt.Errorf("no feed: %.200s", body)
		}
		if err := json.Unmarshal(append([]byte("{"), body[end+2:]...), &tail); err != nil {
			return 0, err
		}
		after = tail.Next
		if !tail.More {
			return after, nil
		}
	}
}
