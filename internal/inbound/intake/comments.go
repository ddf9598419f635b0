package intake

import (
	"encoding/json"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Comments returns the kind of users' comments on lectures. A file must have id, lecture_id,
// user_id and body, which is empty for a comment that was removed with its text.
func Comments() Kind[lyceum.Comment] {
	type row = lyceum.Comment
	return Kind[row]{
		name: "comments", list: "comments",
		id: func(c *row) int32 { return int32(c.ID) },
		columns: []column[row]{
			idColumn("id", func(c *row) *lyceum.CommentID { return &c.ID }),
			idColumn("lecture_id", func(c *row) *lyceum.LectureID { return &c.Lecture }),
			idColumn("user_id", func(c *row) *lyceum.UserID { return &c.User }),
			parentColumn(),
			within(
				wordColumn("status", lyceum.CommentStatuses(), func(c *row) *lyceum.CommentStatus { return &c.Status }).optional(),
				func(c *row) bool { return c.Status != "" },
			),
			textColumn("body", func(c *row) *string { return &c.Body }).long(),
			filesColumn(),
			timeColumn("created_at", func(c *row) *time.Time { return &c.CreatedAt }).optional(),
			timeColumn("updated_at", func(c *row) *time.Time { return &c.UpdatedAt }).optional(),
		},
	}
}

// parentColumn returns the column of the comment that a reply refers to. The rules complete
// the hierarchy above it.
func parentColumn() column[lyceum.Comment] {
	return column[lyceum.Comment]{
		name: "parent_id", nullable: true,
		read: func(_ *memo, cell cell, c *lyceum.Comment) string {
			n, ok := cell.positive()
			if !ok {
				return idTaken
			}
			c.Above = lyceum.CommentPath("").Then(lyceum.CommentID(n))
			return ""
		},
		write: func(e *encoder, c *lyceum.Comment) {
			if parent := c.Parent(); parent.Present {
				e.integer(int64(parent.Value))
			} else {
				e.null()
			}
		},
	}
}

// filesColumn returns the column of a comment's files, which is JSON. Null means unchanged: an
// existing comment keeps its files.
func filesColumn() column[lyceum.Comment] {
	return column[lyceum.Comment]{
		name: "attachments", nullable: true, json: true, limit: maxLong,
		read: func(_ *memo, cell cell, c *lyceum.Comment) string {
			files := []lyceum.CommentAttachment{}
			if err := json.Unmarshal(cell.text, &files); err != nil {
				return `must be a JSON list such as [{"url":"https://files.example.com/pot.jpg","kind":"image"}]`
			}
			c.Attachments = files
			return ""
		},
		write: func(e *encoder, c *lyceum.Comment) {
			files := c.Attachments
			if files == nil {
				files = []lyceum.CommentAttachment{}
			}
			e.json(files)
		},
	}
}
