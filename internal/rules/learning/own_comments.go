package learning

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// seenBy reports whether a learner can see a comment.
func seenBy(c *lyceum.Comment, user lyceum.UserID) bool {
	return c.Status == lyceum.CommentApproved || c.Status == lyceum.CommentAwaiting && c.User == user
}

// SeenComments lists the comments of a course or of one of its lectures that a learner can see.
// A lecture whose comments are disabled has an empty list. It fails with NotFound.
func (s *Service) SeenComments(
	ctx context.Context, by lyceum.By, f lyceum.CommentFilter, p lyceum.Page,
) (l lyceum.Listing[CommentDetail], err error) {
	f.Whole, f.SeenBy = true, by.Learner
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if !f.Lecture.Present {
			if _, err := see(v, by, f.Course.Value, s.clock()); err != nil {
				return err
			}
			l, err = authored(v, f, p)
			return err
		}
		lecture, err := bareLecture(v, by, f.Course.Value, f.Lecture.Value, s.clock())
		if err != nil || !lecture.Comments.Else(true) {
			return err
		}
		under := f
		under.Course = lyceum.None[lyceum.CourseID]()
		l, err = authored(v, under, p)
		return err
	})
	l.Page = p
	return l, err
}

// CommentAsLearner saves a learner's comment under a lecture that they can see. It fails with
// NotFound, and with Invalid if comments are disabled.
func (s *Service) CommentAsLearner(ctx context.Context, by lyceum.By, n NewComment) (CommentDetail, error) {
	n.User, n.learner = by.Learner.Value, true
	return s.write(ctx, by, n, func(tx lyceum.Tx, now time.Time) (lyceum.User, error) {
		if _, err := enrolled(tx, n.User, n.Course.Value, now); err != nil {
			return lyceum.User{}, err
		}
		return tx.Users.Get(tx, n.User)
	})
}

// CommentText is a new body for a learner's own comment.
type CommentText struct {
	Comment InComments
	Body    lyceum.Opt[string]
}

// EditComment changes the text of a learner's own comment. If the school reviews comments, it is
// reviewed again. It fails with NotFound, with Forbidden for another user's comment, and with
// Invalid if comments are disabled.
func (s *Service) EditComment(ctx context.Context, by lyceum.By, q CommentText) (c CommentDetail, err error) {
	if q.Body.Present {
		if wrong := oddComment(&NewComment{Body: q.Body.Value}); len(wrong) > 0 {
			return c, lyceum.InvalidFields(wrong...)
		}
	}
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (CommentDetail, error) {
		c, err := ownComment(tx, by, q.Comment, now)
		if err != nil || !q.Body.Present || q.Body.Value == c.Body {
			return c, err
		}
		lecture, err := tx.Lectures.Get(tx, c.Lecture)
		if err := cmp.Or(err, takesComments(&lecture)); err != nil {
			return c, err
		}
		if c.Status, err = firstStatus(tx); err != nil {
			return c, err
		}
		c.Body, c.UpdatedAt = q.Body.Value, lyceum.Second(now)
		return c, tx.Comments.Update(tx, c.Comment)
	})
}

// WithdrawComment permanently deletes a learner's own comment. If others replied to it, their
// replies stay, and the comment remains as a removed one without text. It fails with NotFound,
// and with Forbidden for another user's comment.
func (s *Service) WithdrawComment(ctx context.Context, by lyceum.By, q InComments) error {
	now := s.clock()
	return s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		c, err := ownComment(tx, by, q, now)
		if err != nil {
			return err
		}
		below, err := lyceum.All(tx.Comments, tx, lyceum.CommentFilter{
			Thread: lyceum.Some(c.Thread()), Below: lyceum.Some(c.ID),
		})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(below, func(reply lyceum.Comment) bool { return reply.User != c.User }) {
			return deleteThread(tx, &c.Comment)
		}
		c.Body, c.Attachments, c.Status, c.UpdatedAt = "", nil, lyceum.CommentRemoved, lyceum.Second(now)
		return tx.Comments.Update(tx, c.Comment)
	})
}

// ownComment returns a learner's own comment, if they can see it and its lecture.
func ownComment(tx lyceum.Tx, by lyceum.By, q InComments, now time.Time) (c CommentDetail, err error) {
	wanted := append(ofLecture(tx, by, q.Lecture, now),
		lyceum.ByID(tx.Comments, q.ID), lyceum.ByID(tx.Users, by.Learner.Value))
	if err := tx.Ahead(wanted...); err != nil {
		return c, err
	}
	if _, err := bareLecture(tx.View(), by, q.Lecture.Course, q.Lecture.ID, now); err != nil {
		return c, err
	}
	if c.Comment, err = commentIn(tx.Tables, tx, q); err != nil {
		return c, err
	}
	switch {
	case !seenBy(&c.Comment, by.Learner.Value):
		return c, noComment(q)
	case c.User != by.Learner.Value:
		return c, lyceum.Errorf(lyceum.Forbidden, "comment %d belongs to somebody else", c.ID)
	}
	c.Author, err = tx.Users.Get(tx, c.User)
	return c, err
}
