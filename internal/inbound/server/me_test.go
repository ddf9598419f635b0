package server_test

import (
	"net/http"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

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
