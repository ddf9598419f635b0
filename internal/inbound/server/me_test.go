package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestMeShowsChangesAtOnce checks that an app sees what a program of the school changed in the
// learner's profile, although no time has passed: the clock of a sandbox may stand still.
func TestMeShowsChangesAtOnce(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		me := func(version lyceum.InterfaceVersion) string {
			t.Helper()
			w := k.me(t, version, "Authorization: bearer "+k.tokens[bearer{k.ours, mira, version}])
			wantStatus(t, w, http.StatusOK)
			return w.Body.String()
		}
		for _, tc := range []struct{ face, op, body, says string }{
			{"v1", "UpdateUser", `{"name":"Mira One"}`, `"name":"Mira One"`},
			{"v2", "updateUser", `{"name":"Mira Two"}`, `"name":"Mira Two"`},
			{"v2", "updateUser", `{"role":"author"}`, `"role":"author"`},
		} {
			for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
				me(version) // is cached from now on
			}
			_, w := k.send(t, k.ours, requestCase{face: tc.face, op: tc.op, values: "user_id=2", body: tc.body})
			wantStatus(t, w, http.StatusOK)
			for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
				if shown := me(version); !strings.Contains(shown, tc.says) {
					t.Errorf("after %s %s, version %d shows %s", tc.op, tc.body, version, shown)
				}
			}
		}
	})
}

// TestForbiddenWithEveryScope checks that an app is not told to ask for scopes that it has.
func TestForbiddenWithEveryScope(t *testing.T) {
	k := newClass(t, newCampus(t))
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
		return tx.Comments.Insert(tx, lyceum.Comment{
			ID: 1, Lecture: 11, Course: 1, User: 4, Status: lyceum.CommentApproved, Body: "Not hers", CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1),
		})
	})
	for _, op := range []string{"updateCurrentUserComment", "deleteCurrentUserComment"} {
		_, w := k.send(t, k.ours, requestCase{face: "v2", op: op, values: "course_id=1 lecture_id=11 comment_id=1", body: `{"body":"x"}`})
		wantError(t, w, http.StatusForbidden, "access_forbidden")
		if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
			t.Errorf("%s is challenged by %q", op, challenge)
		}
	}
}
