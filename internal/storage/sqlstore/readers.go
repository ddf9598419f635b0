package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// mostReaders is how many connections read at a time.
var mostReaders = max(4, 2*runtime.GOMAXPROCS(0))

// readers are the connections that read a SQLite file.
type readers struct {
	files  *files
	trace  func(string)
	idle   chan *direct
	room   chan struct{} // for those that are not open yet
	opened atomic.Int32
	closed chan struct{}
	once   sync.Once

	revisions revisions
}

func newReaders(f *files, trace func(string)) *readers {
	r := &readers{
		files: f, trace: trace, idle: make(chan *direct, mostReaders), room: make(chan struct{}, mostReaders),
		closed: make(chan struct{}),
	}
	for range mostReaders {
		r.room <- struct{}{}
	}
	return r
}

// with calls do with a connection. While the files are not at their paths, those
// that are open go on reading, and no more are opened.
func (r *readers) with(ctx context.Context, do func(*direct) error) error {
	d, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer r.give(d)
	return do(d)
}

func (r *readers) take(ctx context.Context) (*direct, error) {
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
	d, err := r.open()
	if err == nil {
		r.opened.Add(1)
		return d, nil
	}
	r.room <- struct{}{}
	if _, moved := errors.AsType[*movedError](err); !moved || r.opened.Load() == 0 {
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

func (r *readers) open() (*direct, error) {
	return openDirect(r.files, r.trace, sqlite.OpenReadOnly, "query_only = 1", "temp_store = memory",
		"cache_size = "+cacheSize)
}

func (r *readers) give(d *direct) {
	r.idle <- d
	select {
	case <-r.closed:
		_ = r.close()
	default:
	}
}

// close closes what nobody uses; the others are closed when they are given back.
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
