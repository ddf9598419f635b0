package main

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

// filesPatience is how long requests for files wait for a server that stopped without releasing
// the files.
const filesPatience = leaseTime + 2*leasePause

var errFilesElsewhere = lyceum.Errorf(lyceum.Unavailable,
	"this server cannot reach the uploaded files, which another server of the same database keeps; try again later")

// leasedFiles are the uploaded files of a PostgreSQL database. One process at a time has them
// in its folder; processes that use the same object store all have them.
type leasedFiles struct {
	lyceum.FileStore

	holder string
	shared bool // by all that use the same object store

	mu    sync.Mutex
	held  chan struct{} // closed while this process has the files
	since time.Time     // when it last did not have them
}

func leaseFiles(store lyceum.FileStore) *leasedFiles {
	l := &leasedFiles{FileStore: store, holder: rand.Text(), held: make(chan struct{}), since: time.Now()}
	if remote, is := store.(*files.S3); is {
		l.holder, l.shared = remote.Place(), true
	}
	return l
}

// run requests the files until ctx ends, and then releases them if they are not shared.
func (l *leasedFiles) run(ctx context.Context, store lyceum.Store, log *slog.Logger) {
	reported := false
	for pause := time.NewTicker(leasePause); ; {
		held, err := holdLease(ctx, store, lyceum.FilesLease, l.holder, leaseTime)
		l.set(held)
		switch {
		case held && reported:
			log.InfoContext(ctx, "this server has the uploaded files now")
			reported = false
		case !held && err == nil && !reported && ctx.Err() == nil:
			log.ErrorContext(ctx, "another server of this database keeps uploaded files in another place, so uploads and "+
				"downloads are rejected here; several servers need the same object store: set --files-url on all of them")
			reported = true
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			if held && !l.shared {
				// If this fails, the next server waits until the lease expires.
				_, _ = holdLease(context.WithoutCancel(ctx), store, lyceum.FilesLease, l.holder, 0)
			}
			return
		}
	}
}

func (l *leasedFiles) set(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.held:
		if !held {
			l.held, l.since = make(chan struct{}), time.Now()
		}
	default:
		if held {
			close(l.held)
		}
	}
}

// wait returns once this process has the files. It fails with Unavailable if it has been
// without them for too long.
func (l *leasedFiles) wait(ctx context.Context) error {
	l.mu.Lock()
	held, until := l.held, l.since.Add(filesPatience)
	l.mu.Unlock()
	select {
	case <-held:
		return nil
	default:
	}
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return errFilesElsewhere
	}
}

// Part implements lyceum.FileStore.
func (l *leasedFiles) Part(ctx context.Context, name lyceum.FileName) (lyceum.FilePart, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.FileStore.Part(ctx, name)
}

// Open implements lyceum.FileStore.
func (l *leasedFiles) Open(ctx context.Context, name lyceum.FileName) (io.ReadSeekCloser, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.FileStore.Open(ctx, name)
}

// Remove implements lyceum.FileStore.
func (l *leasedFiles) Remove(ctx context.Context, name lyceum.FileName) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.FileStore.Remove(ctx, name)
}

// Each implements lyceum.FileStore.
func (l *leasedFiles) Each(ctx context.Context, prefix lyceum.FileName, visit func(lyceum.StoredFile) error) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.FileStore.Each(ctx, prefix, visit)
}
