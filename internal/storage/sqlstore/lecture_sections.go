package sqlstore

import "github.com/lyceum-school/lyceum"

var _ = define(&tables.LectureSections, noun[lyceum.LectureSectionID, lyceum.LectureSection,
	lyceum.LectureSectionFilter]{
	table:   table[lyceum.LectureSection]{name: "lecture_sections"},
	entries: "lecture_section",
	key:     idKey("lecture_section_id", func(s *lyceum.LectureSection) *lyceum.LectureSectionID { return &s.ID }),
	rest: []column[lyceum.LectureSection]{
		intColumn("course_id", func(s *lyceum.LectureSection) *lyceum.CourseID { return &s.Course }),
		textColumn("name", func(s *lyceum.LectureSection) *string { return &s.Name }),
		boolColumn("is_published", func(s *lyceum.LectureSection) *bool { return &s.IsPublished }),
		intColumn("position", func(s *lyceum.LectureSection) *int32 { return &s.Position }),
	},
	narrow: func(w *where, f lyceum.LectureSectionFilter) { is(w, "course_id", f.Course) },
	order: func(f lyceum.LectureSectionFilter) string {
		if f.Course.Present {
			return "position, lecture_section_id"
		}
		return "lecture_section_id"
	},
})
