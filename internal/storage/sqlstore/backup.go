package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/lyceum-school/lyceum"
	"modernc.org/sqlite"
)

// Backup writes a consistent copy of a SQLite database to a new file while reads and writes
// continue, and verifies it before giving it its final name. Just before that it calls
// complete, if not nil, with the path of the copy, and fails with its error.
func (s *Store) Backup(ctx context.Context, path string, complete func(copied string) error) error {
	if s.dialect.name != "sqlite" {
		return lyceum.Errorf(lyceum.Invalid, "a PostgreSQL database is backed up by pg_dump --format=custom and restored "+
			"by pg_restore and then lyceum restore (docs/operations.md)")
	}
	return s.dialect.writeBackup(ctx, path, s.vacuumInto, complete)
}

// writeBackup copies a database with write, verifies and completes the copy, and gives it its
// final name.
func (d *dialect) writeBackup(
	ctx context.Context, path string, write func(ctx context.Context, path string) error,
	complete func(copied string) error,
) error {
	if err := newFile(path); err != nil {
		return err
	}
	partial := path + ".partial"
	if err := removeDatabase(partial); err != nil {
		return err
	}
	if err := write(ctx, partial); err != nil {
		_ = removeDatabase(partial)
		if d.fault(err) == faultDamaged {
			return d.public(err)
		}
		return cannotWrite(path, err)
	}
	if err := Verify(ctx, partial); err != nil {
		_ = removeDatabase(partial)
		if !errors.Is(err, errDamaged) {
			return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: path + " could not be read after it was " +
				"written, and was deleted; make sure that nothing else changes files in its folder, and repeat the command"}
		}
		return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: "the backup is damaged and was deleted; the " +
			"database or its disk is damaged; restore an older backup, and keep this database for analysis"}
	}
	if complete != nil {
		if err := complete(partial); err != nil {
			_ = removeDatabase(partial)
			return err
		}
	}
	return giveName(partial, path)
}

// giveName renames a complete file, and syncs it and its folder so that both the contents and
// the name survive a power failure.
func giveName(partial, path string) error {
	if err := syncFile(partial); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(partial, path); err != nil {
		return cannotWrite(path, err)
	}
	return syncFile(filepath.Dir(path))
}

// privateFile creates an empty file that only its owner can read.
func privateFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// vacuumInto writes the copy. Read connections refuse all writes, even to a copy, so this one
// is made writable and closed afterwards. The file is created first, because SQLite would make
// it readable by everyone.
func (s *Store) vacuumInto(ctx context.Context, path string) error {
	if err := privateFile(path); err != nil {
		return err
	}
	return s.reads.last(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only(0)"); err != nil {
			return err
		}
		if err := movable(ctx, conn); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "VACUUM INTO ?1", path)
		return err
	})
}

// movable makes the pages of copies movable, even if the database is an older one whose own
// pages are not.
func movable(ctx context.Context, conn *sql.Conn) error {
	var mode int64
	err := conn.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode)
	if err == nil && mode == 0 {
		_, err = conn.ExecContext(ctx, "PRAGMA auto_vacuum = incremental")
	}
	return err
}

// Copy writes a consistent copy of a SQLite database to a new file while reads and writes
// continue. It is faster than Backup because it neither compacts nor verifies the copy, so it
// is for copies that may be lost.
func (s *Store) Copy(ctx context.Context, path string) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(partial, err)
	}
	if err := privateFile(partial); err != nil {
		return cannotWrite(path, err)
	}
	err := s.reads.last(ctx, func(conn *sql.Conn) error {
		return conn.Raw(func(of any) error { return copyPages(of, partial) })
	})
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return cannotWrite(path, errors.Join(err, os.Remove(partial)))
	}
	return nil
}

// copyPages copies all pages that a connection sees to a new file.
func copyPages(conn any, path string) error {
	of, is := conn.(interface {
		NewBackup(to string) (*sqlite.Backup, error)
	})
	if !is {
		return errors.ErrUnsupported
	}
	pages, err := of.NewBackup(path)
	if err != nil {
		return err
	}
	_, err = pages.Step(-1)
	return errors.Join(err, pages.Finish())
}

func cannotWrite(path string, err error) error {
	return &lyceum.Error{Kind: lyceum.Unavailable, Detail: path + " cannot be written; choose a folder that exists, " +
		"is writable and has free space", Err: err}
}

// syncFile makes a file, or the names in a folder, survive a power failure.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// errDamaged marks the error of a copy that is damaged, as opposed to one that cannot be read.
var errDamaged = errors.New("the copy is damaged")

