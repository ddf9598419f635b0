package sqlstore

import (
	"fmt"
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

// CountLectureProgress counts in the database: a course may have 100,000
// learners.
func (t *tx) CountLectureProgress(course lyceum.CourseID) (map[lyceum.UserID]lyceum.LectureCount, error) {
	found := map[lyceum.UserID]lyceum.LectureCount{}
	var user lyceum.UserID
	var n int64
	var last time.Time
	err := t.q.each(`SELECT p.user_id, count(*), max(p.completed_at) FROM progress g
		JOIN lecture_progress p ON p.school_id = g.school_id AND p.user_id = g.user_id AND p.course_id = g.course_id
		JOIN lectures l ON l.school_id = p.school_id AND l.lecture_id = p.lecture_id
		JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE g.school_id = $1 AND g.course_id = $2 AND l.is_published = 1 AND l.archived_at IS NULL AND s.is_published = 1
		GROUP BY p.user_id`,
		[]any{int64(t.stamp.School), int64(course)}, []any{scanInt(&user), scanInt(&n), scanTime(&last)}, func() error {
			found[user] = lyceum.LectureCount{Completed: int(n), Last: last}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("count lecture progress: %w", err)
	}
	return found, nil
}
