package learning

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// PlacedComment is a comment with its author, lecture and course.
type PlacedComment struct {
	CommentDetail

	LectureName string // empty if it has no name
	CourseName  string
}

// Becomes reports whether a comment may change to another status.
func (c *PlacedComment) Becomes(status lyceum.CommentStatus) bool {
	return c.Status != status && slices.Contains(becomes[status], c.Status)
}

// SchoolComments lists the comments of a school with a status: the awaiting ones oldest first,
// others newest first.
func (s *Service) SchoolComments(
	ctx context.Context, by lyceum.By, status lyceum.CommentStatus, p lyceum.Page,
) (lyceum.Listing[PlacedComment], error) {
	return s.placedComments(ctx, by, lyceum.CommentFilter{
		Status: lyceum.Some(status), Whole: true, Order: lyceum.CourseOrder{Descending: status != lyceum.CommentAwaiting},
	}, p)
}

// CommentsOf lists the comments of a user under lectures, newest first.
func (s *Service) CommentsOf(
	ctx context.Context, by lyceum.By, user lyceum.UserID, p lyceum.Page,
) (lyceum.Listing[PlacedComment], error) {
	return s.placedComments(ctx, by, lyceum.CommentFilter{
		User: lyceum.Some(user), Whole: true, Order: lyceum.CourseOrder{Descending: true},
	}, p)
}

func (s *Service) placedComments(
	ctx context.Context, by lyceum.By, f lyceum.CommentFilter, p lyceum.Page,
) (l lyceum.Listing[PlacedComment], err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		found, err := authored(v, f, p)
		l = lyceum.Listing[PlacedComment]{Page: found.Page, Total: found.Total, More: found.More}
		if err != nil {
			return err
		}
		l.Rows, err = withPlace(v, found.Rows)
		return err
	})
	return l, err
}

// SchoolComment returns a comment by its id. It fails with NotFound.
func (s *Service) SchoolComment(ctx context.Context, by lyceum.By, id lyceum.CommentID) (c PlacedComment, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if c.Comment, err = v.Comments.Get(v, id); err != nil {
			return err
		}
		authors, err := v.Users.Find(v, c.User)
		if err != nil {
			return err
		}
		c.Author = authors[c.User]
		rows, err := withPlace(v, []CommentDetail{c.CommentDetail})
		if err == nil {
			c = rows[0]
		}
		return err
	})
	return c, err
}

// withPlace adds to comments their lecture and course.
func withPlace(v lyceum.View, comments []CommentDetail) (rows []PlacedComment, err error) {
	lectureIDs, courseIDs := make([]lyceum.LectureID, len(comments)), make([]lyceum.CourseID, len(comments))
	for i := range comments {
		lectureIDs[i], courseIDs[i] = comments[i].Lecture, comments[i].Course
	}
	lectures, err := v.Lectures.Find(v, lectureIDs...)
	if err != nil {
		return nil, err
	}
	courses, err := v.Courses.Find(v, courseIDs...)
	for i := range comments {
		c := &comments[i]
		rows = append(rows, PlacedComment{*c, lectures[c.Lecture].Name.Value, courses[c.Course].Name})
	}
	return rows, err
}

// ModerateByID changes the status of a comment, even of one under a deleted lecture. It fails
// like ModerateComment, and with Conflict if the comment's digest has changed since it was read.
func (s *Service) ModerateByID(
	ctx context.Context, by lyceum.By, id lyceum.CommentID, status lyceum.CommentStatus, read string,
) (CommentDetail, error) {
	return s.moderate(ctx, by, status, func(tx lyceum.Tx) (lyceum.Comment, error) {
		c, err := tx.Comments.Get(tx, id)
		if err == nil && c.Digest() != read {
			err = lyceum.Errorf(lyceum.Conflict, "comment %d was changed after it was read; read it again", id)
		}
		return c, err
	})
}
