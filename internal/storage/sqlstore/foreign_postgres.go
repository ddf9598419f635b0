package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lyceum-school/lyceum"
)

// RestorePostgres changes a PostgreSQL database that pg_restore has filled and that nothing
// else uses. It refuses an older schema: the database may be a live one, which UpgradePostgres
// backs up.
func RestorePostgres(ctx context.Context, address string, o RestoreOptions) error {
	config, err := postgresConfig(address)
	if err != nil {
		return err
	}
	if err := unpooled(ctx, config); err != nil {
		return err
	}
	if err := restorable(ctx, config); err != nil {
		return err
	}
	store, err := OpenPostgres(ctx, address, Options{})
	if err != nil {
		return err
	}
	return o.prepare(ctx, store)
}

// restorable fails if a database is in use, is not Lyceum's, or has objects that the
// migrations do not create.
func restorable(ctx context.Context, config *pgx.ConnConfig) error {
	db := postgresPool(config, 1)
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return unreachable(config, err)
	}
	if err := unusedPostgres(ctx, db); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // what was created for the comparison is discarded
	return ownPostgresSchema(ctx, tx)
}

// unusedPostgres fails if others are connected to the database, unless they disconnect soon: a
// connection outlives its program for a moment. Connections that wait to read or change the
// version of the schema have not begun and do not count.
func unusedPostgres(ctx context.Context, db rowQuerier) error {
	const patience, pause = 2 * time.Second, 20 * time.Millisecond
	for deadline := time.Now().Add(patience); ; {
		var others int
		// Without this a transaction would see the same list again.
		if err := db.QueryRowContext(ctx, "SELECT pg_stat_clear_snapshot()").Scan(new(any)); err != nil {
			return err
		}
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity a
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
			AND COALESCE(backend_type, 'client backend') = 'client backend'
			AND NOT EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND NOT l.granted
				AND (l.relation = to_regclass('goose_db_version') OR l.locktype = 'advisory' AND l.objsubid = 1))`).
			Scan(&others)
		switch {
		case err != nil || others == 0:
			return err
		case time.Now().After(deadline):
			open := "1 other connection is"
			if others > 1 {
				open = strconv.Itoa(others) + " other connections are"
			}
			return lyceum.Errorf(lyceum.Conflict, "the database is in use: %s open; stop the servers and whatever else "+
				"uses it", open)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ownPostgresSchema does the same as ownSchema, for all schemas of the database except those
// of PostgreSQL itself and its extensions.
func ownPostgresSchema(ctx context.Context, tx *sql.Tx) error {
	main, err := postgresMain(ctx, tx)
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		const detail = "the database is not Lyceum's; fill it with pg_restore first"
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: detail, Err: err}
	}
	if err != nil {
		return err
	}
	d := postgresDialect()
	list, err := d.readMigrations()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	version, ran, err := d.schemaVersion(ctx, tx, list)
	if err != nil {
		return err
	}
	const (
		place = "the database"
		todo  = "undo that, or restore a dump of a database that nobody has changed, and run the command again"
	)
	if version > newestOf(list) {
		return laterVersion(place)
	}
	list = slices.DeleteFunc(list, func(m migration) bool { return !ran[m.version] })
	made, err := makePostgresSchema(ctx, tx, list)
	if err != nil {
		return err
	}
	got, want, err := postgresObjects(ctx, tx, main, made)
	if err != nil {
		return err
	}
	return sameObjects(place, todo, got, want)
}

// postgresMain returns the schema that contains Lyceum's tables.
func postgresMain(ctx context.Context, tx *sql.Tx) (name string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = 'goose_db_version'::regclass`).Scan(&name)
	return name, err
}

// makePostgresSchema creates the tables of migrations in a separate schema, and returns its name.
func makePostgresSchema(ctx context.Context, tx *sql.Tx, list []migration) (name string, err error) {
	name = "made_" + strings.ToLower(rand.Text())
	statements := []string{"CREATE SCHEMA " + name, "SET LOCAL search_path TO " + name}
	for _, m := range list {
		statements = append(statements, m.statements...)
	}
	for i := range filterIndexes {
		statements = append(statements, filterIndexes[i].create(""))
	}
	statements = append(statements, "SET LOCAL search_path TO ''") // so that all names come with their schema
	for _, text := range statements {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return "", fmt.Errorf("make the schema to compare with: %w", err)
		}
	}
	return name, nil
}

