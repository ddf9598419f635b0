package sqlstore_test

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestPostgresSettings checks that text is stored unchanged, whatever the server's configuration.
// A database that cannot do so or cannot be used is rejected with advice.
func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, alter, encoding, want string }{
		{name: "client encoding", alter: "client_encoding = 'LATIN1'"},
		{name: "strings", alter: "standard_conforming_strings = off"},
		{name: "no schema", alter: "search_path = nowhere", want: " lacks rights in the database "},
		{name: "encoding", encoding: "LATIN1", want: "the database has the encoding LATIN1; create one with ENCODING 'UTF8'"},
		{name: "no encoding", encoding: "SQL_ASCII"},
		{name: "no database", encoding: "none", want: " cannot be reached; start it, create the database, or correct "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := storetest.EmptyPostgres(t)
			db, err := sql.Open("pgx", place)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			execute := func(statement string) {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			at, err := url.Parse(place)
			if err != nil {
				t.Fatal(err)
			}
			if test.alter != "" {
				execute("ALTER DATABASE " + strings.Trim(at.Path, "/") + " SET " + test.alter)
			}
			if test.encoding != "" {
				at.Path = "/lyceum_" + strings.ToLower(rand.Text())
			}
			if test.encoding != "" && test.encoding != "none" {
				execute("CREATE DATABASE " + at.Path[1:] + " TEMPLATE template0 ENCODING '" + test.encoding + "' LC_COLLATE 'C' LC_CTYPE 'C'")
				defer execute("DROP DATABASE " + at.Path[1:] + " WITH (FORCE)")
			}
			store, err := sqlstore.OpenPostgres(t.Context(), at.String(), sqlstore.Options{})
			if test.want != "" {
				if e := lyceum.Public(err); !strings.Contains(e.Detail, test.want) {
					t.Errorf("the error is %v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			school := storetest.MakeSchool(t, store)
			const name = `Ünï\ 'n' 日本`
			storetest.Write(t, store, school, func(tx lyceum.Tx) error {
				return tx.Users.Insert(tx, lyceum.User{
					ID: 1, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin, Name: lyceum.Some(name),
				})
			})
			other := *at
			other.RawQuery += "&options=-c%20client_encoding%3DUTF8"
			plain, err := sql.Open("pgx", other.String())
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			var stored string
			if err := plain.QueryRowContext(t.Context(), "SELECT name FROM users WHERE user_id = 1").Scan(&stored); err != nil {
				t.Fatal(err)
			}
			if stored != name {
				t.Errorf("the name is %q in the database, want %q", stored, name)
			}
		})
	}
}

// TestPostgresIsWritableAgain checks that a store that was open while its database was read-only
// can write again afterwards.
func TestPostgresIsWritableAgain(t *testing.T) {
	t.Parallel()
	place := storetest.EmptyPostgres(t)
	store, err := sqlstore.OpenPostgres(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execute := func(statement string) {
		if _, err := db.ExecContext(t.Context(), "SET default_transaction_read_only = off; "+statement); err != nil {
			t.Fatal(err)
		}
	}
	write := func() error {
		return store.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
			tx.Note(lyceum.SchoolUpdated, int32(school))
			return nil
		})
	}
	at, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Trim(at.Path, "/")
	execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
	execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "' AND pid <> pg_backend_pid()")
	if !storetest.Await(func() bool { return strings.Contains(lyceum.Public(write()).Detail, "the database is read-only") }) {
		t.Fatal("the database is not read-only")
	}
	execute("ALTER DATABASE " + name + " RESET default_transaction_read_only")
	if !storetest.Await(func() bool { return write() == nil }) {
		t.Error("the store is read-only for good:", write())
	}
}
