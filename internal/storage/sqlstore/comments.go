package sqlstore

import (
	"database/sql"
	"time"

	"github.com/lyceum-school/lyceum"
)

var comments = define(&tables.Comments, noun[lyceum.CommentID, lyceum.Comment, lyceum.CommentFilter]{
	table:   table[lyceum.Comment]{name: "comments", fixed: []string{"lecture_id", "thread_id"}},
	entries: "comment",
	key:     idKey("comment_id", func(c *lyceum.Comment) *lyceum.CommentID { return &c.ID }),
	rest: []column[lyceum.Comment]{
		intColumn("lecture_id", func(c *lyceum.Comment) *lyceum.LectureID { return &c.Lecture }),
		intColumn("course_id", func(c *lyceum.Comment) *lyceum.CourseID { return &c.Course }),
		intColumn("user_id", func(c *lyceum.Comment) *lyceum.UserID { return &c.User }),
		textColumn("status", func(c *lyceum.Comment) *lyceum.CommentStatus { return &c.Status }),
		textColumn("above", func(c *lyceum.Comment) *lyceum.CommentPath { return &c.Above }),
		{
			name: "thread_id", // finds the replies to a comment
			bind: func(c *lyceum.Comment) any { return int64(c.Thread()) },
			scan: func(*lyceum.Comment) sql.Scanner { return discard },
		},
		textColumn("body", func(c *lyceum.Comment) *string { return &c.Body }),
		commentAttachments(),
		timeColumn("created_at", func(c *lyceum.Comment) *time.Time { return &c.CreatedAt }),
		timeColumn("updated_at", func(c *lyceum.Comment) *time.Time { return &c.UpdatedAt }),
	},
	hint: hintComments,
	narrow: func(w *where, f lyceum.CommentFilter) {
		is(w, "lecture_id", f.Lecture)
		is(w, "course_id", f.Course)
		if f.Course.Present {
			seen := ""
			if f.SeenBy.Present {
				seen = ` AND l.is_published = 1 AND EXISTS (SELECT 1 FROM lecture_sections s WHERE s.school_id = l.school_id
					AND s.lecture_section_id = l.lecture_section_id AND s.is_published = 1)`
			}
			w.and(`lecture_id IN (SELECT l.lecture_id FROM lectures l WHERE l.school_id = $1 AND l.course_id = ?
				AND l.archived_at IS NULL AND COALESCE(l.student_comments, 1) = 1`+seen+")", int64(f.Course.Value))
		}
		is(w, "user_id", f.User)
		if f.Status.Present {
			w.equal("status", string(f.Status.Value))
		}
		if f.SeenBy.Present {
			w.and("(status = 'approved' OR status = 'awaiting_review' AND user_id = ?)", int64(f.SeenBy.Value))
		}
		w.within("created_at", f.Created)
		is(w, "thread_id", f.Thread)
		if f.Below.Present {
			w.and("(comment_id = ? OR '/' || above || '/' LIKE ?)",
				int64(f.Below.Value), "%/"+string(lyceum.CommentPath("").Then(f.Below.Value))+"/%")
		}
	},
	order:   func(f lyceum.CommentFilter) string { return ordered(f.Order, "comment_id") },
	after:   func(f lyceum.CommentFilter) lyceum.Opt[lyceum.CommentID] { return f.After },
	byBytes: func(f lyceum.CommentFilter) bool { return !f.Whole },
})

// hintComments selects the index that has the comments of a lecture or a course in the
// requested order.
func hintComments(d *dialect, f lyceum.CommentFilter) string {
	index := "comments_course"
	switch {
	case f.Thread.Present:
		return d.indexed("comments_thread")
	case f.Lecture.Present:
		index = "comments_lecture"
	case !f.Course.Present:
		return ""
	}
	switch {
	case f.Order.By == lyceum.CourseByUpdated:
		return d.indexed(index + "_updated")
	case f.Order.By != lyceum.CourseByCreated:
		return ""
	case f.Status.Present:
		return d.indexed(index + "_status")
	}
	return d.indexed(index + "_created")
}

// FindParent is a single statement, because every reply needs both results.
func (t *tx) FindParent(id lyceum.CommentID) (parent lyceum.Comment, inThread int64, err error) {
	dest := append(comments.scan(&parent), scanInt(&inThread))
	found, err := t.q.one("SELECT "+comments.of("c")+`, (SELECT count(*) FROM comments o
		WHERE o.school_id = c.school_id AND o.thread_id = c.thread_id)
		FROM comments c WHERE c.school_id = $1 AND c.comment_id = $2`, []any{int64(t.stamp.School), int64(id)}, dest...)
	if err == nil && !found {
		err = comments.missing(id)
	}
	return parent, inThread, err
}

func commentAttachments() column[lyceum.Comment] {
	files := func(c *lyceum.Comment) *[]lyceum.CommentAttachment { return &c.Attachments }
	k := jsonColumn("attachments", files)
	k.text = func(c *lyceum.Comment) (all string) {
		for _, a := range c.Attachments {
			all += a.URL + a.Kind + `{"url":"","kind":""},`
		}
		return all
	}
	return k
}
