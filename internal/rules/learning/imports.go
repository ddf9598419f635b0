package learning

import (
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// stay is the key by which enrollments and progress without an id are matched.
type stay struct {
	user   lyceum.UserID
	course lyceum.CourseID
	since  int64
}

// ImportEnrollments begins an import of enrollments. A row without an id is matched by user,
// course and start time.
func (s *Service) ImportEnrollments(by lyceum.By) *Rows[lyceum.Enrollment] {
	type row = lyceum.Enrollment
	rec := record[lyceum.EnrollmentID, row, stay]{
		next:  func(tx lyceum.Tx) (lyceum.EnrollmentID, error) { return tx.Enrollments.NextID(tx) },
		id:    func(e *row) *lyceum.EnrollmentID { return &e.ID },
		user:  func(e *row) lyceum.UserID { return e.User },
		key:   func(e *row) stay { return stay{e.User, e.Course, e.EnrolledAt.Unix()} },
		field: "enrolled_at", taken: "is already the id of enrollment %d of the same user and course",
		find: allEnrollments, twins: roaring.New(),
	}
	before := saidStays{roaring.New()}
	return &Rows[row]{s, by, shape[row]{
		what: "enrollments",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(e *row) int32 { return int32(e.User) }},
			{"course_id", "course", lyceum.CourseSequence, func(e *row) int32 { return int32(e.Course) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			problems, err := rec.identify(tx, rows)
			if err != nil {
				return nil, err
			}
			moved, err := movedStays(tx, rows)
			if err != nil {
				return nil, err
			}
			return others(rows, append(problems, moved...), func(good []row) ([]lyceum.RowProblem, error) {
				second, err := secondStays(tx, good, before)
				if err != nil {
					return nil, err
				}
				erased, err := aboutErased(tx, good, "set", enrolledStill)
				return append(second, erased...), err
			})
		},
		earlier: before,
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			saved, err := tx.Enrollments.Save(tx, rows...)
			if err != nil {
				return saved, err
			}
			if err := LinkEnrollments(tx, now, rows); err != nil {
				return saved, err
			}
			return saved, beginAll(tx, rows)
		},
	}}
}

// saidStays has the ids of enrollments in the file, whose rows replace those in the database.
type saidStays struct{ ids *roaring.Bitmap }

func (s saidStays) add(rows []lyceum.Enrollment) {
	for i := range rows {
		s.ids.Add(uint32(rows[i].ID))
	}
}

func (s saidStays) forget() { s.ids.Clear() }

// movedStays returns a problem for each row whose id is that of an enrollment of another user or
// in another course: their access does not depend on this row.
func movedStays(tx lyceum.Tx, rows []lyceum.Enrollment) ([]lyceum.RowProblem, error) {
	return movedRows(tx, rows, func(e *lyceum.Enrollment) lyceum.EnrollmentID { return e.ID }, tx.Enrollments.Find,
		func(a, b *lyceum.Enrollment) bool { return a.User == b.User && a.Course == b.Course },
		func(e *lyceum.Enrollment) string {
			return fmt.Sprintf("the enrollment of user %d in course %d", e.User, e.Course)
		})
}

// secondStays returns a problem for each row that would be a second open enrollment of a user in
// a course, and keeps the sales that enrollments came with.
func secondStays(tx lyceum.Tx, rows []lyceum.Enrollment, before saidStays) (problems []lyceum.RowProblem, err error) {
	kept, err := allEnrollments(tx, usersOf(rows, func(e *lyceum.Enrollment) lyceum.UserID { return e.User }))
	if err != nil {
		return nil, err
	}
	said := map[lyceum.EnrollmentID]bool{}
	for i := range rows {
		said[rows[i].ID] = true
	}
	open := map[stay]lyceum.EnrollmentID{}
	sales := map[lyceum.EnrollmentID]lyceum.Opt[lyceum.SaleID]{}
	for i := range kept {
		sales[kept[i].ID] = kept[i].Sale
		if e := &kept[i]; !e.EndedAt.Present && !said[e.ID] && !before.ids.Contains(uint32(e.ID)) {
			open[stay{user: e.User, course: e.Course}] = e.ID
		}
	}
	for i := range rows {
		e, key := &rows[i], stay{user: rows[i].User, course: rows[i].Course}
		e.Sale = sales[e.ID] // the file does not contain it
		if e.EndedAt.Present {
			continue
		}
		if other, there := open[key]; there && other != e.ID {
			problems = append(problems, problem(
				i, "ended_at", "must not be empty: enrollment %d of the same user and course is still active", other,
			))
			continue
		}
		open[key] = e.ID
	}
	return problems, nil
}

