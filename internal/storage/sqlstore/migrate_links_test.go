package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Older links confirm no address, and stay what they were.
func TestLinksFromBeforeAddresses(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hash := map[bool]string{false: "zeroblob(32)", true: "decode(repeat('00', 32), 'hex')"}[postgres]
			store := oldDatabase(t, postgres, 40,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at, updated_at, name_key) VALUES (7, 1, 'a@x', 'a@x', 'student', 0, 0, '')",
				"INSERT INTO links (school_id, hash, user_id, purpose, created_at, expires_at) VALUES (7, "+hash+", 1, 'set_password', 1000000, 9000000)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 9, 'key:1', 'user.created', 1)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 1), (7, 'users', 1), (7, 'users:student', 1)",
			)
			v := store.In(t.Context(), 7)
			link, err := v.Links.Get(v, lyceum.KeyHash{})
			if err != nil || link.Purpose != lyceum.SetPassword || link.User != 1 || link.Email.Present || link.UsedAt.Present {
				t.Errorf("the link is %+v, %v", link, err)
			}
		})
	}
}
