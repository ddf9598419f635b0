package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
)

// UpgradeOptions are the options of an upgrade.
type UpgradeOptions struct {
	// Backup is the file to write the backup to; it must not exist. For SQLite it may be empty:
	// then the backup is written to the data folder.
	Backup string
	// DryRun only reports what the upgrade would do.
	DryRun   bool
	Now      time.Time
	Progress func(progress string) // called before each step
}

// Upgraded is the result of an upgrade or a dry run.
type Upgraded struct {
	From, To int64 // schema versions
	Empty    bool  // the database has no school, and gets the newest schema when it is opened
	Backup   string
	Bytes    int64 // size of the backup
	Steps    []Step
	Schools  []UpgradedSchool
	// Differing are the first users whose access differs, and Differ is the number of all of
	// them. An upgrade that finds any changes nothing.
	Differing []Differing
	Differ    int64
	// Refunded are the first transactions whose refunded amount differs, and Refunds is the
	// number of all of them.
	Refunded []Refunded
	Refunds  int64
}

// Refunded is a transaction whose refunded amount differs after the upgrade.
type Refunded struct {
	School        lyceum.SchoolID
	Transaction   lyceum.TransactionID
	Currency      lyceum.Currency
	Before, After lyceum.Minor
}

// UpgradedSchool says what an upgrade does to one school.
type UpgradedSchool struct {
	ID           lyceum.SchoolID
	Name         string
	Learners     int64 // with an open enrollment, before the upgrade
	Before       int64 // open enrollments before
	After        int64
	Sold         int64 // open enrollments after that come from a sale
	Imported     int64 // open enrollments after that come from an import but no sale
	Entitlements int64 // created by the upgrade
	Blocks       int64
}

// Differing is a user whose access to a course would change.
type Differing struct {
	School      lyceum.SchoolID
	User        lyceum.UserID
	Course      lyceum.CourseID
	Email, Name string // of the user and of the course, respectively
}

// upgrade is a schema change that must not change anyone's access.
type upgrade struct {
	*schemaChange

	o      *UpgradeOptions
	result Upgraded
	last   func() error // checks before the commit that no one else uses the database; may be nil
}

// errNothing ends an upgrade if there is nothing to do.
var errNothing = errors.New("there is nothing to upgrade")

// beginUpgrade begins the transaction of an upgrade. It returns errNothing if the schema is
// current or there is no school.
func (d *dialect) beginUpgrade(ctx context.Context, db *sql.DB, o *UpgradeOptions) (*upgrade, error) {
	c, err := d.beginSchema(ctx, db, patience)
	if err != nil {
		return &upgrade{}, err
	}
	u := &upgrade{schemaChange: c, o: o, result: Upgraded{From: c.from, To: c.to}}
	has, err := c.hasSchools()
	switch {
	case err != nil:
	case c.from > c.to:
		err = newerSchema(c.from, c.to)
	case c.from == c.to || !has:
		u.result.Empty = !has
		err = errNothing
	}
	if err != nil {
		_ = c.tx.Rollback()
	}
	return u, err
}

// ended returns the result of an upgrade that did not begin. errNothing is not returned as an
// error.
func (u *upgrade) ended(err error) (Upgraded, error) {
	if errors.Is(err, errNothing) {
		return u.result, nil
	}
	return Upgraded{}, err
}

// backedUp records the path and the size of the backup.
func (u *upgrade) backedUp(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	u.result.Backup, u.result.Bytes = path, info.Size()
	return nil
}

