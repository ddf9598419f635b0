package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Recountings, noun[lyceum.CourseID, lyceum.Recounting, struct{}]{
	table: table[lyceum.Recounting]{name: "recountings"},
	what:  "recounting",
	key:   unnumbered(idKey("course_id", func(r *lyceum.Recounting) *lyceum.CourseID { return &r.Course })),
	rest: []column[lyceum.Recounting]{
		intColumn("after_user", func(r *lyceum.Recounting) *lyceum.UserID { return &r.After }),
		boolColumn("announces", func(r *lyceum.Recounting) *bool { return &r.Announces }),
	},
})

func (t *tx) FindRecounted(r lyceum.Recounting, limit int) (found []lyceum.Progress, err error) {
	read := progress.reader()
	defer progress.done(read)
	err = t.q.each("SELECT "+progress.list()+` FROM progress WHERE school_id = $1 AND course_id = $2 AND user_id > $3
		ORDER BY user_id LIMIT $4`,
		[]any{int64(t.stamp.School), int64(r.Course), int64(r.After), limit}, read.dest,
		func() error { found = append(found, read.row); return nil })
	if err != nil {
		return nil, fmt.Errorf("find who is counted again: %w", err)
	}
	return found, nil
}

func (t *tx) CountLectureProgress(
	r lyceum.Recounting, until lyceum.UserID,
) (map[lyceum.UserID]lyceum.LectureCount, error) {
	found := map[lyceum.UserID]lyceum.LectureCount{}
	var user lyceum.UserID
	var n int64
	var last time.Time
	err := t.q.each(`SELECT p.user_id, count(*), max(p.completed_at) FROM progress g
		JOIN lecture_progress p ON p.school_id = g.school_id AND p.user_id = g.user_id AND p.course_id = g.course_id
		JOIN lectures l ON l.school_id = p.school_id AND l.lecture_id = p.lecture_id
		JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE g.school_id = $1 AND g.course_id = $2 AND g.user_id > $3 AND g.user_id <= $4
		AND l.is_published = 1 AND l.archived_at IS NULL AND s.is_published = 1
		GROUP BY p.user_id`,
		[]any{int64(t.stamp.School), int64(r.Course), int64(r.After), int64(until)},
		[]any{scanInt(&user), scanInt(&n), scanTime(&last)}, func() error {
			found[user] = lyceum.LectureCount{Completed: int(n), Last: last}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("count lecture progress: %w", err)
	}
	return found, nil
}
