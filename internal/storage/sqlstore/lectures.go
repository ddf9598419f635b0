package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Lectures, noun[lyceum.LectureID, lyceum.Lecture, lyceum.LectureFilter]{
	table:   table[lyceum.Lecture]{name: "lectures"},
	entries: "lecture",
	key:     idKey("lecture_id", func(l *lyceum.Lecture) *lyceum.LectureID { return &l.ID }),
	rest: []column[lyceum.Lecture]{
		intColumn("course_id", func(l *lyceum.Lecture) *lyceum.CourseID { return &l.Course }),
		intColumn("lecture_section_id", func(l *lyceum.Lecture) *lyceum.LectureSectionID { return &l.Section }),
		optTextColumn("name", func(l *lyceum.Lecture) *lyceum.Opt[string] { return &l.Name }),
		boolColumn("is_published", func(l *lyceum.Lecture) *bool { return &l.IsPublished }),
		intColumn("position", func(l *lyceum.Lecture) *int32 { return &l.Position }),
	},
	narrow: func(w *where, f lyceum.LectureFilter) { is(w, "course_id", f.Course) },
	order: func(f lyceum.LectureFilter) string {
		if f.Course.Present {
			return "position, lecture_id"
		}
		return "lecture_id"
	},
})

// FindPublished is one statement, because completing a lecture asks for it.
func (t *tx) FindPublished(course lyceum.CourseID) ([]lyceum.LectureID, error) {
	var found []lyceum.LectureID
	var id lyceum.LectureID
	err := t.q.each(`SELECT l.lecture_id FROM lectures l
		JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE l.school_id = $1 AND l.course_id = $2 AND l.is_published = 1 AND s.is_published = 1
		ORDER BY s.position, s.lecture_section_id, l.position, l.lecture_id`,
		[]any{int64(t.stamp.School), int64(course)}, []any{scanInt(&id)}, func() error {
			found = append(found, id)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("find published lectures: %w", err)
	}
	return found, nil
}
