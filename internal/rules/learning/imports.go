package learning

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ImportLectureSections begins an import of lecture sections. What learners
// have done of their courses is counted anew.
func (s *Service) ImportLectureSections(by lyceum.By) *Rows[lyceum.LectureSection] {
	type row = lyceum.LectureSection
	return &Rows[row]{s, by, shape[row]{
		what: "lecture sections",
		names: []reference[row]{
			{"course_id", "course", lyceum.CourseSequence, func(l *row) int32 { return int32(l.Course) }},
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return recounting(tx, rows, func(l *row) lyceum.CourseID { return l.Course }, tx.LectureSections.Save)
		},
	}}
}

// ImportLectures begins an import of lectures. What learners have done of
// their courses is counted anew.
func (s *Service) ImportLectures(by lyceum.By) *Rows[lyceum.Lecture] {
	type row = lyceum.Lecture
	return &Rows[row]{s, by, shape[row]{
		what: "lectures",
		names: []reference[row]{
			{"course_id", "course", lyceum.CourseSequence, func(l *row) int32 { return int32(l.Course) }},
			{"lecture_section_id", "lecture section", lyceum.LectureSectionSequence, func(l *row) int32 {
				return int32(l.Section)
			}},
		},
		look: func(tx lyceum.Tx, rows []row) (problems []lyceum.RowProblem, err error) {
			ids := make([]lyceum.LectureSectionID, len(rows))
			for i := range rows {
				ids[i] = rows[i].Section
			}
			sections, err := tx.LectureSections.Find(tx, ids...)
			for i := range rows {
				if of := sections[rows[i].Section].Course; err == nil && of != rows[i].Course {
					problems = append(problems, problem(
						i, "lecture_section_id", "%d is a section of course %d, not of course %d", rows[i].Section, of, rows[i].Course,
					))
				}
			}
			return problems, err
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return recounting(tx, rows, func(l *row) lyceum.CourseID { return l.Course }, tx.Lectures.Save)
		},
	}}
}

// ImportAttachments begins an import of attachments.
func (s *Service) ImportAttachments(by lyceum.By) *Rows[lyceum.Attachment] {
	type row = lyceum.Attachment
	return &Rows[row]{s, by, shape[row]{
		what: "attachments",
		names: []reference[row]{
			{"lecture_id", "lecture", lyceum.LectureSequence, func(a *row) int32 { return int32(a.Lecture) }},
		},
		look: func(_ lyceum.Tx, rows []row) (problems []lyceum.RowProblem, err error) {
			for i := range rows {
				if rows[i].Kind == "pdf" { // as the contract's text has it
					rows[i].Kind = lyceum.PDFAttachment
				}
				if field, wrong := oddAttachment(&rows[i]); wrong != "" {
					problems = append(problems, problem(i, field, "%s", wrong))
				}
			}
			return problems, nil
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.Attachments.Save(tx, rows...)
		},
	}}
}

const wordTaken = "must be a word of 1 to 64 letters, digits, _ or -"

// oddAttachment tells what of an attachment does not go together.
func oddAttachment(a *lyceum.Attachment) (field, wrong string) {
	switch {
	case !lyceum.IsWord(string(a.Kind)):
		return "kind", wordTaken
	case a.Quiz != nil && a.Kind != lyceum.QuizAttachment:
		return "quiz_id", fmt.Sprintf("must be empty for an attachment of the kind %s", a.Kind)
	case a.Video.Present && a.Kind != lyceum.VideoAttachment:
		return "video_url", fmt.Sprintf("must be empty for an attachment of the kind %s", a.Kind)
	case a.Quiz == nil:
		return "", ""
	}
	for n, q := range a.Quiz.Questions {
		if !lyceum.IsWord(q.QuestionType) {
			return "questions", fmt.Sprintf("question_type of question %d %s", n+1, wordTaken)
		}
	}
	return "", ""
}

// stay is what two enrollments of one id have in common.
type stay struct {
	user   lyceum.UserID
	course lyceum.CourseID
	since  int64
}

// ImportEnrollments begins an import of enrollments. A row without an id is
// the enrollment of that user in that course since that moment.
func (s *Service) ImportEnrollments(by lyceum.By) *Rows[lyceum.Enrollment] {
	type row = lyceum.Enrollment
	rec := record[lyceum.EnrollmentID, row, stay]{
		next:  func(tx lyceum.Tx) (lyceum.EnrollmentID, error) { return tx.Enrollments.NextID(tx) },
		id:    func(e *row) *lyceum.EnrollmentID { return &e.ID },
		user:  func(e *row) lyceum.UserID { return e.User },
		key:   func(e *row) stay { return stay{e.User, e.Course, e.EnrolledAt.Unix()} },
		field: "enrolled_at", taken: "is already the id of enrollment %d of the same user and course",
		find: allEnrollments,
	}
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
			second, err := secondStays(tx, rows)
			return append(problems, second...), err
		},
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

