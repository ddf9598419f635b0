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

// TestPostgresSettings: whatever the server's configuration says, text is stored as it is.
// A database that cannot is refused, and so is one that cannot be used, with what to do.
func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, alter, encoding, want string }{
		{name: "client encoding", alter: "client_encoding = 'LATIN1'"},
		{name: "strings", alter: "standard_conforming_strings = off"},
		{name: "no schema", alter: "search_path = nowhere", want: " lacks rights in the database "},
		{name: "encoding", encoding: "LATIN1", want: "the database has the encoding LATIN1; create one with ENCODING 'UTF8'"},
		{name: "no database", encoding: "none", want: " cannot be reached; start it, create the database, or correct "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := storetest.Postgres(t)
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
			if test.encoding == "LATIN1" {
				execute("CREATE DATABASE " + at.Path[1:] + " TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
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
