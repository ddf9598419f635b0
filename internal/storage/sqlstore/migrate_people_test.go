package sqlstore

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Older users are sorted, found and counted like new ones.
func TestUsersFromBeforeAreListed(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 37,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, name, role, created_at, last_sign_in_at) VALUES "+
					"(7, 1, 'a@x', 'a@x', 'Zoe', 'owner', 1000000, NULL), (7, 2, 'C@x', 'c@x', 'anna', 'student', 3000000, 9000000), "+
					"(7, 3, 'b@x', 'b@x', NULL, 'tutor', 2000000, 8000000), (7, 4, 'd@x', 'd@x', 'Bo', 'student', 4000000, NULL)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'user_id', 4), (7, 'users', 4)",
			)
			v := store.In(t.Context(), 7)
			for what, tc := range map[string]struct {
				f    lyceum.UserFilter
				want []lyceum.UserID
			}{
				"by name":           {lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByName}}, []lyceum.UserID{3, 2, 4, 1}},
				"by address":        {lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByEmail}}, []lyceum.UserID{1, 3, 2, 4}},
				"newest first":      {lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true}}, []lyceum.UserID{4, 2, 3, 1}},
				"by change":         {lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByUpdated}}, []lyceum.UserID{1, 3, 2, 4}},
				"by sign-in":        {lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserBySignIn}}, []lyceum.UserID{1, 4, 3, 2}},
				"students":          {lyceum.UserFilter{Role: lyceum.Some(lyceum.Student)}, []lyceum.UserID{2, 4}},
				"of another role":   {lyceum.UserFilter{Role: lyceum.Some(lyceum.CustomRole)}, []lyceum.UserID{3}},
				"with part of name": {lyceum.UserFilter{Name: lyceum.Some("O")}, []lyceum.UserID{1, 4}},
			} {
				found, err := v.Users.List(v, tc.f, lyceum.Page{Number: 1, Size: 10})
				var ids []lyceum.UserID
				for i := range found.Rows {
					ids = append(ids, found.Rows[i].ID)
				}
				if err != nil || !slices.Equal(ids, tc.want) || found.Total != int64(len(tc.want)) {
					t.Errorf("%s: %v of %d, %v; want %v", what, ids, found.Total, err, tc.want)
				}
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}
