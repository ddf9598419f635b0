package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SaveLectureSections implements lyceum.Tx.
func (t *tx) SaveLectureSections(rows []lyceum.LectureSection) (lyceum.Saved, error) {
	return save(t, &lectureSections.table, rows)
}

// SaveLectures implements lyceum.Tx.
func (t *tx) SaveLectures(rows []lyceum.Lecture) (lyceum.Saved, error) {
	return save(t, &lectures.table, rows)
}

// SaveAttachments implements lyceum.Tx. The ids of quizzes are never given out
// again either.
func (t *tx) SaveAttachments(rows []lyceum.Attachment) (lyceum.Saved, error) {
	var highest lyceum.QuizID
	for i := range rows {
		if rows[i].Quiz != nil {
			highest = max(highest, rows[i].Quiz.ID)
		}
	}
	if highest > 0 {
		if err := t.raise(lyceum.QuizSequence, int32(highest)); err != nil {
			return lyceum.Saved{}, err
		}
	}
	return save(t, &attachments.table, rows)
}

// SaveEnrollments implements lyceum.Tx. It keeps the counters of the open
// enrollments of each course.
func (t *tx) SaveEnrollments(rows []lyceum.Enrollment) (lyceum.Saved, error) {
	ids := make([]int32, len(rows))
	last := map[lyceum.EnrollmentID]*lyceum.Enrollment{}
	for i := range rows {
		ids[i] = int32(rows[i].ID)
		last[rows[i].ID] = &rows[i]
	}
	ids, err := t.perhapsKept(lyceum.EnrollmentSequence, ids)
	if err != nil {
		return lyceum.Saved{}, err
	}
	before, err := findByID(t.q, t.stamp.School, &enrollments.table, ids)
	if err != nil {
		return lyceum.Saved{}, err
	}
	for id, row := range last {
		if old, there := before[int32(id)]; there {
			t.countOpen(&old, -1)
		}
		t.countOpen(row, 1)
	}
	return save(t, &enrollments.table, rows)
}

func (t *tx) countOpen(e *lyceum.Enrollment, by int64) {
	if e.EndedAt.Present || e.ExpiresAt.Present {
		return
	}
	counter := openCounter(e.Course)
	if t.counts[counter] += by; t.counts[counter] == 0 {
		delete(t.counts, counter)
	}
}

// SaveProgress implements lyceum.Tx.
func (t *tx) SaveProgress(rows []lyceum.Progress) (lyceum.Saved, error) {
	return save(t, &progress.table, rows)
}

// BeginEnrollment implements lyceum.Tx.
func (t *tx) BeginEnrollment(e lyceum.Enrollment) (bool, error) {
	var id int32
	begun, err := t.q.one(insertText(enrollments.name, enrollments.list(), 1+len(enrollments.columns), 1)+" ON CONFLICT (school_id, user_id, course_id) WHERE ended_at IS NULL DO NOTHING RETURNING enrollment_id",
		append([]any{int64(t.stamp.School)}, enrollments.bind(&e)...), scanInt(&id))
	if err != nil {
		return false, fmt.Errorf("begin enrollment: %w", err)
	}
	if begun {
		delete(t.unused, ticket{lyceum.EnrollmentSequence, id})
		t.countOpen(&e, 1)
		t.entry(lyceum.EnrollmentCreated, id)
	}
	return begun, nil
}

// BeginProgress implements lyceum.Tx.
func (t *tx) BeginProgress(p lyceum.Progress) error {
	var id int32
	begun, err := t.q.one(insertText(progress.name, progress.list(), 1+len(progress.columns), 1)+" ON CONFLICT (school_id, user_id, course_id) DO NOTHING RETURNING progress_id",
		append([]any{int64(t.stamp.School)}, progress.bind(&p)...), scanInt(&id))
	if err != nil {
		return fmt.Errorf("begin progress: %w", err)
	}
	if begun {
		delete(t.unused, ticket{lyceum.ProgressSequence, id})
		t.entry(lyceum.ProgressCreated, id)
	}
	return nil
}

