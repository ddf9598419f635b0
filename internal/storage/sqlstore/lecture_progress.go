package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.LectureProgress, noun[lyceum.LectureProgressID, lyceum.LectureProgress,
	lyceum.LectureProgressFilter]{
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
	narrow: func(w *where, f lyceum.LectureProgressFilter) {
		is(w, "user_id", f.User)
		among(w, "user_id", f.Users)
		is(w, "course_id", f.Course)
	},
	order: func(f lyceum.LectureProgressFilter) string {
		if f.User.Present || f.Users != nil || f.Course.Present {
			return "user_id, course_id, lecture_id"
		}
		return "lecture_progress_id"
	},
})
