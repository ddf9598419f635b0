package learning_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestThreadsEnd: a chain of replies and a thread have a bound, and deleting a
// comment deletes what is below it and nothing else.
func TestThreadsEnd(t *testing.T) {
	d := newDesk(t)
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error { return storetest.NewClassroom("ours").Save(tx) })
	by := lyceum.By{School: d.school, Actor: "test"}
	reply := func(to lyceum.CommentID) (lyceum.Comment, error) {
		n := learning.NewComment{Lecture: 11, User: 2, Body: "x", Parent: lyceum.Opt[lyceum.CommentID]{Value: to, Present: to != 0}}
		c, err := d.service.Comment(t.Context(), by, n)
		return c.Comment, err
	}
	chain := []lyceum.CommentID{0}
	for range lyceum.MaxCommentDepth + 1 {
		c, err := reply(chain[len(chain)-1])
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, c.ID)
	}
	if _, err := reply(chain[len(chain)-1]); err == nil || !strings.Contains(err.Error(), "11 is 10 replies deep already") {
		t.Errorf("a chain has no end: %v", err)
	}
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		for n := len(chain); n <= lyceum.MaxThread; n++ {
			id, err := tx.Comments.NextID(tx)
			if err != nil {
				return err
			}
			c := lyceum.Comment{ID: id, Lecture: 11, Course: 1, User: 2, Status: lyceum.CommentApproved, Above: "1", Body: "x", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin}
			if err := tx.Comments.Insert(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := reply(1); err == nil || !strings.Contains(err.Error(), "1 is in a thread that has 1000 comments already") {
		t.Errorf("a thread has no end: %v", err)
	}
	left := func() int64 {
		v := d.store.In(t.Context(), d.school)
		l, err := v.Comments.List(v, lyceum.CommentFilter{}, lyceum.Page{Number: 1, Size: 1})
		if err != nil {
			t.Fatal(err)
		}
		return l.Total
	}
	for _, step := range []struct {
		comment lyceum.CommentID
		left    int64
	}{{11, 999}, {2, 990}, {1, 0}} {
		if err := d.service.DeleteComment(t.Context(), by, step.comment); err != nil || left() != step.left {
			t.Errorf("after comment %d there are %d, want %d: %v", step.comment, left(), step.left, err)
		}
	}
}
