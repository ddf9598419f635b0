package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// CommentDetail is a comment with its author.
type CommentDetail struct {
	lyceum.Comment

	Author lyceum.User
}

// InComments identifies a comment under a lecture of a course.
type InComments struct {
	Lecture InCourse[lyceum.LectureID]
	ID      lyceum.CommentID
}

// NewComment is a comment that a user writes under a lecture.
type NewComment struct {
	Course      lyceum.Opt[lyceum.CourseID] // the course that the lecture must be in
	Lecture     lyceum.LectureID
	User        lyceum.UserID // 0: the school's owner
	Body        string
	Parent      lyceum.Opt[lyceum.CommentID]
	Attachments []lyceum.CommentAttachment

	learner bool // an app writes for the learner, who can reply only to comments they see
}

// byLearner reports whether the comment is by a learner rather than the school's owner.
func (n *NewComment) byLearner() bool { return n.User != 0 }

// Comment saves a comment of an enrolled user under a lecture.
func (s *Service) Comment(ctx context.Context, by lyceum.By, n NewComment) (CommentDetail, error) {
	return s.write(ctx, by, n, func(tx lyceum.Tx, now time.Time) (lyceum.User, error) {
		if err := admitted(tx, n.Lecture, n.User, now); err != nil {
			return lyceum.User{}, err
		}
		return tx.Users.Get(tx, n.User)
	})
}

// CommentAsOwner saves a comment of the school's owner under a lecture.
func (s *Service) CommentAsOwner(ctx context.Context, by lyceum.By, n NewComment) (CommentDetail, error) {
	return s.write(ctx, by, n, func(tx lyceum.Tx, _ time.Time) (lyceum.User, error) {
		owner, found, err := tx.Users.First(tx, lyceum.UserFilter{Owners: true, Enabled: true})
		if err == nil && !found {
			err = lyceum.Errorf(lyceum.Conflict, "this school has no owner to write as; import or create one first")
		}
		return owner, err
	})
}

// write saves a comment by the author that find returns.
func (s *Service) write(
	ctx context.Context, by lyceum.By, n NewComment, find func(lyceum.Tx, time.Time) (lyceum.User, error),
) (CommentDetail, error) {
	now := s.clock()
	if wrong := oddComment(&n); len(wrong) > 0 {
		return CommentDetail{}, lyceum.InvalidFields(wrong...)
	}
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (c CommentDetail, err error) {
		if n.learner {
			at := InCourse[lyceum.LectureID]{n.Course.Value, n.Lecture}
			if err := tx.Ahead(append(ofLecture(tx, by, at, now), lyceum.ByID(tx.Users, n.User))...); err != nil {
				return c, err
			}
			if _, err := bareLecture(tx.View(), by, n.Course.Value, n.Lecture, now); err != nil {
				return c, err
			}
		}
		lecture, err := commentable(tx, &n)
		if err != nil {
			return c, err
		}
		if c.Author, err = find(tx, now); err != nil {
			return c, err
		}
		c.Comment = lyceum.Comment{
			Lecture: lecture.ID, Course: lecture.Course, User: c.Author.ID, Status: lyceum.CommentApproved, Body: n.Body,
			Attachments: n.Attachments, CreatedAt: lyceum.Second(now), UpdatedAt: lyceum.Second(now),
		}
		if n.byLearner() {
			if c.Status, err = firstStatus(tx); err != nil {
				return c, err
			}
		}
		if c.Above, err = replyTo(tx, &n); err != nil {
			return c, err
		}
		if c.ID, err = tx.Comments.NextID(tx); err != nil {
			return c, err
		}
		err = tx.Comments.Insert(tx, c.Comment)
		tx.Announce(lyceum.CommentCreated, int32(c.ID), lyceum.CommentCreatedEvent, "")
		return c, err
	})
}

// firstStatus returns the initial status of a learner's comment.
func firstStatus(tx lyceum.Tx) (lyceum.CommentStatus, error) {
	school, err := tx.GetSchool()
	if school.ReviewsComments {
		return lyceum.CommentAwaiting, err
	}
	return lyceum.CommentApproved, err
}

// ReviewComments sets whether learners' comments wait until the school approves them, or are
// visible immediately.
func (s *Service) ReviewComments(ctx context.Context, by lyceum.By, on bool) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(school *lyceum.School) { school.ReviewsComments = on })
	})
}

