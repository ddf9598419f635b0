package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/pressly/goose/v3"
)

// unhurried are statements after which a connection may take as long as it needs, whatever the
// database or the role limits.
var unhurried = []string{"SET statement_timeout = 0", "SET idle_in_transaction_session_timeout = 0"}

// UpgradePostgres upgrades a PostgreSQL database to this program's schema, completely or not at
// all, after pg_dump has made a backup. It returns an error if the database is in use. A dry run
// is rolled back.
func UpgradePostgres(ctx context.Context, address string, o UpgradeOptions) (Upgraded, error) {
	config, err := postgresConfig(address)
	if err != nil {
		return Upgraded{}, err
	}
	if err := unpooled(ctx, config); err != nil {
		return Upgraded{}, err
	}
	d := postgresDialect()
	db := postgresPool(config, 1, unhurried...)
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return Upgraded{}, unopened(config, d.public(err))
	}
	u, err := d.beginUpgrade(ctx, db, &o)
	if err != nil {
		result, err := u.ended(err)
		return result, d.public(err)
	}
	defer func() { _ = u.tx.Rollback() }()
	begin := time.Now()
	if err := u.alone(address, config.Password); err != nil {
		return u.result, d.public(err)
	}
	u.last = func() error { return u.stillAlone(begin) }
	err = u.run()
	return u.result, d.public(err)
}

// alone makes the backup, and ensures that no one else changes the database from before the
// backup to the end. An older lyceum that starts meanwhile cannot read the schema version.
func (u *upgrade) alone(address, password string) error {
	if u.o.Backup == "" && !u.o.DryRun {
		return lyceum.Invalidf("set --backup to the file that pg_dump writes the backup to")
	}
	if err := unusedPostgres(u.ctx, u.tx); err != nil {
		return err
	}
	if !u.o.DryRun {
		if err := u.lockTables(); err != nil {
			return err
		}
		if err := u.dump(address, password); err != nil {
			return err
		}
	}
	if _, err := u.tx.ExecContext(u.ctx, "LOCK TABLE "+goose.DefaultTablename+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	return unusedPostgres(u.ctx, u.tx)
}

// quiet is the shortest time for which an upgrade watches for others. A server that lost its
// connections opens a new one within this time.
const quiet = 2 * time.Second

// stillAlone fails if a server has come back since the upgrade began: it read the older schema
// version when it started. An older program would continue with the new schema; see knowsSchema.
func (u *upgrade) stillAlone(begin time.Time) error {
	for {
		if err := unusedPostgres(u.ctx, u.tx); err != nil || time.Since(begin) >= quiet {
			return err
		}
		select {
		case <-time.After(quiet / 20):
		case <-u.ctx.Done():
			return u.ctx.Err()
		}
	}
}

// lockTables locks Lyceum's tables so that others can only read them.
func (u *upgrade) lockTables() error {
	var names string
	err := u.tx.QueryRowContext(u.ctx, `SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c
		WHERE c.relkind = 'r' AND has_table_privilege(c.oid, 'UPDATE') AND c.relnamespace =
			(SELECT v.relnamespace FROM pg_class v WHERE v.oid = '`+goose.DefaultTablename+`'::regclass)`).Scan(&names)
	if err != nil {
		return err
	}
	_, err = u.tx.ExecContext(u.ctx, "LOCK TABLE "+names+" IN SHARE MODE")
	return err
}

// dump makes the backup with pg_dump, and checks it by having pg_restore read all of it.
func (u *upgrade) dump(address, password string) error {
	backup := u.o.Backup
	if err := newFile(backup); err != nil {
		return err
	}
	plain, err := withoutPassword(address)
	if err != nil {
		return err
	}
	var size int64
	err = u.tx.QueryRowContext(u.ctx, `SELECT CAST(COALESCE(sum(pg_table_size(c.oid)), 0) AS BIGINT) FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace =
			(SELECT v.relnamespace FROM pg_class v WHERE v.oid = '`+goose.DefaultTablename+`'::regclass)`).Scan(&size)
	if err != nil {
		return err
	}
	// pg_dump fails if the address leads it to another server, which does not have the snapshot.
	var snapshot string
	if err := u.tx.QueryRowContext(u.ctx, "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
		return err
	}
	if err := room(filepath.Dir(backup), size); err != nil {
		return err
	}
	partial := backup + ".partial"
	if err := errors.Join(removeFiles(partial), privateFile(partial)); err != nil {
		return cannotWrite(backup, err)
	}
	u.o.Progress("writing the backup " + backup)
	err = runProgram(u.ctx, password, "pg_dump", "--format=custom", "--no-password", "--file="+partial,
		"--snapshot="+snapshot, "--dbname="+plain)
	if err == nil {
		err = runProgram(u.ctx, "", "pg_restore", "--file="+os.DevNull, partial)
	}
	if err != nil {
		_ = os.Remove(partial)
		return err
	}
	if err := giveName(partial, backup); err != nil {
		return err
	}
	return u.backedUp(backup)
}

// withoutPassword returns a database URL that may appear in the list of processes. It parses the
// URL as PostgreSQL's programs do, unlike net/url, and leaves the rest of it as it is.
func withoutPassword(address string) (string, error) {
	scheme, rest, _ := strings.Cut(address, "://")
	user := ""
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		name, _, _ := strings.Cut(rest[:i], ":")
		user, rest = name+"@", rest[i+1:]
	}
	place, query, _ := strings.Cut(rest, "?")
	var kept []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		switch strings.TrimSpace(name) {
		case "", "password":
		case "sslpassword":
			return "", lyceum.Invalidf("pg_dump cannot be given the sslpassword of the database URL without showing it to " +
				"other users of this machine; name a service file with servicefile and service, and put it there")
		default:
			kept = append(kept, parameter)
		}
	}
	plain := scheme + "://" + user + place
	if len(kept) > 0 {
		plain += "?" + strings.Join(kept, "&")
	}
	return plain, nil
}

// runProgram runs a PostgreSQL program and waits for it to end.
func runProgram(ctx context.Context, password, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // names are in this file
	command.Env = os.Environ()
	if password != "" {
		command.Env = append(command.Env, "PGPASSWORD="+password)
	}
	var said bytes.Buffer
	command.Stderr = &said
	err := command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return lyceum.Errorf(lyceum.Unavailable, "%s is not installed; install PostgreSQL's client programs, of the "+
			"server's version or newer, on this machine", name)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: name + " failed, so there is no backup and nothing was changed",
			Err: fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String())),
		}
	}
	return nil
}

// rowQuerier is a database, a connection or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}