// UpdateProgress implements lyceum.Tx. It finds the row by its primary key and
// leaves the indexes alone.
func (t *tx) UpdateProgress(p lyceum.Progress) error {
	args := progress.bind(&p) // id, user, course, percent, …
	err := t.q.exec(`UPDATE progress SET percent_complete = $4, completed_at = $5, certificate_issued_at = $6, certificate_page_id = $7, certificate_serial_number = $8
		WHERE school_id = $1 AND user_id = $2 AND course_id = $3`, append([]any{int64(t.stamp.School), args[1], args[2]}, args[3:]...)...)
	if err != nil {
		return fmt.Errorf("update progress: %w", err)
	}
	t.entry(lyceum.ProgressUpdated, int32(p.ID))
	return nil
}

// FindPublished implements lyceum.Tx.
func (t *tx) FindPublished(course lyceum.CourseID) ([]lyceum.LectureID, error) {
	var found []lyceum.LectureID
	var id lyceum.LectureID
	err := t.q.each(`SELECT l.lecture_id FROM lectures l JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE l.school_id = $1 AND l.course_id = $2 AND l.is_published = 1 AND s.is_published = 1
		ORDER BY s.position, s.lecture_section_id, l.position, l.lecture_id`,
		[]any{int64(t.stamp.School), int64(course)}, []any{scanInt(&id)}, func() error { found = append(found, id); return nil })
	if err != nil {
		return nil, fmt.Errorf("find published lectures: %w", err)
	}
	return found, nil
}

// Exist implements lyceum.Tx.
func (t *tx) Exist(course lyceum.CourseID, user lyceum.UserID) error {
	var courses, users int64
	_, err := t.q.one("SELECT (SELECT count(*) FROM courses WHERE school_id = $1 AND course_id = $2), (SELECT count(*) FROM users WHERE school_id = $1 AND user_id = $3)",
		[]any{int64(t.stamp.School), int64(course), int64(user)}, scanInt(&courses), scanInt(&users))
	switch {
	case err != nil:
		return fmt.Errorf("look for course and user: %w", err)
	case courses == 0:
		return lyceum.Errorf(lyceum.NotFound, "there is no course %d", course)
	case users == 0:
		return lyceum.Errorf(lyceum.NotFound, "there is no user %d", user)
	}
	return nil
}

// SaveLectureProgress implements lyceum.Tx.
func (t *tx) SaveLectureProgress(rows []lyceum.LectureProgress) (lyceum.Saved, error) {
	return save(t, &lectureProgress.table, rows)
}

// SaveQuizResponses implements lyceum.Tx.
func (t *tx) SaveQuizResponses(rows []lyceum.QuizResponse) (lyceum.Saved, error) {
	return save(t, &quizResponses.table, rows)
}

// SaveWebhooks implements lyceum.Tx.
func (t *tx) SaveWebhooks(rows []lyceum.Webhook) (lyceum.Saved, error) {
	return save(t, &webhooks.table, rows)
}

// SaveWebhookEvents implements lyceum.Tx.
func (t *tx) SaveWebhookEvents(rows []lyceum.WebhookEvent) (lyceum.Saved, error) {
	return save(t, &webhookEvents.table, rows)
}

// GetQuiz implements lyceum.Tx.
func (t *tx) GetQuiz(id lyceum.AttachmentID) (lyceum.Attachment, error) {
	a, err := getByID(t.q, t.stamp.School, &attachments.table, id, "quiz")
	if err == nil && a.Quiz == nil {
		err = lyceum.Errorf(lyceum.NotFound, "there is no quiz %d", id)
	}
	return a, err
}

