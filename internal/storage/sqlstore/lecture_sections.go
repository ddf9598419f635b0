package sqlstore

import (
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.LectureSections, noun[lyceum.LectureSectionID, lyceum.LectureSection,
	lyceum.LectureSectionFilter]{
	table:     table[lyceum.LectureSection]{name: "lecture_sections"},
	entries:   "lecture_section",
	kept:      true,
	keptLists: func(f lyceum.LectureSectionFilter) bool { return f.Course.Present },
	key:       idKey("lecture_section_id", func(s *lyceum.LectureSection) *lyceum.LectureSectionID { return &s.ID }),
	rest: []column[lyceum.LectureSection]{
		intColumn("course_id", func(s *lyceum.LectureSection) *lyceum.CourseID { return &s.Course }),
		textColumn("name", func(s *lyceum.LectureSection) *string { return &s.Name }),
		boolColumn("is_published", func(s *lyceum.LectureSection) *bool { return &s.IsPublished }),
		intColumn("position", func(s *lyceum.LectureSection) *int32 { return &s.Position }),
		timeColumn("created_at", func(s *lyceum.LectureSection) *time.Time { return &s.CreatedAt }),
		timeColumn("updated_at", func(s *lyceum.LectureSection) *time.Time { return &s.UpdatedAt }),
	},
	narrow: func(w *where, f lyceum.LectureSectionFilter) {
		is(w, "course_id", f.Course)
		if f.Lecture.Present {
			w.and("lecture_section_id = (SELECT l.lecture_section_id FROM lectures l WHERE l.school_id = "+
				"lecture_sections.school_id AND l.lecture_id = ?)", int64(f.Lecture.Value))
		}
	},
	order: func(f lyceum.LectureSectionFilter) string {
		return contentsOrder(f.Order, f.Course.Present, "lecture_section_id", "position")
	},
})

// contentsOrder returns the order of the contents of a course. key is the column that
// identifies a row, and places are the columns of its position.
func contentsOrder(o lyceum.ContentsOrder, ofCourse bool, key string, places ...string) string {
	var by []string
	switch o.By {
	case lyceum.ContentsAsStored:
		if ofCourse {
			by = places[len(places)-1:]
		}
	case lyceum.ContentsByPosition:
		by = slices.Clone(places)
	case lyceum.ContentsByName:
		by = []string{"LOWER(name)"}
	case lyceum.ContentsByCreated:
		by = []string{"created_at"}
	case lyceum.ContentsByUpdated:
		by = []string{"updated_at"}
	}
	by = append(slices.Clip(by), key)
	if o.Descending {
		return strings.Join(by, " DESC, ") + " DESC"
	}
	return strings.Join(by, ", ")
}
