package learning_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestThreadsEnd checks that chains of replies and threads are bounded, and that deleting a
// comment deletes the replies below it and nothing else.
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

// TestOwnerWhoComments checks that comments of the school's owner are by the first owner who is not
// disabled.
func TestOwnerWhoComments(t *testing.T) {
	d := newDesk(t)
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		err := storetest.NewClassroom("ours").Save(tx)
		_, failed := tx.Users.Save(tx,
			lyceum.User{ID: 1, Email: "left@example.com", Role: lyceum.Owner, CreatedAt: storetest.Begin, DisabledAt: lyceum.Some(storetest.Begin)},
			lyceum.User{ID: 12, Email: "owner@example.com", Role: lyceum.Owner, CreatedAt: storetest.Begin})
		return errors.Join(err, failed)
	})
	by := lyceum.By{School: d.school, Actor: "test"}
	c, err := d.service.CommentAsOwner(t.Context(), by, learning.NewComment{Lecture: 11, Body: "x"})
	if err != nil || c.Author.ID != 12 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCommentsOfFiles checks that comments of a file that cannot be imported are reported, and
// that importing the same file again changes nothing.
func TestCommentsOfFiles(t *testing.T) {
	d := newDesk(t)
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error { return storetest.NewClassroom("ours").Save(tx) })
	importer := d.service.ImportComments(lyceum.By{School: d.school, Actor: "import"})
	top := lyceum.Comment{ID: 901, Lecture: 11, User: 2, Body: "Top", Attachments: []lyceum.CommentAttachment{{URL: "https://files.example.com/x", Kind: "image"}}}
	reply := lyceum.Comment{ID: 902, Lecture: 11, User: 3, Body: "Reply", Above: "901", Status: lyceum.CommentDenied}
	rows := []lyceum.Comment{
		top, reply,
		{ID: 903, Lecture: 12, User: 2, Body: "x", Above: "901"},
		{ID: 904, Lecture: 11, User: 999, Body: "x"},
		{ID: 905, Lecture: 999, User: 2, Body: "x"},
		{ID: 906, Lecture: 11, User: 2, Body: strings.Repeat("x", lyceum.MaxComment+1)},
		{ID: 907, Lecture: 11, User: 2, Body: "x", Above: "908"},
		{ID: 909, Lecture: 11, User: 2, Attachments: []lyceum.CommentAttachment{{URL: "javascript:alert(1)", Kind: "image"}}},
		{ID: 900, Lecture: 11, User: 2, Body: "x", Above: "901"},
	}
	saved, problems, err := importer.Save(t.Context(), rows)
	if err != nil || saved.Created != 2 {
		t.Fatalf("%+v, %v: %v", saved, problems, err)
	}
	slices.SortFunc(problems, func(a, b lyceum.RowProblem) int { return a.Index - b.Index })
	want := []string{
		"parent_id 901 matches no comment under lecture 12", "user_id 999 matches no user", "lecture_id 999 matches no lecture",
		"body must be at most 10000 characters", "parent_id 908 matches no comment under lecture 11", "attachments must have URLs",
		"parent_id must be lower than the id of the reply",
	}
	for i, p := range problems {
		if got := p.Field + " " + p.Message; i >= len(want) || p.Index != i+2 || !strings.HasPrefix(got, want[i]) {
			t.Errorf("row %d: %s", p.Index, got)
		}
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d", len(problems), len(want))
	}
	if saved, problems, err = importer.Save(t.Context(), rows[:2]); err != nil || len(problems) > 0 || saved.Unchanged != 2 {
		t.Errorf("again: %+v, %v: %v", saved, problems, err)
	}
	elsewhere := []lyceum.Comment{{ID: 902, Lecture: 11, User: 3, Body: "Reply", Above: "903"}, {ID: 901, Lecture: 12, User: 2, Body: "Top"}}
	if saved, problems, err = importer.Save(t.Context(), elsewhere); err != nil || len(problems) != 2 || saved.Updated != 0 {
		t.Errorf("elsewhere: %+v, %v: %v", saved, problems, err)
	}
	v := d.store.In(t.Context(), d.school)
	kept, err := v.Comments.Get(v, 902)
	if err != nil || kept.Course != 1 || kept.Above != "901" || kept.Status != lyceum.CommentDenied || kept.CreatedAt.IsZero() {
		t.Errorf("%+v: %v", kept, err)
	}
}
