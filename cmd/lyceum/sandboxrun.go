package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/inbound/reference"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// sandboxServer serves a made-up school. Its database can be replaced by another state of it;
// then everything that uses it is created again, as at a start.
type sandboxServer struct {
	command *sandboxCommand
	program *program
	kept    *database
	index   string // folder of the sales index; "" for none
	options sqlstore.Options
	base    string // URL
	at      lyceum.Opt[time.Time]
	end     context.CancelCauseFunc // ends the sandbox if it cannot continue

	school *demo.School
	known  credentials
	// reference is the same for every state.
	reference http.Handler

	replacing sync.Mutex
	requests  sync.RWMutex // read-locked while a request is served
	now       *running
}

// running is what serves one state of a sandbox.
type running struct {
	handler http.Handler
	service *service
	kept    *sqlstore.Store
	store   *salesindex.Store
	rest    func()
	stop    func()          // ends what is waiting
	gone    context.Context //nolint:containedctx // ends the requests that are in progress
	leave   context.CancelFunc
}

// begin generates the school if it does not exist yet, and creates what serves it.
func (b *sandboxServer) begin() error {
	store, err := b.open()
	if err != nil {
		return err
	}
	made, err := b.fill(store)
	if err == nil && !made {
		made, err = b.unused(store)
	}
	if err == nil && made {
		err = b.keepStart(store)
	}
	if err == nil {
		b.reference, err = reference.Handler(reference.Options{
			Documents: contract.All(), Log: b.program.log,
			Key: b.known.APIKey, // everybody knows it
		})
	}
	if err == nil {
		b.now, err = b.over(store)
	}
	if err != nil {
		return errors.Join(err, store.Close())
	}
	return nil
}

func (b *sandboxServer) open() (*sqlstore.Store, error) { return b.kept.openWith(b.program, b.options) }

func (b *sandboxServer) fill(store lyceum.Store) (made bool, err error) {
	b.school, err = b.command.generated(store.In(b.program.ctx, demo.ID), b.at, b.program.clock())
	if err != nil {
		return false, err
	}
	b.known = credentialsOf(b.school, b.base)
	return b.command.fill(b.program, store, b.school, b.known)
}

// over creates what serves the school of a store, which will also close the store.
func (b *sandboxServer) over(kept *sqlstore.Store) (*running, error) {
	c, room := b.command, &heapRoom{}
	p := *b.program
	now := &running{kept: kept}
	now.gone, now.leave = context.WithCancel(context.WithoutCancel(p.ctx))
	p.ctx, now.stop = context.WithCancel(p.ctx)
	now.store = indexed(&p, kept, c.memory(), b.index, room)
	now.store.Repeats = true
	if err := now.store.Prepare(demo.ID); err != nil {
		p.log.Info("the database answers lists of sales", "because", err.Error())
	}
	moved, err := clock.Kept(now.store.In(p.ctx, demo.ID), p.clock, b.at)
	if err != nil {
		return nil, err
	}
	p.clock = moved.Now
	site := siteOf(b.known.BaseURL, b.known.AuthURL)
	now.service = newService(&p, now.store, serviceOptions{
		perMinute: c.perMinute(), responses: c.limits(), cache: c.ResponseCache.bytes, room: room, loopback: true,
		ring: lyceum.NewKeyring(b.school.Secrets.Ring), sender: webhook.New(webhook.Options{Loopback: true}), site: site,
		files: b.kept.fileFolder(),
	})
	now.service.folder = b.kept.folder()
	measureLists(now.service.metrics, kept)
	if err := now.service.movable(p.ctx, moved, demo.ID, c.Seed, b); err != nil {
		return nil, err
	}
	now.handler, err = now.service.handler(handlerOptions{
		site: site, local: c.local(), reference: b.reference,
	})
	if err != nil {
		return nil, err
	}
	now.rest, err = now.service.background(p.ctx)
	return now, err
}

// close ends what serves a state.
func (r *running) close() error {
	r.stop()
	r.rest()
	r.service.moves.Close()
	return r.store.Close()
}

// Close ends the sandbox.
func (b *sandboxServer) Close() error {
	b.requests.Lock()
	defer b.requests.Unlock()
	if b.now == nil {
		return nil
	}
	return b.now.close()
}

// errWentBack ends the requests in progress when the sandbox goes back to another state.
var errWentBack = lyceum.Errorf(lyceum.Unavailable, "the sandbox is being brought back to another state; try again")

// staying is the context key of a function that exempts a request from being ended with the
// others.
type staying struct{}

// ServeHTTP serves a request from the current state.
func (b *sandboxServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.requests.RLock()
	defer b.requests.RUnlock()
	if b.now == nil {
		http.Error(w, "the sandbox has ended", http.StatusServiceUnavailable)
		return
	}
	from := r.Context()
	if from.Err() != nil { // of the connection, because its previous request was ended below
		w.Header().Set("Connection", "close")
		from = context.WithoutCancel(from)
	}
	ctx, cancel := context.WithCancelCause(from)
	defer cancel(nil)
	stay := context.AfterFunc(b.now.gone, func() {
		cancel(errWentBack)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // in case it is reading a slow body
	})
	defer stay()
	b.now.handler.ServeHTTP(w, r.WithContext(context.WithValue(ctx, staying{}, stay)))
}

// replace runs act, called from within a request, to replace the files of the database. All
// other requests are ended first, or wait. Erasures in progress are completed first, so that no
// other state brings those people back.
func (b *sandboxServer) replace(ctx context.Context, act func() error) error {
	if !b.replacing.TryLock() {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: "sandbox_busy", Detail: "the sandbox is being reset or restored; try again",
		}
	}
	defer b.replacing.Unlock()
	if err := b.now.service.moves.Retire(); err != nil {
		return err
	}
	if stay, is := ctx.Value(staying{}).(func() bool); is {
		stay()
	}
	b.now.stop()
	b.now.leave()
	b.requests.RUnlock()
	defer b.requests.RLock()
	b.requests.Lock()
	defer b.requests.Unlock()
	err := errors.Join(b.now.service.finishErasures(ctx), b.now.close())
	b.now = nil
	if err == nil {
		err = act()
	}
	store, failed := b.open()
	if failed == nil {
		b.now, failed = b.over(store)
	}
	if failed != nil {
		b.end(failed)
	}
	return errors.Join(err, failed)
}

var _ clock.States = (*sandboxServer)(nil)

// show returns the time of the current state's clock.
func (b *sandboxServer) show(ctx context.Context, by lyceum.By) (clock.Time, error) {
	return b.now.service.moves.Show(ctx, by, struct{}{})
}

// discardIndex deletes the sales index of a database that is replaced.
func (b *sandboxServer) discardIndex() error {
	if b.index == "" {
		return nil
	}
	if _, err := os.Stat(b.index); err != nil {
		return nil //nolint:nilerr // it does not exist
	}
	return salesindex.Discard(b.index, demo.ID)
}
