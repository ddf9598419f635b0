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

// UpgradeOptions are the choices of an upgrade.
type UpgradeOptions struct {
	// Backup is the file that the backup is written to; it must not exist. For
	// SQLite it may be left out: then the backup goes into the data folder.
	Backup string
	// DryRun only finds out what the upgrade would do.
	DryRun bool
	Now    time.Time
	Told   func(progress string) // hears what is about to be done
}

// Upgraded is what an upgrade did, or would do.
type Upgraded struct {
	From, To int64 // versions of the schema
	Empty    bool  // the database has no school, and gets today's schema when it is opened
	Backup   string
	Bytes    int64 // of the backup
	Steps    []Step
	Schools  []UpgradedSchool
	// Differing are the first users whose access differs, and Differ is how many
	// there are. An upgrade that finds one changes nothing.
	Differing []Differing
	Differ    int64
	// Refunded are the first transactions of which another amount counts as
	// refunded, and Refunds is how many there are.
	Refunded []Refunded
	Refunds  int64
}

// Refunded is a transaction of which another amount counts as refunded.
type Refunded struct {
	School        lyceum.SchoolID
	Transaction   lyceum.TransactionID
	Currency      lyceum.Currency
	Before, After lyceum.Minor
}

// UpgradedSchool is what an upgrade does to one school.
type UpgradedSchool struct {
	ID           lyceum.SchoolID
	Name         string
	Learners     int64 // who have an open enrollment, before
	Before       int64 // open enrollments
	After        int64
	Sold         int64 // open enrollments with a sale behind them, after
	Imported     int64 // with no sale, but an import
	Entitlements int64 // made by the upgrade
	Blocks       int64
}

// Differing is a user whose access to a course would differ.
type Differing struct {
	School      lyceum.SchoolID
	User        lyceum.UserID
	Course      lyceum.CourseID
	Email, Name string // of the user and of the course
}

// upgrade is a change of the schema that keeps everybody's access.
type upgrade struct {
	*schemaChange

	o      *UpgradeOptions
	result Upgraded
	last   func() error // looks before the commit whether nobody uses the database; may be nil
}

// errNothing ends an upgrade that has nothing to do.
var errNothing = errors.New("there is nothing to upgrade")

// beginUpgrade begins the transaction of an upgrade. The error is errNothing when
// the schema is current or there is no school.
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

// ended returns what an upgrade that did not begin has found out: that there is
// nothing to do is no error.
func (u *upgrade) ended(err error) (Upgraded, error) {
	if errors.Is(err, errNothing) {
		return u.result, nil
	}
	return Upgraded{}, err
}

// backedUp keeps in mind where the backup is.
func (u *upgrade) backedUp(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	u.result.Backup, u.result.Bytes = path, info.Size()
	return nil
}

// run migrates, and rolls everything back if that would change anybody's access.
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
		if u.migrations[i].version > u.from {
			n++
		}
	}
	done := 0
	steps, err := u.schemaChange.run(u.to, func(m *migration) {
		done++
		u.o.Told(fmt.Sprintf("migration %d of %d: %d %s", done, n, m.version, m.name))
	})
	if err != nil {
		return u.undone(fmt.Errorf("migrate schema: %w", err))
	}
	u.result.Steps = steps
	u.o.Told("comparing access")
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

// undone is the error of an upgrade that was rolled back.
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

// note writes the upgrade into the journal of each school.
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

// room fails when a disk has less free space than an upgrade takes.
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

// sameDisk reports whether two files or folders are on one disk.
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

// newFile fails when a file exists, or its folder does not.
func newFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return lyceum.Errorf(lyceum.Conflict, "%s already exists; choose another name for the backup", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return cannotWrite(path, err)
	}
	return nil
}
