package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// object is a table, index, view, trigger or the like.
type object struct{ kind, name, text string }

// ownSchema fails if a database has objects that the migrations do not create: a trigger or a
// view would affect whatever is written or read later.
func ownSchema(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer db.Close()
	var version int64
	const latest = "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied = 1"
	err = db.QueryRowContext(ctx, latest).Scan(&version)
	if err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	want, newest, err := schemaOf(ctx, version)
	if err != nil {
		return err
	}
	if version > newest {
		return laterVersion(path)
	}
	got, err := objects(ctx, db)
	if err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	return sameObjects(path, "restore an unmodified file written by lyceum backup", got, want)
}

func laterVersion(place string) error {
	return lyceum.Invalidf("%s was made by a later version of lyceum; restore it with that version", place)
}

// sameObjects fails if a place does not consist of the objects that it should have, and says
// what to do about it. Filter indexes may be missing.
func sameObjects(place, todo string, got, want map[string]object) error {
	for _, key := range slices.Sorted(maps.Keys(got)) {
		o := got[key]
		if expected, ours := want[key]; !ours || expected.kind != o.kind {
			return lyceum.Invalidf("%s has an unknown %s %q; %s", place, o.kind, o.name, todo)
		} else if expected.text != o.text {
			return lyceum.Invalidf("the %s %q of %s was modified; %s", o.kind, o.name, place, todo)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, there := got[key]; !there && !isFilterIndex(want[key].name) {
			return lyceum.Invalidf("%s lacks the %s %q; %s", place, want[key].kind, want[key].name, todo)
		}
	}
	return nil
}

// schemaOf creates the schema of a version and returns its objects, and the newest version
// that exists.
func schemaOf(ctx context.Context, version int64) (made map[string]object, newest int64, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	c, err := sqliteDialect().beginSchema(ctx, db, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = c.tx.Rollback() }()
	if _, err := c.run(version, func(*migration) {}); err != nil {
		return nil, 0, fmt.Errorf("make the schema of version %d: %w", version, err)
	}
	for i := range filterIndexes {
		if _, err := c.tx.ExecContext(ctx, filterIndexes[i].create("")); err != nil {
			return nil, 0, fmt.Errorf("make the index %s: %w", filterIndexes[i].name, err)
		}
	}
	made, err = objects(ctx, c.tx)
	return made, c.to, err
}

// objects returns the objects of a database, without those that SQLite creates itself.
func objects(ctx context.Context, db querier) (map[string]object, error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, COALESCE(sql, '') FROM sqlite_schema
		WHERE NOT (type = 'index' AND sql IS NULL AND name LIKE 'sqlite\_autoindex\_%' ESCAPE '\')
		AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]object{}
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.text); err != nil {
			return nil, err
		}
		if o.name == "goose_db_version" && o.kind == "table" {
			o.text = "" // its wording is that of the migration library
		}
		all[o.name] = o
	}
	return all, rows.Err()
}
