package sqlstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Lectures, noun[lyceum.LectureID, lyceum.Lecture, lyceum.LectureFilter]{
	table:     table[lyceum.Lecture]{name: "lectures"},
	entries:   "lecture",
	kept:      true,
	keptLists: func(f lyceum.LectureFilter) bool { return f.Course.Present },
	key:       idKey("lecture_id", func(l *lyceum.Lecture) *lyceum.LectureID { return &l.ID }),
	rest: []column[lyceum.Lecture]{
		intColumn("course_id", func(l *lyceum.Lecture) *lyceum.CourseID { return &l.Course }),
		intColumn("lecture_section_id", func(l *lyceum.Lecture) *lyceum.LectureSectionID { return &l.Section }),
		optTextColumn("name", func(l *lyceum.Lecture) *lyceum.Opt[string] { return &l.Name }),
		boolColumn("is_published", func(l *lyceum.Lecture) *bool { return &l.IsPublished }),
		intColumn("position", func(l *lyceum.Lecture) *int32 { return &l.Position }),
		optBoolColumn("free_preview", func(l *lyceum.Lecture) *lyceum.Opt[bool] { return &l.FreePreview }),
		optBoolColumn("student_comments", func(l *lyceum.Lecture) *lyceum.Opt[bool] { return &l.Comments }),
		timeColumn("created_at", func(l *lyceum.Lecture) *time.Time { return &l.CreatedAt }),
		timeColumn("updated_at", func(l *lyceum.Lecture) *time.Time { return &l.UpdatedAt }),
		optTimeColumn("archived_at", func(l *lyceum.Lecture) *lyceum.Opt[time.Time] { return &l.ArchivedAt }),
	},
	narrow: func(w *where, f lyceum.LectureFilter) {
		is(w, "course_id", f.Course)
		is(w, "lecture_section_id", f.Section)
		w.part(f.Name, "name")
		w.truth("is_published", f.IsPublished)
		w.archived(f.IsArchived)
		w.within("created_at", f.Created)
	},
	order: func(f lyceum.LectureFilter) string {
		return contentsOrder(f.Order, f.Course.Present, "lecture_id", sectionPlace, "lecture_section_id", "position")
	},
})

// sectionPlace is the position of a lecture's section.
const sectionPlace = `(SELECT s.position FROM lecture_sections s
	WHERE s.school_id = lectures.school_id AND s.lecture_section_id = lectures.lecture_section_id)`

// FindPublished is a single statement, because completing a lecture needs it, and returns a
// single string, so that a change can run it ahead.
func (t *tx) FindPublished(course lyceum.CourseID) ([]lyceum.LectureID, error) {
	var text string
	_, err := t.q.one(`SELECT COALESCE(string_agg(CAST(l.lecture_id AS TEXT), ' '
		ORDER BY s.position, s.lecture_section_id, l.position, l.lecture_id), '') FROM lectures l
		JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE l.school_id = $1 AND l.course_id = $2 AND l.is_published = 1 AND l.archived_at IS NULL AND s.is_published = 1`,
		[]any{int64(t.stamp.School), int64(course)}, scanText(&text))
	if err != nil {
		return nil, fmt.Errorf("find published lectures: %w", err)
	}
	fields := strings.Fields(text)
	found := make([]lyceum.LectureID, len(fields))
	for i, field := range fields {
		id, err := strconv.ParseInt(field, 10, 32)
		if err != nil {
			return nil, wrong(field, "lecture id")
		}
		found[i] = lyceum.LectureID(id)
	}
	return found, nil
}
