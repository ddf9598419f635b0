package learning

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ImportComments begins an import of comments. A reply must come after the comment that it
// replies to and have a higher id, so that an export, which is by id, can be imported. Its place in
// the thread cannot change afterwards.
func (s *Service) ImportComments(by lyceum.By) *Rows[lyceum.Comment] {
	type row = lyceum.Comment
	before := saidComments{}
	return &Rows[row]{s, by, shape[row]{
		what: "comments",
		names: []reference[row]{
			{"lecture_id", "lecture", lyceum.LectureSequence, func(c *row) int32 { return int32(c.Lecture) }},
			{"user_id", "user", lyceum.UserSequence, func(c *row) int32 { return int32(c.User) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			problems, err := aboutErased(tx, rows, "empty", saidBy)
			if err != nil {
				return nil, err
			}
			return others(rows, problems, func(good []row) ([]lyceum.RowProblem, error) {
				return placeComments(tx, good, before)
			})
		},
		earlier: before,
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			err := keepUnsaid(tx, tx.Comments, rows, func(c *row) lyceum.CommentID { return c.ID }, func(c, old *row) {
				keepTimes(&c.CreatedAt, &c.UpdatedAt, old.CreatedAt, old.UpdatedAt, now)
				if c.Status == "" {
					if c.Status = old.Status; old.ID == 0 {
						c.Status = lyceum.CommentApproved
					}
				}
				if c.Attachments == nil {
					c.Attachments = old.Attachments
				}
			})
			if err != nil {
				return lyceum.Saved{}, err
			}
			return tx.Comments.Save(tx, rows...)
		},
	}}
}

// saidComments has the places of comments from the file that are not in the database yet.
type saidComments map[lyceum.CommentID]commentPlace

type commentPlace struct {
	lecture lyceum.LectureID
	above   lyceum.CommentPath
}

func (s saidComments) add(rows []lyceum.Comment) {
	for i := range rows {
		s[rows[i].ID] = commentPlace{rows[i].Lecture, rows[i].Above}
	}
}

func (s saidComments) forget() { clear(s) }

// placeComments fills in the course and the parents of comments, and returns the problems of
// each comment by itself.
func placeComments(
	tx lyceum.Tx, rows []lyceum.Comment, before saidComments,
) (problems []lyceum.RowProblem, err error) {
	var ids []lyceum.CommentID
	lectures := make([]lyceum.LectureID, len(rows))
	for i := range rows {
		lectures[i] = rows[i].Lecture
		ids = append(ids, rows[i].ID)
		if parent := rows[i].Parent(); parent.Present {
			ids = append(ids, parent.Value)
		}
	}
	slices.Sort(ids)
	kept, err := tx.Comments.Find(tx, slices.Compact(ids)...)
	if err != nil {
		return nil, err
	}
	courses, err := tx.Lectures.Find(tx, lectures...)
	if err != nil {
		return nil, err
	}
	known := map[lyceum.CommentID]lyceum.Comment{}
	for _, id := range ids {
		if at, there := before[id]; there {
			known[id] = lyceum.Comment{ID: id, Lecture: at.lecture, Above: at.above}
		}
	}
	maps.Copy(known, kept)
	for i := range rows {
		c := &rows[i]
		c.Course = courses[c.Lecture].Course
		field, wrong := placeComment(c, known)
		if wrong == "" {
			field, wrong = oddRow(c)
		}
		if wrong != "" {
			problems = append(problems, problem(i, field, "%s", wrong))
			continue
		}
		known[c.ID] = *c
	}
	return problems, nil
}

// placeComment fills in the path of comments above a comment.
func placeComment(c *lyceum.Comment, known map[lyceum.CommentID]lyceum.Comment) (field, wrong string) {
	parent, old := c.Parent(), known[c.ID]
	if old.ID != 0 && old.Lecture != c.Lecture {
		return "lecture_id", fmt.Sprintf("cannot be changed: comment %d is under lecture %d", c.ID, old.Lecture)
	}
	if old.ID != 0 {
		if is := old.Parent(); parent.Present && parent != is {
			return "parent_id", fmt.Sprintf("cannot be changed: comment %d has another place in its thread", c.ID)
		}
		c.Above = old.Above
		return "", ""
	}
	if !parent.Present {
		return "", ""
	}
	above := known[parent.Value]
	switch {
	case above.ID == 0 || above.Lecture != c.Lecture:
		return "parent_id", fmt.Sprintf("%d matches no comment under lecture %d; a reply comes after the comment that it "+
			"replies to", parent.Value, c.Lecture)
	case above.ID > c.ID:
		return "parent_id", "must be lower than the id of the reply"
	case len(above.Above.IDs()) >= lyceum.MaxCommentDepth:
		return "parent_id", fmt.Sprintf("%d is %d replies deep already", parent.Value, lyceum.MaxCommentDepth)
	}
	c.Above = above.Above.Then(above.ID)
	return "", ""
}

// oddRow returns what is wrong with a comment of a file by itself.
func oddRow(c *lyceum.Comment) (field, wrong string) {
	if message := lyceum.CheckText(c.Body, 0, lyceum.MaxComment); message != "" {
		return "body", message
	}
	if len(c.Attachments) > lyceum.MaxCommentAttachments {
		return "attachments", fmt.Sprintf("must be a list of at most %d files", lyceum.MaxCommentAttachments)
	}
	for _, a := range c.Attachments {
		at, err := url.Parse(a.URL)
		if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || len(a.URL) > maxFileURL {
			return "attachments", "must have URLs such as https://files.example.com/pot.jpg"
		}
		if !lyceum.IsWord(a.Kind) {
			return "attachments", "must have kinds that are words of 1 to 64 letters, digits, _ or -"
		}
	}
	return "", ""
}

// maxFileURL is the maximum length of the URL of a comment's file, in bytes.
const maxFileURL = 2048
