package sqlstore

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var courses = define(noun[lyceum.CourseID, lyceum.Course, lyceum.CourseFilter]{
	table:   table[lyceum.Course]{name: "courses"},
	entries: "course",
	key:     idKey("course_id", func(c *lyceum.Course) *lyceum.CourseID { return &c.ID }),
	rest: []column[lyceum.Course]{
		textColumn("name", func(c *lyceum.Course) *string { return &c.Name }),
		optTextColumn("heading", func(c *lyceum.Course) *lyceum.Opt[string] { return &c.Heading }),
		optTextColumn("description", func(c *lyceum.Course) *lyceum.Opt[string] { return &c.Description }),
		boolColumn("is_published", func(c *lyceum.Course) *bool { return &c.IsPublished }),
		optTextColumn("image_url", func(c *lyceum.Course) *lyceum.Opt[string] { return &c.ImageURL }),
		timeColumn("created_at", func(c *lyceum.Course) *time.Time { return &c.CreatedAt }),
		timeColumn("updated_at", func(c *lyceum.Course) *time.Time { return &c.UpdatedAt }),
		optIntColumn("author_id", func(c *lyceum.Course) *lyceum.Opt[lyceum.AuthorID] { return &c.AuthorID }),
		boolColumn("is_listed", func(c *lyceum.Course) *bool { return &c.IsListed }),
		boolColumn("lecture_order", func(c *lyceum.Course) *bool { return &c.LectureOrder }),
		optIntColumn("certificate", func(c *lyceum.Course) *lyceum.Opt[int32] { return &c.Certificate }),
	},
	largest: 256 << 10,
	narrow: func(w *where, f lyceum.CourseFilter) {
		if f.Name.Present {
			w.and("LOWER(name) LIKE ? ESCAPE '!'", partOf(f.Name.Value))
		}
		if f.Search.Present {
			part := partOf(f.Search.Value)
			w.and("(LOWER(name) LIKE ? ESCAPE '!' OR LOWER(description) LIKE ? ESCAPE '!')", part, part)
		}
		if f.IsPublished.Present {
			w.and("is_published = ?", flag(f.IsPublished.Value))
		}
		if f.IsListed.Present {
			w.and("is_listed = ?", flag(f.IsListed.Value))
		}
		if f.AuthorID.Present {
			w.and("author_id = ?", int64(f.AuthorID.Value))
		}
		w.within("created_at", f.Created)
		if f.EnrolledUser.Present {
			w.and(`EXISTS (SELECT 1 FROM enrollments e
				WHERE e.school_id = $1 AND e.user_id = ? AND e.course_id = courses.course_id
				AND e.ended_at IS NULL AND (e.expires_at IS NULL OR e.expires_at > ?))`,
				int64(f.EnrolledUser.Value), micros(f.EnrolledAt))
		}
	},
	order: func(f lyceum.CourseFilter) string {
		direction := ""
		if f.Order.Descending {
			direction = " DESC"
		}
		return courseKeys[f.Order.By] + direction + ", course_id" + direction
	},
})

var courseKeys = map[lyceum.CourseKey]string{
	lyceum.CourseByID: "course_id", lyceum.CourseByName: "LOWER(name)",
	lyceum.CourseByCreated: "created_at", lyceum.CourseByUpdated: "updated_at",
}

// partOf is the pattern of what has a text in it, whatever its case.
func partOf(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}
