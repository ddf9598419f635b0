package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// mendSchema compares the objects of a database that has run all migrations with those that the
// migrations create. They can differ if a migration was changed after the database had run it.
// Differing indexes are replaced. Differing tables are a Conflict, because statements would fail
// or enforce less than they should.
func (d *dialect) mendSchema(ctx context.Context, tx *sql.Tx) error {
	got, want, err := d.schemas(ctx, tx)
	if err != nil {
		return err
	}
	var indexes []object
	for _, key := range slices.Sorted(maps.Keys(want)) {
		o := want[key]
		switch {
		case got[key] == o || isFilterIndex(o.name):
		case o.kind == "index" && o.text != "":
			indexes = append(indexes, o)
		default:
			return lyceum.Errorf(lyceum.Conflict, "the %s %q of this database is not the one that lyceum's migrations make, "+
				"so nothing was changed: a lyceum between two versions made it, or it was changed by hand; export its rows "+
				"with the lyceum that made it, and import them into a new database", o.kind, o.name)
		}
	}
	for _, o := range indexes {
		for _, text := range []string{"DROP INDEX IF EXISTS " + o.name, o.text} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("replace the index %s: %w", o.name, err)
			}
		}
	}
	return nil
}

func sqliteSchemas(ctx context.Context, tx *sql.Tx) (got, want map[string]object, err error) {
	if got, err = objects(ctx, tx); err != nil {
		return nil, nil, err
	}
	want, err = schemaOf(ctx, nil)
	return got, want, err
}

func postgresSchemas(ctx context.Context, tx *sql.Tx) (got, want map[string]object, err error) {
	list, err := postgresDialect().readMigrations()
	if err != nil {
		return nil, nil, fmt.Errorf("read migrations: %w", err)
	}
	main, err := postgresMain(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	var may bool // may create a schema to compare with
	err = tx.QueryRowContext(ctx, "SELECT has_database_privilege(current_database(), 'CREATE')").Scan(&may)
	if err != nil || !may {
		return nil, nil, err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT compared"); err != nil {
		return nil, nil, err
	}
	made, err := makePostgresSchema(ctx, tx, list)
	if err != nil {
		return nil, nil, err
	}
	if got, want, err = postgresObjects(ctx, tx, main, made); err != nil {
		return nil, nil, err
	}
	_, err = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT compared")
	return got, want, err
}
