package sqlstore

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// oldDatabase creates a database with the schema of a version, runs statements in it, upgrades
// the schema, and opens it.
func oldDatabase(t *testing.T, postgres bool, version int64, statements ...string) *Store {
	t.Helper()
	d, path := sqliteDialect(), filepath.Join(t.TempDir(), FileName)
	open := func() (*Store, error) { return OpenFile(t.Context(), path, Options{}) }
	var db *sql.DB
	if postgres {
		address := storetest.EmptyPostgres(t)
		config, err := pgx.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		d, db = postgresDialect(), stdlib.OpenDB(*config)
		open = func() (*Store, error) { return OpenPostgres(t.Context(), address, Options{}) }
	} else {
		var err error
		if db, err = sql.Open("sqlite", sqliteDSN(path, Full, "_txlock=immediate")); err != nil {
			t.Fatal(err)
		}
	}
	migrateTo(t.Context(), t, db, d, version)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	migrateTo(t.Context(), t, db, d, newestMigration)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := open()
	if err != nil {
		t.Fatalf("open a database of version %d: %v", version, err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func migrateTo(ctx context.Context, t *testing.T, db *sql.DB, d *dialect, version int64) {
	t.Helper()
	c, err := d.beginSchema(ctx, db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(version, func(*migration) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// No two migrations of an engine have the same number: a database that has run one of them would
// never run the other.
func TestMigrationsAreNumbered(t *testing.T) {
	t.Parallel()
	for _, d := range []*dialect{sqliteDialect(), postgresDialect()} {
		list, err := d.readMigrations()
		if err != nil {
			t.Fatal(err)
		}
		for i := range list[1:] {
			if before, m := list[i], list[i+1]; m.version <= before.version {
				t.Errorf("%s: %s has the number %d, and so has %s", d.name, m.name, m.version, before.name)
			}
		}
	}
}

// Every statement of a migration is split off correctly, and those that write rows are counted.
func TestStatementsOfMigrations(t *testing.T) {
	t.Parallel()
	first := regexp.MustCompile(`(?m)^[A-Z]+`)
	for _, d := range []*dialect{sqliteDialect(), postgresDialect()} {
		list, err := d.readMigrations()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			for _, text := range m.statements {
				verb := first.FindString(text)
				if !slices.Contains([]string{"CREATE", "ALTER", "DROP", "INSERT", "UPDATE", "DELETE"}, verb) {
					t.Errorf("%s, %d: a statement begins with %q:\n%s", d.name, m.version, verb, text)
				}
				if writes := slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, verb); writes != written.MatchString(text) {
					t.Errorf("%s, %d: counted is %v:\n%s", d.name, m.version, !writes, text)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"-- +goose Up\n-- Why.\nUPDATE users SET a = 1;\n": "users",
		"\nINSERT INTO blocks (a) VALUES (1);\n":           "blocks",
		"\n-- INSERT INTO blocks\nCREATE TABLE a (b);\n":   "",
		"CREATE TABLE a AS SELECT 1;\nUPDATE b SET c = 1":  "",
	} {
		got := ""
		if found := written.FindStringSubmatch(text); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("%q writes to %q, want %q", text, got, want)
		}
	}
}

// A school from before time zones is in UTC; everything else is unchanged.
func TestSchoolsFromBeforeTimeZones(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 5,
				"INSERT INTO schools (school_id, name, created_at, v2_disabled, on_refund, abandon_after) VALUES (7, 'Fernwood', 0, 1, 'keep', 90)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7)")
			got, err := store.In(t.Context(), 7).GetSchool()
			if err != nil {
				t.Fatal(err)
			}
			if got.TimeZone != lyceum.UTC || got.Name != "Fernwood" || !got.V2Disabled || got.Policy.OnRefund != lyceum.Keep ||
				got.Policy.OnCancellation != lyceum.AtPeriodEnd || got.Policy.AbandonAfter.Minutes() != 90 {
				t.Errorf("the school is %+v", got)
			}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Asia/Tokyo" }) })
			if got, err = store.In(t.Context(), 7).GetSchool(); err != nil || got.TimeZone != "Asia/Tokyo" {
				t.Errorf("after a change: %+v, %v", got, err)
			}
		})
	}
}

// A PDF that was stored as pdf gets the kind of the contract; no other kind changes.
func TestPDFsFromBeforePDFEmbed(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 6,
				"INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (1, 1, 'Pottery', 1, 0, 0)",
				"INSERT INTO lecture_sections (school_id, lecture_section_id, course_id, name, is_published, position) VALUES (1, 1, 1, 'Wheel', 1, 1)",
				"INSERT INTO lectures (school_id, lecture_id, course_id, lecture_section_id, is_published, position) VALUES (1, 1, 1, 1, 1, 1)",
				"INSERT INTO attachments (school_id, attachment_id, lecture_id, kind, position) VALUES (1, 1, 1, 'pdf', 1), (1, 2, 1, 'image', 2), (1, 3, 1, 'pdf_embed', 3)")
			v := store.In(t.Context(), 1)
			all, err := lyceum.All(v.Attachments, v, lyceum.AttachmentFilter{Lecture: lyceum.Some(lyceum.LectureID(1))})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []lyceum.AttachmentKind
			for _, a := range all {
				kinds = append(kinds, a.Kind)
			}
			if want := []lyceum.AttachmentKind{lyceum.PDFAttachment, lyceum.ImageAttachment, lyceum.PDFAttachment}; !slices.Equal(kinds, want) {
				t.Errorf("the kinds are %v, want %v", kinds, want)
			}
		})
	}
}

// Users from before the check for common passwords keep theirs until they are told to choose
// another.
func TestUsersFromBeforeCommonPasswords(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 5,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'user_id', 1), (7, 'users', 1)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, password_hash, created_at) "+
					"VALUES (7, 1, 'Mira@example.com', 'mira@example.com', 'student', 'kept', 1000000)")
			v := store.In(t.Context(), 7)
			user, err := v.Users.Get(v, 1)
			if err != nil || user.PasswordHash != lyceum.Some("kept") || user.MustChangePassword {
				t.Fatalf("the user is %+v, %v", user, err)
			}
			user.MustChangePassword = true
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				_, err := tx.Users.Save(tx, user)
				return err
			})
			got, err := v.Users.Get(v, 1)
			if user.UpdatedAt = got.UpdatedAt; err != nil || got != user {
				t.Errorf("after a change: %+v, %v", got, err)
			}
		})
	}
}