// run migrates, and rolls everything back if that would change anyone's access.
func (u *upgrade) run() error {
	defer func() { _ = u.tx.Rollback() }()
	if u.result.Backup == "" && !u.o.DryRun {
		return errors.New("upgrade without a backup")
	}
	if err := u.remember(); err != nil {
		return u.undone(fmt.Errorf("count what is there: %w", err))
	}
	n := 0
	for i := range u.migrations {
		if !u.ran[u.migrations[i].version] {
			n++
		}
	}
	done := 0
	steps, err := u.schemaChange.run(u.to, func(m *migration) {
		done++
		u.o.Progress(fmt.Sprintf("migration %d of %d: %d %s", done, n, m.version, m.name))
	})
	if err != nil {
		return u.undone(fmt.Errorf("migrate schema: %w", err))
	}
	u.result.Steps = steps
	u.o.Progress("comparing the schema")
	if err := u.dialect.mendSchema(u.ctx, u.tx); err != nil {
		return u.undone(fmt.Errorf("compare the schema: %w", err))
	}
	u.o.Progress("comparing access")
	if err := u.compare(); err != nil {
		return u.undone(fmt.Errorf("compare access: %w", err))
	}
	switch {
	case u.o.DryRun:
		return nil
	case u.result.Differ > 0:
		return lyceum.Errorf(lyceum.Conflict, "the upgrade would change enrollments, so nothing was changed; keep the "+
			"older lyceum, and report this")
	}
	if err := u.note(); err != nil {
		return u.undone(fmt.Errorf("write the journal: %w", err))
	}
	if u.last != nil {
		if err := u.last(); err != nil {
			return err
		}
	}
	return u.commit()
}

func (u *upgrade) commit() error {
	err := u.tx.Commit()
	if err == nil || u.dialect.undone(err) {
		return u.undone(err)
	}
	return &lyceum.Error{
		Kind: lyceum.Unavailable, Code: lyceum.OutcomeUnknown, Err: err,
		Detail: "the database did not confirm the upgrade, so it is unknown whether it happened; the backup " +
			u.result.Backup + " is complete; run lyceum upgrade again, which reports whether there is anything left to do",
	}
}

// undone returns the error of an upgrade that was rolled back.
func (u *upgrade) undone(err error) error {
	if _, ok := errors.AsType[*lyceum.Error](err); err == nil || ok {
		return err
	}
	todo := "keep the older lyceum, and report this"
	switch u.dialect.fault(err) {
	case faultFull:
		todo = "free disk space, and run the command again"
	case faultRetry, faultBusy, faultDown:
		todo = "run the command again"
	case faultReadOnly:
		todo = "make the database writable, and run the command again"
	case faultDamaged:
		todo = "the database is damaged: run lyceum check"
	}
	detail := "the upgrade failed, and nothing was changed; "
	if !u.o.DryRun {
		detail += "the backup " + u.result.Backup + " is complete; "
	}
	return &lyceum.Error{Kind: lyceum.Unavailable, Detail: detail + todo, Err: err}
}

// note appends an entry about the upgrade to the journal of each school.
func (u *upgrade) note() error {
	_, err := u.tx.ExecContext(u.ctx, `UPDATE counters SET value = value + 1 WHERE name = 'journal' AND school_id > 0`)
	if err != nil {
		return err
	}
	_, err = u.tx.ExecContext(u.ctx, u.dialect.rebind(`INSERT INTO journal
		(school_id, number, at, actor, type, object_id, scarce)
		SELECT school_id, value, CAST($1 AS BIGINT), 'upgrade', '`+string(lyceum.SchoolUpgraded)+`', school_id, 1
		FROM counters WHERE name = 'journal' AND school_id > 0`), micros(u.o.Now))
	return err
}

// room returns an error if a disk has less free space than an upgrade needs.
func room(folder string, bytes int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return cannotWrite(folder, err)
	}
	free := fs.Bavail * uint64(fs.Bsize)
	if free >= uint64(bytes) {
		return nil
	}
	return lyceum.Errorf(lyceum.Unavailable, "the upgrade needs %d MB of free disk space in %s, and %d MB are free; "+
		"free some, or write the backup to another disk with --backup", megabytes(bytes), folder, free>>20)
}

func megabytes(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// sameDisk reports whether two files or folders are on the same disk.
func sameDisk(a, b string) bool {
	of, errA := os.Stat(a)
	with, errB := os.Stat(b)
	if errA != nil || errB != nil {
		return true
	}
	x, okX := of.Sys().(*syscall.Stat_t)
	y, okY := with.Sys().(*syscall.Stat_t)
	return !okX || !okY || x.Dev == y.Dev
}

// newFile returns an error if a file exists, or if its folder does not.
func newFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return lyceum.Errorf(lyceum.Conflict, "%s already exists; choose another name for the backup", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return cannotWrite(path, err)
	}
	return nil
}
