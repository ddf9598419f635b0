package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// The names of the files that an upgrade writes to a data folder: backups, and unfinished copies
// of an upgrade or a dry run.
const (
	upgradeBackups = "lyceum-v%d-%s.db"
	leftBackups    = "lyceum-v*.db.partial*"
	rehearsals     = "lyceum-dry-run-*.partial"
)

// Upgrade upgrades the SQLite database in a data folder to this program's schema, completely or
// not at all, after making a backup. It returns an error if the database is in use. A dry run
// works on a copy while others use the database.
func Upgrade(ctx context.Context, dir string, o UpgradeOptions) (Upgraded, error) {
	d := sqliteDialect()
	if o.DryRun {
		result, err := rehearse(ctx, dir, &o)
		return result, d.public(err)
	}
	path := filepath.Join(dir, FileName)
	if err := removeLeft(dir, leftBackups, rehearsals); err != nil {
		return Upgraded{}, err
	}
	if err := unused(ctx, path); err != nil {
		return Upgraded{}, err
	}
	result, err := upgradeFile(ctx, d, path, &o)
	return result, d.public(err)
}

// upgradeFile prevents others from reading or writing the database from the backup to the end of
// the upgrade.
func upgradeFile(ctx context.Context, d *dialect, path string, o *UpgradeOptions) (Upgraded, error) {
	db, err := openAlone(path)
	if err != nil {
		return Upgraded{}, err
	}
	defer db.Close()
	u, err := d.beginUpgrade(ctx, db, o)
	if d.fault(err) == faultRetry {
		return Upgraded{}, fileInUse(path, err)
	}
	if err != nil {
		return u.ended(err)
	}
	if err := u.tx.Rollback(); err != nil { // a backup is made outside of a transaction; the file stays locked
		return u.result, err
	}
	backup := o.Backup
	if backup == "" {
		name := fmt.Sprintf(upgradeBackups, u.from, o.Now.UTC().Format("20060102T150405Z"))
		backup = filepath.Join(filepath.Dir(path), name)
	}
	if err := u.backUpFile(db, path, backup); err != nil {
		return u.result, err
	}
	made := u.result
	if u, err = d.beginUpgrade(ctx, db, o); err != nil {
		return u.ended(err)
	}
	u.result = made
	err = u.run()
	return u.result, err
}

func (u *upgrade) backUpFile(db *sql.DB, path, backup string) error {
	if err := newFile(backup); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	folder, needed := filepath.Dir(path), upgradeRoom*info.Size()
	if other := filepath.Dir(backup); sameDisk(folder, other) {
		needed += info.Size()
	} else if err := room(other, info.Size()); err != nil {
		return err
	}
	if err := room(folder, needed); err != nil {
		return err
	}
	u.o.Progress("writing the backup " + backup)
	err = u.dialect.writeBackup(u.ctx, backup, func(ctx context.Context, path string) error {
		if err := privateFile(path); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "VACUUM INTO ?1", path)
		return err
	}, nil)
	if err != nil {
		return err
	}
	return u.backedUp(backup)
}

// upgradeRoom is how much space an upgrade needs in the database's folder, as a multiple of its
// size: for what it writes and for what a rollback needs.
const upgradeRoom = 2

// rehearse upgrades a copy of a database.
func rehearse(ctx context.Context, dir string, o *UpgradeOptions) (Upgraded, error) {
	path := filepath.Join(dir, FileName)
	info, err := os.Stat(path)
	if err != nil {
		return Upgraded{}, err
	}
	if info.Size() == 0 {
		return Upgraded{From: noSchema, To: noSchema, Empty: true}, nil
	}
	if err := removeLeft(dir, rehearsals); err != nil {
		return Upgraded{}, err
	}
	if err := room(dir, (1+upgradeRoom)*info.Size()); err != nil {
		return Upgraded{}, err
	}
	folder, err := os.MkdirTemp(dir, rehearsals)
	if err != nil {
		return Upgraded{}, cannotWrite(dir, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	held, err := holdFolder(folder)
	if err != nil {
		return Upgraded{}, cannotWrite(folder, err)
	}
	defer held.Close()
	copied := filepath.Join(folder, FileName)
	if err := copyDatabase(ctx, path, copied, o); err != nil {
		return Upgraded{}, err
	}
	return upgradeCopy(ctx, copied, o)
}

// upgradeCopy upgrades a copy of a database, without a backup.
func upgradeCopy(ctx context.Context, path string, o *UpgradeOptions) (Upgraded, error) {
	d := sqliteDialect()
	db, err := openAlone(path)
	if err != nil {
		return Upgraded{}, err
	}
	defer db.Close()
	u, err := d.beginUpgrade(ctx, db, o)
	if err != nil {
		result, err := u.ended(err)
		return result, d.public(err)
	}
	u.result.Backup = o.Backup
	err = u.run()
	return u.result, d.public(err)
}

func copyDatabase(ctx context.Context, from, to string, o *UpgradeOptions) error {
	store, err := OpenFile(ctx, from, Options{AnySchema: true})
	if err != nil {
		return err
	}
	o.Progress("copying the database")
	return errors.Join(store.vacuumInto(ctx, to), store.Close())
}

// openAlone opens a database so that no one else can read or write it. It uses no write-ahead
// log: whoever opens the file next rolls back what was not committed.
func openAlone(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fileDSN(path, "_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)"+
		"&_pragma=journal_mode(DELETE)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=temp_store(file)"+
		"&_pragma=cache_size(-65536)&_txlock=exclusive"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// removeLeft removes what killed upgrades and dry runs left behind, by file name patterns. Files
// of a running dry run are kept.
func removeLeft(dir string, patterns ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return cannotWrite(dir, err)
	}
	for _, e := range entries {
		left := slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, err := filepath.Match(pattern, e.Name())
			return matches && err == nil
		})
		if !left {
			continue
		}
		if err := removeUnlessHeld(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func removeUnlessHeld(name string) error {
	held, err := holdFolder(name)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cannotWrite(name, err)
	}
	defer held.Close()
	if err := os.RemoveAll(name); err != nil {
		return cannotWrite(name, err)
	}
	return nil
}

// holdFolder locks a folder or a file until it is closed.
func holdFolder(name string) (*os.File, error) {
	folder, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}
