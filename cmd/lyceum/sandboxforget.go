package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// Forget erases a person from the snapshots. The state at the start only contains made-up
// people.
func (b *sandboxServer) Forget(ctx context.Context, e *lyceum.SchoolErasure, created time.Time) error {
	if b.statesKept() != nil {
		return nil //nolint:nilerr // there are no snapshots
	}
	snapshots, err := b.Snapshots()
	for i := range snapshots {
		if err != nil {
			return err
		}
		err = b.forgetIn(ctx, e, created, snapshots[i].Name, snapshots[i].Clock)
	}
	return err
}

// forgetIn erases a person from a copy of a snapshot, which then replaces it.
func (b *sandboxServer) forgetIn(
	ctx context.Context, e *lyceum.SchoolErasure, created time.Time, name string, at time.Time,
) error {
	path := b.state(name)
	fresh := path + ".partial"
	besides := []string{fresh, fresh + "-wal", fresh + "-shm"}
	for _, old := range besides { // left behind by a killed process
		_ = os.Remove(old)
	}
	err := copyFile(path, fresh)
	if err == nil {
		err = b.eraseCopy(ctx, e, created, fresh, at)
	}
	switch {
	case errors.Is(err, errUnusable) || lyceum.KindOf(err) == lyceum.Invalid: // is an owner there, or still charged
		err = os.Remove(path)
	case err == nil:
		err = errors.Join(os.Chtimes(fresh, at, at), os.Rename(fresh, path))
	}
	for _, old := range besides {
		_ = os.Remove(old)
	}
	return err
}

// errUnusable is the error for a snapshot that cannot be opened, such as one of an older
// version. Nobody could restore it.
var errUnusable = errors.New("a snapshot cannot be opened")

func (b *sandboxServer) eraseCopy(
	ctx context.Context, e *lyceum.SchoolErasure, created time.Time, path string, at time.Time,
) (err error) {
	store, err := sqlstore.OpenFile(ctx, path, b.options)
	if err != nil && ctx.Err() == nil {
		b.program.log.WarnContext(ctx, "a snapshot cannot be opened and is deleted, because a person is erased", "err", err)
		return errUnusable
	}
	if err != nil {
		return err
	}
	defer closing(store, &err)
	now := func() time.Time { return at }
	lessons, users := learning.New(store, now), people.New(store, now)
	accounts := access.NewAccounts(store, now, access.NewOAuth(store, now), nil)
	doors := people.Doors{Left: accounts.EndedAccess, Close: lessons.Close}
	return users.EraseCopy(ctx, lyceum.By{School: e.School, Actor: actor}, e, created, doors)
}
