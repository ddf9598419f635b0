package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// mostReaders is how many connections read at the same time.
var mostReaders = max(4, 2*runtime.GOMAXPROCS(0))

// readers is the pool of connections that read a SQLite file.
type readers struct {
	files  *files
	trace  func(string)
	idle   chan *readConn
	room   chan struct{} // one for each connection that is not open yet
	closed chan struct{}
	once   sync.Once

	mu  sync.Mutex
	all []*readConn

	revisions revisions
}

func newReaders(f *files, trace func(string)) *readers {
	r := &readers{
		files: f, trace: trace, idle: make(chan *readConn, mostReaders), room: make(chan struct{}, mostReaders),
		closed: make(chan struct{}),
	}
	for range mostReaders {
		r.room <- struct{}{}
	}
	go r.watch()
	return r
}

// readConn is a connection, and the context of its current read.
type readConn struct {
	*direct

	mu   sync.Mutex
	ctx  context.Context //nolint:containedctx // of the current reader, if any
	stop chan struct{}   // closed to interrupt the current read; the connection is unusable afterwards
}

// reads sets the context of the next read.
func (r *readConn) reads(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = ctx
}

// stopped reports whether the connection was interrupted.
func (r *readConn) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// lookAfter is the interval at which watch checks the contexts.
const lookAfter = time.Second

// watch interrupts reads whose callers have gone. It checks the contexts at intervals, because
// watching each one would cost every read a timer.
func (r *readers) watch() {
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	for {
		select {
		case <-r.closed:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		open := slices.Clone(r.all)
		r.mu.Unlock()
		for _, d := range open {
			d.mu.Lock()
			if d.ctx.Err() != nil && !d.stopped() {
				close(d.stop)
			}
			d.mu.Unlock()
		}
	}
}

// with calls do with a connection. While the files are not at their paths, the open connections
// are still used, but no more are opened.
func (r *readers) with(ctx context.Context, do func(*direct) error) error {
	d, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer r.give(d)
	d.reads(ctx)
	defer d.reads(context.Background())
	if err = do(d.direct); err != nil && d.stopped() {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}

func (r *readers) take(ctx context.Context) (*readConn, error) {
	select {
	case <-r.closed:
		return nil, errClosed
	default:
	}
	select {
	case d := <-r.idle:
		return d, nil
	default:
	}
	select {
	case d := <-r.idle:
		return d, nil
	case <-r.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.room:
	}
	d, err := r.another()
	if err == nil {
		return d, nil
	}
	r.room <- struct{}{}
	if _, moved := errors.AsType[*movedError](err); !moved || r.opened() == 0 {
		return nil, err
	}
	select {
	case d := <-r.idle:
		return d, nil
	case <-r.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *readers) opened() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

func (r *readers) another() (*readConn, error) {
	d, err := r.open()
	if err != nil {
		return nil, err
	}
	made := &readConn{direct: d, ctx: context.Background(), stop: make(chan struct{})}
	d.conn.SetInterrupt(made.stop)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, made)
	return made, nil
}

func (r *readers) open() (*direct, error) {
	return openDirect(r.files, r.trace, sqlite.OpenReadOnly, "query_only = 1", "temp_store = memory", r.files.cache)
}

func (r *readers) give(d *readConn) {
	if d.stopped() {
		r.mu.Lock()
		r.all = slices.DeleteFunc(r.all, func(other *readConn) bool { return other == d })
		r.mu.Unlock()
		_ = d.close()
		r.room <- struct{}{}
		return
	}
	r.idle <- d
	select {
	case <-r.closed:
		_ = r.close()
	default:
	}
}

// close closes the idle connections; the others are closed when they are given back.
func (r *readers) close() error {
	if r == nil {
		return nil
	}
	r.once.Do(func() { close(r.closed) })
	err := r.revisions.close()
	for {
		select {
		case d := <-r.idle:
			err = errors.Join(err, d.close())
		default:
			return err
		}
	}
}