func usersOf[T any](rows []T, user func(*T) lyceum.UserID) []lyceum.UserID {
	seen := map[lyceum.UserID]bool{}
	var users []lyceum.UserID
	for i := range rows {
		if u := user(&rows[i]); !seen[u] {
			seen[u] = true
			users = append(users, u)
		}
	}
	return users
}

// beginAll makes sure that each enrollment has a record of progress.
func beginAll(tx lyceum.Tx, rows []lyceum.Enrollment) error {
	kept, err := allProgress(tx, usersOf(rows, func(e *lyceum.Enrollment) lyceum.UserID { return e.User }))
	if err != nil {
		return err
	}
	begun := map[stay]bool{}
	for i := range kept {
		begun[stay{user: kept[i].User, course: kept[i].Course}] = true
	}
	var fresh []lyceum.Progress
	for i := range rows {
		key := stay{user: rows[i].User, course: rows[i].Course}
		if begun[key] {
			continue
		}
		begun[key] = true
		id, err := tx.Progress.NextID(tx)
		if err != nil {
			return err
		}
		fresh = append(fresh, lyceum.Progress{ID: id, User: key.user, Course: key.course})
	}
	return tx.Progress.Insert(tx, fresh...)
}

// ImportProgress begins an import of progress. A row without an id is matched by user and
// course.
func (s *Service) ImportProgress(by lyceum.By) *Rows[lyceum.Progress] {
	type row = lyceum.Progress
	rec := record[lyceum.ProgressID, row, stay]{
		next:  func(tx lyceum.Tx) (lyceum.ProgressID, error) { return tx.Progress.NextID(tx) },
		id:    func(p *row) *lyceum.ProgressID { return &p.ID },
		user:  func(p *row) lyceum.UserID { return p.User },
		key:   func(p *row) stay { return stay{user: p.User, course: p.Course} },
		field: "course_id", taken: "is already progress %d of the same user",
		find: allProgress,
	}
	return &Rows[row]{s, by, shape[row]{
		what: "progress",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(p *row) int32 { return int32(p.User) }},
			{"course_id", "course", lyceum.CourseSequence, func(p *row) int32 { return int32(p.Course) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			return rec.identifyInPlace(tx, rows, tx.Progress.Find, func(p *row) string {
				return fmt.Sprintf("the progress of user %d in course %d", p.User, p.Course)
			})
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.Progress.Save(tx, rows...)
		},
	}}
}

// step is the key by which lecture progress without an id is matched.
type step struct {
	user    lyceum.UserID
	lecture lyceum.LectureID
}

// ImportLectureProgress begins an import of completed lectures. A row without an id is matched
// by user and lecture.
func (s *Service) ImportLectureProgress(by lyceum.By) *Rows[lyceum.LectureProgress] {
	type row = lyceum.LectureProgress
	rec := record[lyceum.LectureProgressID, row, step]{
		next: func(tx lyceum.Tx) (lyceum.LectureProgressID, error) { return tx.LectureProgress.NextID(tx) },
		id:   func(p *row) *lyceum.LectureProgressID { return &p.ID },
		user: func(p *row) lyceum.UserID { return p.User }, key: func(p *row) step { return step{p.User, p.Lecture} },
		field: "lecture_id", taken: "is already lecture progress %d of the same user",
		find: allLectureProgress,
	}
	return &Rows[row]{s, by, shape[row]{
		what: "lecture progress",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(p *row) int32 { return int32(p.User) }},
			{"lecture_id", "lecture", lyceum.LectureSequence, func(p *row) int32 { return int32(p.Lecture) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			problems, err := inTheirCourse(tx, rows)
			if err != nil {
				return nil, err
			}
			more, err := rec.identifyInPlace(tx, rows, tx.LectureProgress.Find, func(p *row) string {
				return fmt.Sprintf("the lecture progress of user %d in lecture %d", p.User, p.Lecture)
			})
			return append(problems, more...), err
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.LectureProgress.Save(tx, rows...)
		},
	}}
}