// SetTags implements lyceum.Tx.
func (t *tx) SetTags(user lyceum.UserID, tags []string) (changed bool, err error) {
	there, err := findTags(t.q, t.stamp.School, user)
	if err != nil {
		return false, fmt.Errorf("find tags: %w", err)
	}
	gone, fresh := map[string]bool{}, map[string]bool{}
	for _, name := range tags {
		fresh[name] = true
	}
	for _, name := range there {
		if fresh[name] {
			delete(fresh, name)
		} else {
			gone[name] = true
		}
	}
	if len(gone)+len(fresh) == 0 {
		return false, nil
	}
	if err := t.deleteTags(user, slices.Sorted(maps.Keys(gone))); err != nil {
		return false, fmt.Errorf("delete tags: %w", err)
	}
	if err := t.insertTags(user, slices.Sorted(maps.Keys(fresh))); err != nil {
		return false, fmt.Errorf("insert tags: %w", err)
	}
	t.entry(lyceum.UserTagged, int32(user))
	return true, nil
}

func (t *tx) deleteTags(user lyceum.UserID, names []string) error {
	for len(names) > 0 {
		n := chunkOf(len(names))
		args := []any{int64(t.stamp.School), int64(user)}
		for _, name := range names[:n] {
			args = append(args, name)
		}
		err := t.q.exec("DELETE FROM user_tags WHERE school_id = $1 AND user_id = $2 AND name IN "+placeholders(3, n), args...)
		if err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

func (t *tx) insertTags(user lyceum.UserID, names []string) error {
	for len(names) > 0 {
		n := chunkOf(len(names))
		args := make([]any, 0, 3*n)
		for _, name := range names[:n] {
			args = append(args, int64(t.stamp.School), int64(user), name)
		}
		if err := t.q.exec(insertText("user_tags", "user_id, name", 3, n), args...); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

// FindTags implements lyceum.Tx.
func (t *tx) FindTags(user lyceum.UserID) ([]string, error) {
	return findTags(t.q, t.stamp.School, user)
}

// SwitchV2 implements lyceum.Tx.
func (t *tx) SwitchV2(off bool) error {
	if err := t.q.exec("UPDATE schools SET v2_disabled = $2 WHERE school_id = $1", int64(t.stamp.School), flag(off)); err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}

// SignedIn implements lyceum.Tx.
func (t *tx) SignedIn(user lyceum.UserID, from string, at time.Time) error {
	return t.q.exec("UPDATE users SET last_sign_in_at = $3, last_sign_in_ip = $4 WHERE school_id = $1 AND user_id = $2",
		int64(t.stamp.School), int64(user), micros(at), from)
}

// GetUser implements lyceum.Tx.
func (t *tx) GetUser(id lyceum.UserID) (lyceum.User, error) {
	return getByID(t.q, t.stamp.School, &users.table, id, "user")
}

// GetUserByEmail implements lyceum.Tx.
func (t *tx) GetUserByEmail(email string) (lyceum.User, error) {
	return getUserByEmail(t.q, t.stamp.School, email)
}

// GetCourse implements lyceum.Tx.
func (t *tx) GetCourse(id lyceum.CourseID) (lyceum.Course, error) {
	return getByID(t.q, t.stamp.School, &courses.table, id, "course")
}

// GetContents implements lyceum.Tx.
func (t *tx) GetContents(course lyceum.CourseID) (lyceum.Contents, error) {
	return getContents(t.q, t.stamp.School, course)
}

// GetProgress implements lyceum.Tx.
func (t *tx) GetProgress(user lyceum.UserID, course lyceum.CourseID) (lyceum.Progress, error) {
	return getProgress(t.q, t.stamp.School, user, course)
}

// FindLectureProgress implements lyceum.Tx.
func (t *tx) FindLectureProgress(user lyceum.UserID, course lyceum.CourseID) (map[lyceum.LectureID]lyceum.LectureProgress, error) {
	return findLectureProgress(t.q, t.stamp.School, user, course)
}

// GetWebhook implements lyceum.Tx.
func (t *tx) GetWebhook(id lyceum.WebhookID) (lyceum.Webhook, error) {
	return getByID(t.q, t.stamp.School, &webhooks.table, id, "webhook")
}

// GetOpenEnrollment implements lyceum.Tx.
func (t *tx) GetOpenEnrollment(user lyceum.UserID, course lyceum.CourseID) (lyceum.Enrollment, error) {
	found, err := rows(t.q, &enrollments.table, " WHERE school_id = $1 AND user_id = $2 AND course_id = $3 AND ended_at IS NULL", int64(t.stamp.School), int64(user), int64(course))
	if err != nil {
		return lyceum.Enrollment{}, err
	}
	if len(found) == 0 {
		return lyceum.Enrollment{}, lyceum.Errorf(lyceum.NotFound, "user %d is not enrolled in course %d", user, course)
	}
	return found[0], nil
}

// FindProgress implements lyceum.Tx.
func (t *tx) FindProgress(course lyceum.CourseID) ([]lyceum.Progress, error) {
	return rows(t.q, &progress.table, " WHERE school_id = $1 AND course_id = $2 ORDER BY user_id", int64(t.stamp.School), int64(course))
}

// CountLectureProgress implements lyceum.Tx.
func (t *tx) CountLectureProgress(course lyceum.CourseID) (map[lyceum.UserID]lyceum.LectureCount, error) {
	found := map[lyceum.UserID]lyceum.LectureCount{}
	var user lyceum.UserID
	var n int64
	var last time.Time
	err := t.q.each(`SELECT p.user_id, count(*), max(p.completed_at) FROM progress g
		JOIN lecture_progress p ON p.school_id = g.school_id AND p.user_id = g.user_id AND p.course_id = g.course_id
		JOIN lectures l ON l.school_id = p.school_id AND l.lecture_id = p.lecture_id
		JOIN lecture_sections s ON s.school_id = l.school_id AND s.lecture_section_id = l.lecture_section_id
		WHERE g.school_id = $1 AND g.course_id = $2 AND l.is_published = 1 AND s.is_published = 1 GROUP BY p.user_id`,
		[]any{int64(t.stamp.School), int64(course)}, []any{scanInt(&user), scanInt(&n), scanTime(&last)}, func() error {
			found[user] = lyceum.LectureCount{Completed: int(n), Last: last}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("count lecture progress: %w", err)
	}
	return found, nil
}

// FindLectureSections implements lyceum.Tx.
func (t *tx) FindLectureSections(ids []lyceum.LectureSectionID) (map[lyceum.LectureSectionID]lyceum.LectureSection, error) {
	return findKeyed(t.q, t.stamp.School, &lectureSections.table, ids)
}

// FindLectures implements lyceum.Tx.
func (t *tx) FindLectures(ids []lyceum.LectureID) (map[lyceum.LectureID]lyceum.Lecture, error) {
	return findKeyed(t.q, t.stamp.School, &lectures.table, ids)
}

// FindEnrollmentsOf implements lyceum.Tx.
func (t *tx) FindEnrollmentsOf(users []lyceum.UserID) ([]lyceum.Enrollment, error) {
	return findOf(t, &enrollments.table, users)
}

// FindProgressOf implements lyceum.Tx.
func (t *tx) FindProgressOf(users []lyceum.UserID) ([]lyceum.Progress, error) {
	return findOf(t, &progress.table, users)
}

// FindLectureProgressOf implements lyceum.Tx.
func (t *tx) FindLectureProgressOf(users []lyceum.UserID) ([]lyceum.LectureProgress, error) {
	return findOf(t, &lectureProgress.table, users)
}

// FindQuizResponsesOf implements lyceum.Tx.
func (t *tx) FindQuizResponsesOf(users []lyceum.UserID) ([]lyceum.QuizResponse, error) {
	return findOf(t, &quizResponses.table, users)
}

// findOf gives the rows of a table that belong to users.
func findOf[T any](t *tx, table *table[T], users []lyceum.UserID) ([]T, error) {
	ids := make([]any, len(users))
	for i, id := range users {
		ids[i] = int64(id)
	}
	var found []T
	var row T
	err := inChunks(t.q, "SELECT "+table.list()+" FROM "+table.name+" WHERE school_id = $1 AND user_id IN ",
		t.stamp.School, ids, table.scan(&row), func() { found = append(found, row) })
	if err != nil {
		return nil, fmt.Errorf("find %s of users: %w", table.name, err)
	}
	return found, nil
}
