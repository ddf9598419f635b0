package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var lectureProgress = define(noun[lyceum.LectureProgressID, lyceum.LectureProgress, struct{}]{
	table:   table[lyceum.LectureProgress]{name: "lecture_progress", byIndex: true},
	entries: "lecture_progress",
	key:     idKey("lecture_progress_id", func(p *lyceum.LectureProgress) *lyceum.LectureProgressID { return &p.ID }),
	rest: []column[lyceum.LectureProgress]{
		intColumn("user_id", func(p *lyceum.LectureProgress) *lyceum.UserID { return &p.User }),
		intColumn("course_id", func(p *lyceum.LectureProgress) *lyceum.CourseID { return &p.Course }),
		intColumn("lecture_id", func(p *lyceum.LectureProgress) *lyceum.LectureID { return &p.Lecture }),
		timeColumn("completed_at", func(p *lyceum.LectureProgress) *time.Time { return &p.CompletedAt }),
	},
	largest: 1 << 10,
})
