package sqlstore

import "github.com/lyceum-school/lyceum"

var lectures = define(noun[lyceum.LectureID, lyceum.Lecture, struct{}]{
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
})
