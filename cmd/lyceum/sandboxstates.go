package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// statesFolder is the folder in a sandbox's data folder that has its states, one file each.
const statesFolder = "snapshots"

// startState is the state of the school as generated. No snapshot can have this name.
const startState = "_start"

// stateSuffix is the suffix of the files.
const stateSuffix = ".db"

// state returns the file of a state.
func (b *sandboxServer) state(name string) string {
	return filepath.Join(b.kept.Data, statesFolder, name+stateSuffix)
}

// statesKept returns an error if states cannot be stored.
func (b *sandboxServer) statesKept() error {
	if b.kept.folder() != "" {
		return nil
	}
	return &lyceum.Error{
		Kind: lyceum.Conflict, Code: "no_snapshots", Detail: "a sandbox in PostgreSQL cannot be reset and has no " +
			"snapshots; start one without --database-url, or restore the database with PostgreSQL's own tools",
	}
}

// keepStart stores the school as generated.
func (b *sandboxServer) keepStart(store *sqlstore.Store) error {
	if b.statesKept() != nil {
		return nil //nolint:nilerr // nothing to restore
	}
	return b.copyTo(b.program.ctx, store, startState)
}

// unused reports whether the school is still as generated although its state at the start is not
// stored, because the first start was killed in between.
func (b *sandboxServer) unused(store lyceum.Store) (bool, error) {
	if b.statesKept() != nil {
		return false, nil //nolint:nilerr // nothing to restore
	}
	if _, err := os.Stat(b.state(startState)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	last, err := store.In(b.program.ctx, demo.ID).FindEntries(lyceum.EntryQuery{Limit: 1})
	return err == nil && len(last.Entries) == 1 && last.Entries[0].Actor == stampOf(b.school).Actor, err
}

func (b *sandboxServer) copyTo(ctx context.Context, store *sqlstore.Store, name string) error {
	if err := os.MkdirAll(filepath.Dir(b.state(name)), 0o700); err != nil {
		return err
	}
	return store.Copy(ctx, b.state(name))
}

// Snapshots returns the snapshots, sorted by name.
func (b *sandboxServer) Snapshots() ([]clock.Snapshot, error) {
	if err := b.statesKept(); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Join(b.kept.Data, statesFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []clock.Snapshot
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), stateSuffix)
		if !is || name == startState {
			continue
		}
		s, err := b.snapshot(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y clock.Snapshot) int { return cmp.Compare(x.Name, y.Name) })
	return all, nil
}

// snapshot describes a snapshot. The modification time of its file is that of the sandbox's
// clock.
func (b *sandboxServer) snapshot(name string) (clock.Snapshot, error) {
	info, err := os.Stat(b.state(name))
	if err != nil {
		return clock.Snapshot{}, err
	}
	return clock.Snapshot{Name: name, Clock: info.ModTime(), Bytes: info.Size()}, nil
}

// Keep stores the current state.
func (b *sandboxServer) Keep(ctx context.Context, name string) (clock.Snapshot, error) {
	at := b.now.service.clock()
	if err := b.copyTo(ctx, b.now.kept, name); err != nil {
		return clock.Snapshot{}, err
	}
	if err := os.Chtimes(b.state(name), at, at); err != nil {
		return clock.Snapshot{}, err
	}
	return b.snapshot(name)
}

// Delete deletes a snapshot.
func (b *sandboxServer) Delete(name string) error { return os.Remove(b.state(name)) }

// Reset goes back to the state at the start.
func (b *sandboxServer) Reset(ctx context.Context, by lyceum.By) (clock.Time, error) {
	if err := b.statesKept(); err != nil {
		return clock.Time{}, err
	}
	return b.Restore(ctx, by, startState)
}

// Restore goes back to a state.
func (b *sandboxServer) Restore(ctx context.Context, by lyceum.By, name string) (clock.Time, error) {
	if err := b.restorable(ctx, name); err != nil {
		return clock.Time{}, err
	}
	path := filepath.Join(b.kept.Data, sqlstore.FileName)
	fresh := path + ".restored"
	err := b.replace(ctx, func() error {
		if err := copyFile(b.state(name), fresh); err != nil {
			return errors.Join(err, os.Remove(fresh))
		}
		if err := b.discardIndex(); err != nil {
			return err
		}
		return sqlstore.ReplaceDatabase(fresh, path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return clock.Time{}, lyceum.Errorf(lyceum.Conflict, "the state at the start was not kept, because an earlier "+
			"version of lyceum made this school; start a sandbox with an empty folder")
	}
	if err != nil {
		return clock.Time{}, err
	}
	return b.show(ctx, by)
}

// restorable rejects a state that this program cannot open, before the current one is discarded
// for it.
func (b *sandboxServer) restorable(ctx context.Context, name string) error {
	path := b.state(name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // Restore reports that
	}
	err := sqlstore.Openable(ctx, path)
	if err == nil || ctx.Err() != nil {
		return err
	}
	detail := "snapshot " + name + " cannot be read by this version of lyceum, which may have been upgraded since it " +
		"was made; delete it, or restore it with the version that made it"
	if name == startState {
		detail = "the state at the start cannot be read by this version of lyceum, which may have been upgraded since " +
			"it was made; start a sandbox with an empty folder"
	}
	return &lyceum.Error{Kind: lyceum.Conflict, Code: "snapshot_unreadable", Detail: detail, Err: err}
}

// copyFile copies a file to a new one that only its user can read.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
