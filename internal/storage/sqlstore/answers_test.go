package sqlstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR47_KeysFromBeforeTheyBelongedToActors: an answer that was kept for a key
// of the whole school is given to whoever repeats the request, so that no
// request takes effect twice because the server was updated in between.
func TestR47_KeysFromBeforeTheyBelongedToActors(t *testing.T) {
	t.Parallel()
	const hash = "8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a" // SHA-256 of k
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blob := "X'%s'"
			if postgres {
				blob = `'\x%s'`
			}
			request := strings.Repeat("07", 32)
			store := oldDatabase(t, postgres, 8,
				"INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)",
				fmt.Sprintf("INSERT INTO answers (school_id, hash, request, created_at, body) VALUES (1, "+blob+", "+blob+", 1000000, 'before')", hash, request))
			for _, actor := range []string{"api_key:1", "api_key:2"} {
				stamp := lyceum.Stamp{School: 1, At: storetest.Begin, Actor: actor}
				err := store.Write(t.Context(), stamp, func(tx lyceum.Tx) error {
					kept, fresh, err := tx.ClaimAnswer(lyceum.KeptAnswer{Key: "k", CreatedAt: storetest.Begin})
					if fresh || kept.Body != lyceum.Some("before") || kept.Request[31] != 7 {
						t.Errorf("%s: %+v, fresh %v", actor, kept, fresh)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			if err := store.Sweep(t.Context(), 1, lyceum.Expired{AnswerUntil: storetest.Begin}); err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, store, 1, func(tx lyceum.Tx) error {
				if _, fresh, err := tx.ClaimAnswer(lyceum.KeptAnswer{Key: "k", CreatedAt: storetest.Begin}); err != nil || !fresh {
					t.Errorf("the key outlives its time: %v", err)
				}
				return nil
			})
		})
	}
}