// inTheirCourse returns a problem for each row whose course is not its lecture's.
func inTheirCourse(tx lyceum.Tx, rows []lyceum.LectureProgress) (problems []lyceum.RowProblem, err error) {
	ids := make([]lyceum.LectureID, len(rows))
	for i := range rows {
		ids[i] = rows[i].Lecture
	}
	lectures, err := tx.Lectures.Find(tx, ids...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if of := lectures[rows[i].Lecture].Course; of != rows[i].Course {
			problems = append(problems, problem(i, "course_id", "must be %d, the course of lecture %d", of, rows[i].Lecture))
		}
	}
	return problems, nil
}

// answer is the key by which quiz responses without an id are matched.
type answer struct {
	user lyceum.UserID
	quiz lyceum.QuizID
	at   int64
}

// ImportQuizResponses begins an import of quiz responses. A row without an id is matched by
// user, quiz and time.
func (s *Service) ImportQuizResponses(by lyceum.By) *Rows[lyceum.QuizResponse] {
	type row = lyceum.QuizResponse
	rec := record[lyceum.QuizResponseID, row, answer]{
		next:  func(tx lyceum.Tx) (lyceum.QuizResponseID, error) { return tx.QuizResponses.NextID(tx) },
		id:    func(r *row) *lyceum.QuizResponseID { return &r.ID },
		user:  func(r *row) lyceum.UserID { return r.User },
		key:   func(r *row) answer { return answer{r.User, r.Quiz, r.SubmittedAt.Value.Unix()} },
		field: "submitted_at", taken: "is already response %d of the same user and quiz",
		find: allQuizResponses, twins: roaring.New(),
	}
	return &Rows[row]{s, by, shape[row]{
		what: "quiz responses",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(r *row) int32 { return int32(r.User) }},
			{"quiz_id", "quiz", lyceum.QuizSequence, func(r *row) int32 { return int32(r.Quiz) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			problems, err := movedResponses(tx, rows)
			for i := range rows {
				if g := rows[i].Counts.Value; g.Correct > g.Answered || g.Answered > g.Total {
					problems = append(problems, problem(i, "correct", "must be at most answered, and that at most total"))
				}
			}
			if err != nil {
				return nil, err
			}
			return others(rows, problems, func(good []row) ([]lyceum.RowProblem, error) {
				more, err := rec.identify(tx, good)
				if err != nil {
					return nil, err
				}
				erased, err := aboutErased(tx, good, "empty", answeredBy)
				return append(more, erased...), err
			})
		},
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			err := keepUnsaid(tx, tx.QuizResponses, rows, func(r *row) lyceum.QuizResponseID { return r.ID },
				func(r, old *row) { keepResponse(r, old, now) })
			if err != nil {
				return lyceum.Saved{}, err
			}
			return tx.QuizResponses.Save(tx, rows...)
		},
	}}
}

// movedResponses returns a problem for each row whose id is that of a response of another user or
// to another quiz.
func movedResponses(tx lyceum.Tx, rows []lyceum.QuizResponse) ([]lyceum.RowProblem, error) {
	return movedRows(tx, rows, func(r *lyceum.QuizResponse) lyceum.QuizResponseID { return r.ID }, tx.QuizResponses.Find,
		func(a, b *lyceum.QuizResponse) bool { return a.User == b.User && a.Quiz == b.Quiz },
		func(r *lyceum.QuizResponse) string {
			return fmt.Sprintf("a response of user %d to quiz %d", r.User, r.Quiz)
		})
}

// keepResponse fills in what a file leaves out of a response. Counts are kept only if the
// percentage is unchanged. A new response was created when it was submitted.
func keepResponse(r, old *lyceum.QuizResponse, now time.Time) {
	keepTimes(&r.CreatedAt, &r.UpdatedAt, old.CreatedAt, old.UpdatedAt, r.SubmittedAt.Else(now))
	keep(&r.Answers, old.Answers)
	if r.PercentCorrect == old.PercentCorrect {
		keep(&r.Counts, old.Counts)
	}
}