// secondStays finds the rows that would be in a course a second time at once,
// and leaves enrollments the sales that they came with.
func secondStays(tx lyceum.Tx, rows []lyceum.Enrollment) (problems []lyceum.RowProblem, err error) {
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
		if e := &kept[i]; !e.EndedAt.Present && !said[e.ID] {
			open[stay{user: e.User, course: e.Course}] = e.ID
		}
	}
	for i := range rows {
		e, key := &rows[i], stay{user: rows[i].User, course: rows[i].Course}
		e.Sale = sales[e.ID] // which a file does not tell
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

// beginAll makes sure that there is a record of progress for each enrollment.
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

// ImportProgress begins an import of progress. A row without an id is the
// progress of that user in that course.
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
		look: rec.identify,
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.Progress.Save(tx, rows...)
		},
	}}
}

// step is a lecture that a user completed.
type step struct {
	user    lyceum.UserID
	lecture lyceum.LectureID
}

// ImportLectureProgress begins an import of completed lectures. A row without
// an id is that of the user and the lecture.
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
			more, err := rec.identify(tx, rows)
			return append(problems, more...), err
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.LectureProgress.Save(tx, rows...)
		},
	}}
}

// inTheirCourse finds the rows that name another course than their lecture's.
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

// answer is one response of a user to a quiz.
type answer struct {
	user lyceum.UserID
	quiz lyceum.QuizID
	at   int64
}

// ImportQuizResponses begins an import of responses to quizzes. A row without
// an id is that of the user, the quiz and the moment.
func (s *Service) ImportQuizResponses(by lyceum.By) *Rows[lyceum.QuizResponse] {
	type row = lyceum.QuizResponse
	rec := record[lyceum.QuizResponseID, row, answer]{
		next:  func(tx lyceum.Tx) (lyceum.QuizResponseID, error) { return tx.QuizResponses.NextID(tx) },
		id:    func(r *row) *lyceum.QuizResponseID { return &r.ID },
		user:  func(r *row) lyceum.UserID { return r.User },
		key:   func(r *row) answer { return answer{r.User, r.Quiz, r.SubmittedAt.Value.Unix()} },
		field: "submitted_at", taken: "is already response %d of the same user and quiz",
		find: allQuizResponses,
	}
	return &Rows[row]{s, by, shape[row]{
		what: "quiz responses",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(r *row) int32 { return int32(r.User) }},
			{"quiz_id", "quiz", lyceum.QuizSequence, func(r *row) int32 { return int32(r.Quiz) }},
		},
		look: rec.identify,
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.QuizResponses.Save(tx, rows...)
		},
	}}
}

// recounting saves what decides which lectures learners see, and counts anew
// what they have done of the courses where that changed.
func recounting[T any](
	tx lyceum.Tx, rows []T, of func(*T) lyceum.CourseID, save func(lyceum.Tx, ...T) (lyceum.Saved, error),
) (lyceum.Saved, error) {
	seen := map[lyceum.CourseID][]lyceum.Lecture{}
	var order []lyceum.CourseID
	for i := range rows {
		course := of(&rows[i])
		if _, there := seen[course]; there {
			continue
		}
		contents, err := contents(tx.Tables, tx, course)
		if err != nil {
			return lyceum.Saved{}, err
		}
		seen[course] = published(contents)
		order = append(order, course)
	}
	saved, err := save(tx, rows...)
	if err != nil || saved.Created+saved.Updated == 0 {
		return saved, err
	}
	for _, course := range order {
		contents, err := contents(tx.Tables, tx, course)
		if err != nil {
			return saved, err
		}
		if now := published(contents); !sameLectures(seen[course], now) {
			if err := recount(tx, course, now); err != nil {
				return saved, err
			}
		}
	}
	return saved, nil
}

func sameLectures(a, b []lyceum.Lecture) bool {
	ids := map[lyceum.LectureID]bool{}
	for _, l := range a {
		ids[l.ID] = true
	}
	for _, l := range b {
		if !ids[l.ID] {
			return false
		}
	}
	return len(a) == len(b)
}

// recount brings everybody's progress in a course up to date. Who completed
// the course keeps the moment they did.
func recount(tx lyceum.Tx, course lyceum.CourseID, lectures []lyceum.Lecture) error {
	all, err := lyceum.All(tx.Progress, tx, lyceum.ProgressFilter{Course: lyceum.Some(course)})
	if err != nil {
		return err
	}
	counts, err := tx.CountLectureProgress(course)
	if err != nil {
		return err
	}
	full, err := tx.Courses.Get(tx, course)
	if err != nil {
		return err
	}
	for i := range all {
		count := counts[all[i].User]
		advance(&all[i], &full, percent(count.Completed, len(lectures)), count.Last)
	}
	_, err = tx.Progress.Save(tx, all...)
	return err
}
