package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// object is a table, an index, a view or a trigger of a SQLite database.
type object struct{ kind, name, text string }

// ownSchema fails when a database has what the migrations do not make: a
// trigger or a view would act on whatever is written or read later.
func ownSchema(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer db.Close()
	var version int64
	err = db.QueryRowContext(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied = 1").Scan(&version)
	if err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is no backup made by lyceum", Err: err}
	}
	want, newest, err := schemaOf(ctx, version)
	if err != nil {
		return err
	}
	if version > newest {
		return lyceum.Invalidf("%s was made by a later version of lyceum; restore it with that version", path)
	}
	got, err := objects(ctx, db)
	if err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is no backup made by lyceum", Err: err}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if expected, ours := want[name]; !ours || expected.kind != got[name].kind {
			return lyceum.Invalidf("%s has the %s %q, which is none of Lyceum's; restore a file that lyceum backup wrote and nobody has changed", path, got[name].kind, name)
		} else if expected.text != got[name].text {
			return lyceum.Invalidf("the %s %q of %s is not as Lyceum makes it; restore a file that lyceum backup wrote and nobody has changed", got[name].kind, name, path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, there := got[name]; !there {
			return lyceum.Invalidf("%s lacks the %s %q; restore a file that lyceum backup wrote and nobody has changed", path, want[name].kind, name)
		}
	}
	return nil
}

// schemaOf makes the schema of a version, and tells the newest there is.
func schemaOf(ctx context.Context, version int64) (made map[string]object, newest int64, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	d := sqliteDialect()
	p := newPool(db, d, nil)
	provider, err := (&Store{dialect: d, reads: p, writes: p}).provider()
	if err != nil {
		return nil, 0, fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	newest = sources[len(sources)-1].Version
	if _, err := provider.UpTo(ctx, min(version, newest)); err != nil {
		return nil, 0, fmt.Errorf("make the schema of version %d: %w", version, err)
	}
	made, err = objects(ctx, db)
	return made, newest, err
}

// objects reads what a database consists of, without what SQLite makes by
// itself.
func objects(ctx context.Context, db *sql.DB) (map[string]object, error) {
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
			o.text = "" // the library that migrates words it
		}
		all[o.name] = o
	}
	return all, rows.Err()
}
