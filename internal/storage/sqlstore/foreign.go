package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	d := sqliteDialect()
	list, err := d.readMigrations()
	if err != nil {
		return err
	}
	version, ran, err := d.schemaVersion(ctx, db, list)
	if err != nil || version == noSchema {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	if version > newestOf(list) {
		return laterVersion(path)
	}
	want, err := schemaOf(ctx, ran)
	if err != nil {
		return err
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

// schemaOf creates the schema of a database that has run the given migrations, or all if ran is
// nil, and returns its objects.
func schemaOf(ctx context.Context, ran map[int64]bool) (map[string]object, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	c, err := sqliteDialect().beginSchema(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.tx.Rollback() }()
	all := len(c.migrations)
	if ran != nil {
		c.migrations = slices.DeleteFunc(c.migrations, func(m migration) bool { return !ran[m.version] })
	}
	if len(c.migrations) == all {
		err = c.create()
	} else {
		_, err = c.run(c.to, func(*migration) {})
	}
	if err != nil {
		return nil, fmt.Errorf("make the schema to compare with: %w", err)
	}
	for i := range filterIndexes {
		if _, err := c.tx.ExecContext(ctx, filterIndexes[i].create("")); err != nil {
			return nil, fmt.Errorf("make the index %s: %w", filterIndexes[i].name, err)
		}
	}
	return objects(ctx, c.tx)
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
		switch {
		case o.kind != "table":
		case o.name == "goose_db_version":
			o.text = "" // its wording is that of the migration library
		default:
			o.text = unordered(o.text)
		}
		all[o.name] = o
	}
	return all, rows.Err()
}

// unordered sorts the columns and constraints in a CREATE TABLE statement: a migration that ran
// later than in other databases added its columns later.
func unordered(text string) string {
	begin, end := strings.Index(text, "(")+1, strings.LastIndex(text, ")")
	head := text[:begin]
	var parts []string
	depth, quoted := 0, false
	for i := begin; i <= end; i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(text[i:], "--"):
			i += max(strings.Index(text[i:], "\n"), 0)
		case c == '(':
			depth++
		case c == ')' && i < end:
			depth--
		case depth == 0 && (c == ',' || i == end):
			parts = append(parts, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	if end < 0 || begin != end+1 {
		return text
	}
	slices.Sort(parts)
	return head + strings.Join(parts, ", ") + text[end:]
}
