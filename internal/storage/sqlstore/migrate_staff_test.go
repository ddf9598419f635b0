package sqlstore

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The owner of a school from before there were other staff is still its owner, no one else works
// there, and the keys belong to the school.
func TestStaffFromBeforeRoles(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, hash := hashOf(postgres, 0x2a)
			session, sessionText := hashOf(postgres, 0x2b)
			store := oldDatabase(t, postgres, 6,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'head@example.com', 'head@example.com', 'owner', 0), "+
					"(7, 2, 'ann@example.com', 'ann@example.com', 'author', 0)",
				"INSERT INTO api_keys (school_id, api_key_id, name, permissions, hash, last_four, created_at) VALUES (7, 1, 'Report', 3, "+hash+", 'abcd', 0)",
				"INSERT INTO sessions (school_id, hash, user_id, created_at, seen_at) VALUES (7, "+sessionText+", 1, 0, 0)")
			v := store.In(t.Context(), 7)
			for id, want := range map[lyceum.UserID]lyceum.StaffRole{1: lyceum.OwnerRole, 2: ""} {
				user, err := v.Users.Get(v, id)
				if err != nil {
					t.Fatal(err)
				}
				if role, err := lyceum.StaffRoleOf(v.Tables, v, &user); err != nil || role != want {
					t.Errorf("user %d is %q, %v, want %q", id, role, err, want)
				}
			}
			if s, err := v.GetSchool(); err != nil || s.OwnersSecondFactor {
				t.Errorf("the school is %+v, %v", s, err)
			}
			kept, err := v.Sessions.Get(v, session)
			if err != nil || kept.ConfirmedAt.After(time.Unix(0, 0)) {
				t.Errorf("the session is %+v, %v, and never showed who it is of", kept, err)
			}
			key, err := v.APIKeys.Get(v, 1)
			if err != nil || key.UserID.Present || key.Name != "Report" {
				t.Errorf("the key is %+v, %v", key, err)
			}
		})
	}
}
