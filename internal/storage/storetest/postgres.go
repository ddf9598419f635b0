package storetest

import (
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

// Postgres creates an empty database for a test and returns its URL; the database is dropped
// after the test. Without a server, the test is skipped, or fails if CI=true.
func Postgres(t testing.TB) string {
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
	execute(t, "CREATE DATABASE "+name)
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