// postgresObjects returns the objects of a database, and separately those that were made in
// one schema. Objects of the main schema have no schema in their names.
func postgresObjects(ctx context.Context, tx *sql.Tx, main, made string) (got, want map[string]object, err error) {
	rows, err := tx.QueryContext(ctx, postgresObjectsText)
	if err != nil {
		return nil, nil, fmt.Errorf("read the schema: %w", err)
	}
	defer rows.Close()
	got, want = map[string]object{}, map[string]object{}
	for rows.Next() {
		var o object
		var space, on string
		if err := rows.Scan(&space, &o.kind, &o.name, &on, &o.text); err != nil {
			return nil, nil, err
		}
		to := got
		switch space {
		case made:
			to = want
		case main, "":
		default:
			o.name = space + "." + o.name
		}
		to[o.kind+" "+o.name+" "+on] = o
	}
	return got, want, rows.Err()
}

// postgresObjectsText omits the table of the migration library.
const postgresObjectsText = `
WITH spaces AS (
	SELECT oid, nspname FROM pg_namespace WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'),
extended AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'),
relations AS (
	SELECT c.oid, s.nspname, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity
	FROM pg_class c JOIN spaces s ON s.oid = c.relnamespace
	WHERE c.relkind <> 'c' AND (c.oid, 'pg_class'::regclass) NOT IN (SELECT objid, classid FROM extended)),
columns AS (
	SELECT a.attrelid, string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
		o.collname, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)), ', ' ORDER BY a.attname) AS text
	FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	LEFT JOIN pg_collation o ON o.oid = a.attcollation
	WHERE a.attnum > 0 AND NOT a.attisdropped GROUP BY a.attrelid),
constraints AS (
	SELECT conrelid, string_agg(conname || ' ' || pg_get_constraintdef(oid), ', ' ORDER BY conname) AS text
	FROM pg_constraint WHERE contype IN ('c', 'f', 'p', 'u', 'x') GROUP BY conrelid),
objects AS (
	SELECT nspname, CASE relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'f' THEN 'foreign table'
			WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' ELSE 'index' END AS kind,
		relname::text AS name, '' AS place,
		CASE WHEN relkind IN ('i', 'I') THEN pg_get_indexdef(oid)
			WHEN relkind = 'r' THEN concat_ws('; ', relrowsecurity, relforcerowsecurity,
				(SELECT text FROM columns WHERE attrelid = oid), (SELECT text FROM constraints WHERE conrelid = oid))
			ELSE '' END AS text
	FROM relations WHERE (relname, relkind::text) NOT IN
		(('goose_db_version', 'r'), ('goose_db_version_pkey', 'i'), ('goose_db_version_id_seq', 'S'))
	UNION ALL SELECT nspname, 'trigger', tgname::text, relname::text, pg_get_triggerdef(t.oid) || ' ' || tgenabled::text
	FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
	UNION ALL SELECT nspname, 'rule', rulename::text, relname::text, ''
	FROM pg_rewrite w JOIN relations r ON r.oid = w.ev_class WHERE rulename <> '_RETURN'
	UNION ALL SELECT nspname, 'policy', polname::text, relname::text, ''
	FROM pg_policy p JOIN relations r ON r.oid = p.polrelid
	UNION ALL SELECT nspname, 'function', proname::text, pg_get_function_identity_arguments(p.oid),
		CASE WHEN prokind = 'f' THEN pg_get_functiondef(p.oid) ELSE '' END
	FROM pg_proc p JOIN spaces s ON s.oid = p.pronamespace
	WHERE (p.oid, 'pg_proc'::regclass) NOT IN (SELECT objid, classid FROM extended)
	UNION ALL SELECT '', 'event trigger', evtname::text, '', '' FROM pg_event_trigger
	WHERE (oid, 'pg_event_trigger'::regclass) NOT IN (SELECT objid, classid FROM extended))
SELECT nspname::text, kind, name, place, replace(text, quote_ident(nspname) || '.', '') FROM objects`