// Verify checks that a file is an intact Lyceum database, of any version of the schema.
func Verify(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return &lyceum.Error{Kind: lyceum.NotFound, Detail: "the backup " + path + " cannot be read", Err: err}
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer db.Close()
	damaged, err := sqliteIntegrity(ctx, db)
	if err != nil {
		if sqliteFault(err) == faultDamaged {
			err = errors.Join(err, errDamaged)
		}
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	if len(damaged) > 0 {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is damaged: " + damaged[0], Err: errDamaged}
	}
	var schools int64
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM schools").Scan(&schools); err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	return nil
}

// RestoreOptions are the options of a restore.
type RestoreOptions struct {
	Force bool // replace an existing SQLite database
	// Prepare changes the database before anyone uses it. By then it has this program's
	// schema.
	Prepare  func(*Store) error
	Now      time.Time
	Progress func(progress string) // receives what an upgrade is about to do
}

// prepare skips the numbers that may have been assigned after the backup was made, changes the
// database, and closes it.
func (o *RestoreOptions) prepare(ctx context.Context, store *Store) error {
	err := store.leap(ctx)
	if err == nil {
		err = o.Prepare(store)
	}
	return errors.Join(err, store.Close())
}

// Restore replaces the database of a data folder with a verified backup. No program may have
// that database open. Without o.Force, an existing database is left alone. The old database is
// not gone until the new one has taken its place. An older backup is upgraded first, unless
// that would change somebody's access.
func Restore(ctx context.Context, backup, dir string, o RestoreOptions) (Upgraded, error) {
	if err := Verify(ctx, backup); err != nil {
		return Upgraded{}, err
	}
	if err := ownSchema(ctx, backup); err != nil {
		return Upgraded{}, err
	}
	target := filepath.Join(dir, FileName)
	if info, err := os.Stat(target); err == nil && info.Size() > 0 && !o.Force {
		return Upgraded{}, lyceum.Errorf(lyceum.Conflict, "%s already has a database; use --force to replace it, or choose "+
			"another folder with --data", dir)
	}
	if err := unused(ctx, target); err != nil {
		return Upgraded{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Upgraded{}, cannotWrite(dir, err)
	}
	partial := target + ".partial"
	if is, err := os.Stat(partial); err == nil {
		if named, err := os.Stat(backup); err == nil && os.SameFile(is, named) {
			return Upgraded{}, lyceum.Errorf(lyceum.Invalid, "%s is the file that a restore writes to; move it to another "+
				"folder, and restore it from there", backup)
		}
	}
	if err := removeDatabase(partial); err != nil {
		return Upgraded{}, err
	}
	if err := copyFile(backup, partial); err != nil {
		_ = os.Remove(partial)
		return Upgraded{}, cannotWrite(partial, err)
	}
	done, err := prepared(ctx, backup, partial, &o)
	if err != nil {
		return done, errors.Join(err, removeDatabase(partial))
	}
	return done, ReplaceDatabase(partial, target)
}

// ReplaceDatabase replaces a SQLite database with a file. It removes the log and the journal first,
// because SQLite would replay them into the new database.
func ReplaceDatabase(file, target string) error {
	dir := filepath.Dir(target)
	if err := errors.Join(removeFiles(besides(target)...), syncFile(dir)); err != nil {
		return err
	}
	if err := os.Rename(file, target); err != nil {
		return cannotWrite(target, err)
	}
	return syncFile(dir)
}

// prepared upgrades and changes a copy of a backup that nobody uses yet. Afterwards everything
// is in that one file.
func prepared(ctx context.Context, backup, path string, o *RestoreOptions) (Upgraded, error) {
	done, err := upgradeCopy(ctx, path, &UpgradeOptions{Backup: backup, Now: o.Now, Progress: o.Progress})
	if err != nil {
		return done, err
	}
	store, err := OpenFile(ctx, path, Options{})
	if err != nil {
		return done, err
	}
	if err := o.prepare(ctx, store); err != nil {
		return done, err
	}
	if err := unused(ctx, path); err != nil { // which ends WAL mode
		return done, err
	}
	return done, syncFile(path)
}

// besides returns the files that SQLite keeps next to a database. They are part of it.
func besides(path string) []string { return []string{path + "-wal", path + "-shm", path + "-journal"} }

func removeDatabase(path string) error { return removeFiles(append(besides(path), path)...) }

func removeFiles(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotWrite(path, err)
		}
	}
	return nil
}

// unused fails if a program has the database open: only the last connection can end WAL mode,
// which moves the whole log into the database. A database too damaged for that is not in use.
func unused(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil // there is no database
	}
	dsn := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: "mode=rw&_pragma=busy_timeout(1000)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	defer db.Close()
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	switch {
	case sqliteFault(err) == faultRetry || err == nil && mode != "delete":
		return fileInUse(path, err)
	case sqliteFault(err) == faultDamaged:
		return nil
	}
	return sqliteDialect().public(err)
}

func fileInUse(path string, err error) error {
	return &lyceum.Error{Kind: lyceum.Conflict, Err: err, Detail: "a program is using the database " + path +
		"; stop it first, or choose another folder with --data"}
}

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
	if _, err := io.Copy(target, source); err != nil {
		return errors.Join(err, target.Close())
	}
	return errors.Join(target.Sync(), target.Close())
}
