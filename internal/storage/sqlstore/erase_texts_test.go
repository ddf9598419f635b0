package sqlstore

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// eraseTexts erases a person, user 7, from all texts of a school, and returns how many changes
// it took.
func eraseTexts(t *testing.T, store *Store, school lyceum.SchoolID, called lyceum.Called) (changes int) {
	t.Helper()
	var from lyceum.Searched
	for more := true; more; {
		var found lyceum.FoundTexts
		var err error
		if found, from, more, err = store.In(t.Context(), school).FindTexts(7, called, from); err != nil {
			t.Fatal(err)
		}
		if len(found.Keys) > searchedRows {
			t.Errorf("%d texts at once", len(found.Keys))
		}
		if len(found.Keys) > 0 {
			changes++
			storetest.Write(t, store, school, func(tx lyceum.Tx) error { return tx.EraseTexts(7, called, found) })
		}
	}
	return changes
}

// TestTextsAreErasedInParts checks that a person is erased from what others wrote, a hundred
// texts per change, whatever the type of their keys, and that everything about others stays as
// it is.
func TestTextsAreErasedInParts(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		school := storetest.MakeSchool(t, store)
		const n = 2*foundTexts + 1
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			for i := range int32(n) {
				text := fmt.Sprintf("%d: MARY ANN is there", i)
				row := lyceum.FailedRequest{ID: lyceum.FailedRequestID(i + 1), Message: text}
				if err := tx.FailedRequests.Insert(tx, row); err != nil {
					return err
				}
				tx.Announce(lyceum.UserUpdated, i+1, lyceum.UserUpdatedEvent, `{"old_name":"Mary Ann","new_name":"Ann"}`)
				kept := lyceum.KeptAnswer{Hash: lyceum.KeyHash{byte(i), byte(i >> 8)}, CreatedAt: storetest.Begin, Body: `{"id":1,"name":"Mary Ann"}`}
				if err := tx.Answers.Insert(tx, kept); err != nil {
					return err
				}
			}
			return tx.FailedRequests.Insert(tx, lyceum.FailedRequest{ID: n + 1, Message: "Rosemary Ann is there"})
		})
		if changes := eraseTexts(t, store, school, lyceum.Called{Names: []string{"Mary Ann"}}); changes != 9 {
			t.Errorf("erased in %d changes", changes)
		}
		for _, place := range []string{"failed_requests.message", "journal.detail", "answers.body"} {
			table, column, _ := strings.Cut(place, ".")
			for _, line := range lines(t, store, "SELECT "+column+" FROM "+table+" WHERE "+column+" IS NOT NULL", 1) {
				if strings.Contains(strings.ToLower(line[0]), `"mary ann`) || strings.Contains(line[0], ": MARY") {
					t.Fatalf("%s has %s", place, line[0])
				}
			}
		}
		v := store.In(t.Context(), school)
		other, err := v.FailedRequests.Get(v, n+1)
		if err != nil || other.Message != "Rosemary Ann is there" {
			t.Errorf("%+v, %v", other, err)
		}
	})
}

// TestErasuresAfterAnUpgrade checks that erasures that were in progress at an upgrade are
// resumed.
func TestErasuresAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 91,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 3, 'erased-3@invalid', 'erased-3@invalid', 'student', 0)",
				`INSERT INTO erasures (school_id, user_id, requested_at, called, passes, searched_payload, searched_text, searched_key) VALUES (7, 3, 0, '{"names":["Mary Ann"]}', 1, 12, 1, '0a')`)
			v := store.In(t.Context(), 7)
			e, err := v.Erasures.Get(v, 3)
			if want := (lyceum.Searched{Text: 1, Key: "0a"}); err != nil || e.Searched != want || e.Passes != 1 || len(e.Called.Names) != 1 {
				t.Fatalf("%+v, %v", e, err)
			}
			e.Searched = lyceum.Searched{Text: 3, Key: "17"}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error { return tx.Erasures.Update(tx, e) })
			if got, err := v.Erasures.Get(v, 3); err != nil || got.Searched != e.Searched {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestErasedTablesAreVacuumed checks that PostgreSQL vacuums every table from which rows with
// something personal are deleted or changed when a person is erased.
func TestErasedTablesAreVacuumed(t *testing.T) {
	t.Parallel()
	store := openTestPostgres(t)
	if clean, err := store.CleanErased(t.Context()); !clean || err != nil {
		t.Fatal(clean, err)
	}
	for _, name := range []string{
		"users", "user_tags", "authors", "affiliates", "sessions", "links", "orders", "comments", "quiz_responses", "emails",
		"second_factors", "passkeys", "recovery_codes", "erasures", "planned_erasures",
	} {
		eventually(t, name+" is vacuumed", func() bool {
			var n int64
			_, err := store.reads.single(t.Context()).one("SELECT vacuum_count FROM pg_stat_user_tables "+
				"WHERE relid = CAST($1 AS regclass)", []any{name}, scanInt(&n))
			return err == nil && n > 0
		})
	}
}

// TestCleanErasedMayTakeLong checks that the vacuum of a large table may take longer than the
// statement of a change. Here it pauses after every page.
func TestCleanErasedMayTakeLong(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	filled, err := OpenPostgres(t.Context(), place, Options{Patience: storetest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer filled.Close()
	storetest.Write(t, filled, storetest.MakeSchool(t, filled), func(tx lyceum.Tx) error {
		var users []lyceum.User
		for i := range 1000 {
			users = append(users, lyceum.User{
				ID: lyceum.UserID(1 + i), Email: fmt.Sprintf("user%d@example.com", i), Role: lyceum.Student,
				CreatedAt: storetest.Begin,
			})
		}
		return tx.Users.Insert(tx, users...)
	})
	address, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	parameters := address.Query()
	parameters.Set("vacuum_cost_delay", "100")
	parameters.Set("vacuum_cost_limit", "1")
	address.RawQuery = parameters.Encode()
	store, err := OpenPostgres(t.Context(), address.String(), Options{Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if clean, err := store.CleanErased(t.Context()); !clean || err != nil {
		t.Error(clean, err)
	}
}
