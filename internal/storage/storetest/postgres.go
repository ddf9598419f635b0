package storetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx
)

// PostgresVariable is the name of the environment variable with the URL of a PostgreSQL server on
// which the user may create databases. `make test` starts a server and sets it.
const PostgresVariable = "LYCEUM_TEST_POSTGRES"

// SchemaVariable is the name of the environment variable with the name of a database on that server
// that has the schema of this lyceum and no school. `make test` creates it and sets the variable.
const SchemaVariable = "LYCEUM_TEST_SCHEMA"

// Postgres creates a database for a test and returns its URL; the database is dropped after the
// test. It is a copy of the one in SchemaVariable, if set, and otherwise empty: a store creates its
// schema when it opens it. Without a server, the test is skipped, or fails if CI=true.
func Postgres(t testing.TB) string {
	t.Helper()
	return postgres(t, cmp.Or(os.Getenv(SchemaVariable), "template1"))
}

// EmptyPostgres is Postgres for a test that needs an empty database.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return postgres(t, "template1")
}

func postgres(t testing.TB, template string) string {
	t.Helper()
	server := os.Getenv(PostgresVariable)
	if server == "" {
		const sentence = "no PostgreSQL: set " + PostgresVariable +
			" to postgres://user:password@host/postgres, or run make test, which starts one"
		if os.Getenv("CI") == "true" {
			t.Fatal(sentence)
		}
		t.Skip(sentence)
	}
	name := "lyceum_" + strings.ToLower(rand.Text())
	execute(t, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY")
	t.Cleanup(func() { execute(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("read %s: %v", PostgresVariable, err)
	}
	address.Path = "/" + name
	return address.String()
}

// administration is the connection pool for creating and dropping all databases of a process.
var administration = sync.OnceValues(func() (*sql.DB, error) { return sql.Open("pgx", os.Getenv(PostgresVariable)) })

func execute(t testing.TB, statement string) {
	t.Helper()
	db, err := administration()
	if err != nil {
		t.Fatalf("open %s: %v", PostgresVariable, err)
	}
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