// oddComment returns what is wrong with a comment by itself.
func oddComment(n *NewComment) (wrong []lyceum.FieldError) {
	if message := lyceum.CheckText(strings.TrimSpace(n.Body), 1, lyceum.MaxComment); message != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "body", Message: message})
	}
	for i, a := range n.Attachments {
		if !lyceum.IsWord(a.Kind) {
			wrong = append(wrong, lyceum.FieldError{Field: fmt.Sprintf("attachments[%d].kind", i), Message: wordTaken})
		}
	}
	return wrong
}

// commentable returns the lecture that a comment is for, and rejects one whose comments are
// disabled.
func commentable(tx lyceum.Tx, n *NewComment) (lyceum.Lecture, error) {
	find := func() (lyceum.Lecture, error) { return liveLecture(tx.Tables, tx, n.Lecture) }
	if n.Course.Present {
		find = func() (lyceum.Lecture, error) {
			return lectureIn(tx.Tables, tx, InCourse[lyceum.LectureID]{n.Course.Value, n.Lecture})
		}
	}
	lecture, err := find()
	if err == nil {
		err = takesComments(&lecture)
	}
	return lecture, err
}

// takesComments rejects a lecture whose comments are disabled.
func takesComments(l *lyceum.Lecture) error {
	if l.Comments.Else(true) {
		return nil
	}
	return lyceum.Errorf(lyceum.Invalid, "comments are disabled for lecture %d (student_comments_enabled)", l.ID)
}

// replyTo returns the path of comments above a new one.
func replyTo(tx lyceum.Tx, n *NewComment) (lyceum.CommentPath, error) {
	if !n.Parent.Present {
		return "", nil
	}
	refuse := func(format string, args ...any) (lyceum.CommentPath, error) {
		return "", lyceum.InvalidFields(lyceum.FieldError{Field: "parent_id", Message: fmt.Sprintf(format, args...)})
	}
	parent, inThread, err := tx.FindParent(n.Parent.Value)
	switch {
	case lyceum.KindOf(err) == lyceum.NotFound || err == nil && parent.Lecture != n.Lecture,
		err == nil && n.learner && !seenBy(&parent, n.User):
		return refuse("%d matches no comment under lecture %d", n.Parent.Value, n.Lecture)
	case err != nil:
		return "", err
	case parent.Status != lyceum.CommentApproved && parent.Status != lyceum.CommentAwaiting:
		return refuse("%d is a comment that was %s; only an approved or awaiting one takes replies", parent.ID, parent.Status)
	case len(parent.Above.IDs()) >= lyceum.MaxCommentDepth:
		return refuse("%d is %d replies deep already; reply to a comment above it", parent.ID, lyceum.MaxCommentDepth)
	case inThread >= lyceum.MaxThread:
		return refuse("%d is in a thread that has %d comments already; begin another one", parent.ID, lyceum.MaxThread)
	}
	return parent.Above.Then(parent.ID), nil
}

// Comments lists the comments under a lecture by id. A page ends early at lyceum.ResponseBytes.
func (s *Service) Comments(
	ctx context.Context, by lyceum.By, f lyceum.CommentFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.Comment], error) {
	v := s.store.In(ctx, by.School)
	if _, err := liveLecture(v.Tables, v, f.Lecture.Value); err != nil {
		return lyceum.Listing[lyceum.Comment]{}, err
	}
	return v.Comments.List(v, f, p)
}

// CourseComments lists the comments of a course or of one of its lectures, as a school's
// programs see them. A lecture whose comments are disabled has an empty list. It fails with
// NotFound.
func (s *Service) CourseComments(
	ctx context.Context, by lyceum.By, f lyceum.CommentFilter, p lyceum.Page,
) (l lyceum.Listing[CommentDetail], err error) {
	f.Whole = true
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if !f.Lecture.Present {
			if _, err = v.Courses.Get(v, f.Course.Value); err == nil {
				l, err = authored(v, f, p)
			}
			return err
		}
		lecture, err := lectureIn(v.Tables, v, InCourse[lyceum.LectureID]{f.Course.Value, f.Lecture.Value})
		if err == nil && lecture.Comments.Else(true) {
			under := f
			under.Course = lyceum.None[lyceum.CourseID]()
			l, err = authored(v, under, p)
		}
		return err
	})
	l.Page = p
	return l, err
}

