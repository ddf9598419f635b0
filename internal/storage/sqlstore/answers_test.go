package sqlstore

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR47_KeysFromBeforeTheyBelongedToActors checks that a response stored for a key of the
// whole school is returned to anyone who repeats the request, so that no request takes effect
// twice because the server was updated in between.
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
			try := func(actor string) error {
				once := &lyceum.Once{
					Key: "k", Request: lyceum.KeyHash(bytes.Repeat([]byte{7}, 32)),
					Render: func(any) ([]byte, error) { return []byte("after"), nil },
				}
				stamp := lyceum.Stamp{School: 1, At: storetest.Begin, Actor: actor, Once: once}
				_, err := lyceum.Change(t.Context(), store, stamp, func(lyceum.Tx) (string, error) { return "", nil })
				return err
			}
			for _, actor := range []string{"api_key:1", "api_key:2"} {
				err := try(actor)
				if repeat, ok := errors.AsType[*lyceum.RepeatError](err); !ok || string(repeat.Body) != "before" {
					t.Errorf("%s: %v", actor, err)
				}
			}
			if err := store.Sweep(t.Context(), 1, lyceum.Expired{AnswerUntil: storetest.Begin}); err != nil {
				t.Fatal(err)
			}
			if err := try("api_key:1"); err != nil {
				t.Errorf("the key outlives its time: %v", err)
			}
		})
	}
}
