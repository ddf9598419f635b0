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

// PostgresVariable names the environment variable with the address of a
// PostgreSQL server whose user may create databases. `make test` starts one
// and sets it.
const PostgresVariable = "LYCEUM_TEST_POSTGRES"

// Postgres makes an empty database for a test and gives its address; the
// database goes with the test. Without a server the test is skipped, and with
// CI=true it fails.
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

// administration is one connection pool for all databases that a process makes.
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