// authored lists comments with their authors.
func authored(v lyceum.View, f lyceum.CommentFilter, p lyceum.Page) (lyceum.Listing[CommentDetail], error) {
	found, err := v.Comments.List(v, f, p)
	l := lyceum.Listing[CommentDetail]{Page: found.Page, Total: found.Total, More: found.More}
	if err != nil {
		return l, err
	}
	ids := make([]lyceum.UserID, len(found.Rows))
	for i := range found.Rows {
		ids[i] = found.Rows[i].User
	}
	authors, err := v.Users.Find(v, ids...)
	for i := range found.Rows {
		l.Rows = append(l.Rows, CommentDetail{found.Rows[i], authors[found.Rows[i].User]})
	}
	return l, err
}

// Moderation is a change of a comment's status.
type Moderation struct {
	Comment InComments
	Status  lyceum.CommentStatus
}

// becomes maps each status to the statuses from which a comment may change to it.
var becomes = map[lyceum.CommentStatus][]lyceum.CommentStatus{
	lyceum.CommentApproved: {lyceum.CommentAwaiting, lyceum.CommentApproved},
	lyceum.CommentRemoved:  {lyceum.CommentAwaiting, lyceum.CommentApproved, lyceum.CommentRemoved},
	lyceum.CommentDenied:   lyceum.CommentStatuses(),
}

// ModerateComment changes the status of a comment. It fails with NotFound, and with Invalid if
// the comment's current status does not allow it.
func (s *Service) ModerateComment(ctx context.Context, by lyceum.By, m Moderation) (CommentDetail, error) {
	return s.moderate(ctx, by, m.Status, func(tx lyceum.Tx) (lyceum.Comment, error) {
		return commentIn(tx.Tables, tx, m.Comment)
	})
}

func (s *Service) moderate(
	ctx context.Context, by lyceum.By, status lyceum.CommentStatus, find func(lyceum.Tx) (lyceum.Comment, error),
) (CommentDetail, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (c CommentDetail, err error) {
		if c.Comment, err = find(tx); err != nil {
			return c, err
		}
		authors, err := tx.Users.Find(tx, c.User)
		c.Author = authors[c.User] // a zero user if the author was erased
		if err != nil || c.Status == status {
			return c, err
		}
		if !slices.Contains(becomes[status], c.Status) {
			return c, lyceum.InvalidFields(lyceum.FieldError{
				Field: "status", Message: fmt.Sprintf("cannot be %s: comment %d was %s", status, c.ID, c.Status),
			})
		}
		c.Status, c.UpdatedAt = status, now
		return c, tx.Comments.Update(tx, c.Comment)
	})
}

// commentIn returns a comment under a lecture of a course.
func commentIn(t *lyceum.Tables, from lyceum.Source, q InComments) (lyceum.Comment, error) {
	if _, err := lectureIn(t, from, q.Lecture); err != nil {
		return lyceum.Comment{}, err
	}
	found, err := t.Comments.Get(from, q.ID)
	if err == nil && found.Lecture != q.Lecture.ID || lyceum.KindOf(err) == lyceum.NotFound {
		err = noComment(q)
	}
	return found, err
}

func noComment(q InComments) error {
	return lyceum.Errorf(lyceum.NotFound, "there is no comment %d under lecture %d", q.ID, q.Lecture.ID)
}

// DeleteCommentIn permanently deletes a comment of a lecture and all replies below it. It fails
// with NotFound.
func (s *Service) DeleteCommentIn(ctx context.Context, by lyceum.By, q InComments) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		c, err := commentIn(tx.Tables, tx, q)
		if err != nil {
			return err
		}
		return deleteThread(tx, &c)
	})
}

// DeleteComment permanently deletes a comment and all replies below it.
func (s *Service) DeleteComment(ctx context.Context, by lyceum.By, id lyceum.CommentID) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		c, err := tx.Comments.Get(tx, id)
		if err != nil {
			return err
		}
		return deleteThread(tx, &c)
	})
}

func deleteThread(tx lyceum.Tx, c *lyceum.Comment) error {
	_, err := tx.Comments.Clear(tx, lyceum.CommentFilter{
		Thread: lyceum.Some(c.Thread()), Below: lyceum.Some(c.ID),
	})
	return err
}
