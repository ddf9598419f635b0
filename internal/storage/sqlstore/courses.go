package sqlstore

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var courses = define(&tables.Courses, noun[lyceum.CourseID, lyceum.Course, lyceum.CourseFilter]{
	table:   table[lyceum.Course]{name: "courses", lasting: true},
	entries: "course",
	kept:    true,
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
		optTimeColumn("archived_at", func(c *lyceum.Course) *lyceum.Opt[time.Time] { return &c.ArchivedAt }),
		optBoolColumn("videos_required", func(c *lyceum.Course) *lyceum.Opt[bool] { return &c.Compliance.Videos }),
		optBoolColumn("quizzes_required", func(c *lyceum.Course) *lyceum.Opt[bool] { return &c.Compliance.Quizzes }),
		optFloatColumn("quiz_score", func(c *lyceum.Course) *lyceum.Opt[float64] { return &c.Compliance.Score }),
		optIntColumn("quiz_retakes", func(c *lyceum.Course) *lyceum.Opt[int32] { return &c.Compliance.Retakes }),
		optBoolColumn("issues_certificates", func(c *lyceum.Course) *lyceum.Opt[bool] { return &c.Compliance.Issues }),
		optTextColumn("friendly_url", func(c *lyceum.Course) *lyceum.Opt[string] { return &c.FriendlyURL }),
	},
	largest: 256 << 10,
	narrow: func(w *where, f lyceum.CourseFilter) {
		w.part(f.Name, "name")
		w.part(f.Search, "name", "heading", "description")
		w.truth("is_published", f.IsPublished)
		w.truth("is_listed", f.IsListed)
		w.archived(f.IsArchived)
		is(w, "author_id", f.AuthorID)
		is(w, "certificate", f.Certificate)
		w.within("created_at", f.Created)
		if f.FriendlyURL.Present {
			w.and("LOWER(friendly_url) = ? AND friendly_url IS NOT NULL", strings.ToLower(f.FriendlyURL.Value))
		}
		if f.EnrolledUser.Present {
			w.and(`course_id IN (SELECT a.product_id FROM reaching a WHERE a.school_id = $1 AND a.user_id = ?
				AND a.product_type = 'course' AND a.ended_at IS NULL AND (a.ends_at IS NULL OR a.ends_at > ?)
				AND `+unblocked("a")+")",
				int64(f.EnrolledUser.Value), micros(f.EnrolledAt))
		}
	},
	order: func(f lyceum.CourseFilter) string { return ordered(f.Order, "course_id") },
})

// ordered returns the order of a list of products. Ties are broken by key, in the direction of
// the list.
func ordered(o lyceum.CourseOrder, key string) string {
	direction := ""
	if o.Descending {
		direction = " DESC"
	}
	by := map[lyceum.CourseKey]string{
		lyceum.CourseByName: "LOWER(name)", lyceum.CourseByCreated: "created_at", lyceum.CourseByUpdated: "updated_at",
	}[o.By]
	if by != "" {
		by += direction + ", "
	}
	return by + key + direction
}

// partOf returns the LIKE pattern for values that contain text, regardless of case.
func partOf(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}
