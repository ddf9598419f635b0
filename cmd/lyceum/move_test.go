package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestMoveToPostgres checks that every row is moved as it is, that nothing is moved if that is not
// possible, and that the moved school is consistent.
func TestMoveToPostgres(t *testing.T) {
	t.Parallel()
	place, dir := storetest.EmptyPostgres(t), filepath.Join(t.TempDir(), "sandbox")
	makeSandbox(t, dir)
	from := openDB(t, "sqlite", "file:"+filepath.Join(dir, sqlstore.FileName)+"?_pragma=busy_timeout(10000)")
	refused := func(want string, args ...string) {
		t.Helper()
		if status, said := ran(t, append([]string{"move"}, args...)...); status != 1 || !strings.Contains(said, want) {
			t.Errorf("move %s: %d, %s, want %s", args, status, said, want)
		}
	}
	refused("there is no database in", "--data", t.TempDir(), "--to-url", place)
	refused("--to-url must begin with postgres://", "--data", dir, "--to-url", "mysql://localhost")
	refused("missing flags: --to-url=postgres://… or --to-url-file=FILE", "--data", dir)

	execute := func(statement string) {
		t.Helper()
		if _, err := from.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute("UPDATE courses SET heading = 'a' || char(0) WHERE course_id = 1")
	refused("a text in the table courses is not valid UTF-8 or contains a NUL character", "--data", dir, "--to-url", place)
	execute("UPDATE courses SET heading = 'a''\"\\N \t' || char(10) || 'ÆØ' WHERE course_id = 1")

	to := openDB(t, "pgx", place)
	if rows := readRows(t, to, "schools"); len(rows) > 0 {
		t.Errorf("moved although it failed: %s", rows)
	}
	held, err := to.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	refused("the database is in use", "--data", dir, "--to-url", place)
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	to.SetMaxIdleConns(0)

	release, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused("another lyceum process is using the data folder", "--data", dir, "--to-url", place)
	release()

	said := command(t, "move", "--data", dir, "--to-url", place)
	if !strings.Contains(said, "1 school with ") {
		t.Error(said)
	}
	refused("the PostgreSQL database already has schools; create an empty one", "--data", dir, "--to-url", place)
	for _, table := range readRows(t, from, "sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version'", "name") {
		if diff := cmp.Diff(readRows(t, from, table), readRows(t, to, table)); diff != "" {
			t.Errorf("%s (-before +moved):\n%s", table, diff)
		}
	}
	if said := command(t, "check", "--database-url", place, "--data", dir); !strings.Contains(said, "20 transactions, all in order") {
		t.Error(said)
	}
}

func openDB(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// readRows returns the rows of a table, sorted. Columns are those that both engines have.
func readRows(t *testing.T, db *sql.DB, table string, columns ...string) (all []string) {
	t.Helper()
	if len(columns) == 0 {
		columns = []string{"*"}
	}
	rows, err := db.QueryContext(t.Context(), "SELECT "+strings.Join(columns, ", ")+" FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	order := slices.Sorted(slices.Values(names)) // the engines have the columns in different orders
	for rows.Next() {
		values, pointers := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		if len(names) == 1 {
			all = append(all, fmt.Sprint(values[0]))
			continue
		}
		var row strings.Builder
		for _, name := range order {
			fmt.Fprintf(&row, "%s %v ", name, values[slices.Index(names, name)])
		}
		all = append(all, row.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
