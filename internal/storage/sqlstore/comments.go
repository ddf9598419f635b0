package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Comments, noun[lyceum.CommentID, lyceum.Comment, lyceum.CommentFilter]{
	table:   table[lyceum.Comment]{name: "comments"},
	entries: "comment",
	key:     idKey("comment_id", func(c *lyceum.Comment) *lyceum.CommentID { return &c.ID }),
	rest: []column[lyceum.Comment]{
		intColumn("lecture_id", func(c *lyceum.Comment) *lyceum.LectureID { return &c.Lecture }),
		intColumn("user_id", func(c *lyceum.Comment) *lyceum.UserID { return &c.User }),
		textColumn("body", func(c *lyceum.Comment) *string { return &c.Body }),
		timeColumn("created_at", func(c *lyceum.Comment) *time.Time { return &c.CreatedAt }),
	},
	narrow:  func(w *where, f lyceum.CommentFilter) { w.and("lecture_id = ?", int64(f.Lecture)) },
	after:   func(f lyceum.CommentFilter) lyceum.Opt[lyceum.CommentID] { return f.After },
	byBytes: true,
})
