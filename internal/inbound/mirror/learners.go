package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// learner is what is copied of one user.
type learner struct {
	user            lyceum.User
	tags            lyceum.UserTags
	enrollments     []lyceum.Enrollment
	progress        []lyceum.Progress
	lectureProgress []lyceum.LectureProgress
}

// learners copies what each user's own page contains: role, source, tags, enrollments, and
// the progress in each course.
func (m *mirror) learners(ctx context.Context) error {
	return m.userPages(ctx, func(page []gen.UserSummary) error {
		ids := make([]int32, len(page))
		for i := range page {
			ids[i] = page[i].ID
		}
		return m.someLearners(ctx, ids)
	})
}

func (m *mirror) someLearners(ctx context.Context, ids []int32) error {
	all := make([]learner, len(ids))
	err := together(ctx, len(ids), m.Parallel, func(ctx context.Context, i int) (err error) {
		all[i], err = m.learner(ctx, ids[i])
		return err
	})
	if err != nil {
		return err
	}
	return m.keepLearners(ctx, slices.DeleteFunc(all, func(l learner) bool { return l.user.ID == 0 }))
}

func (m *mirror) learner(ctx context.Context, id int32) (learner, error) {
	var d gen.UserDetail
	found, err := m.listed(ctx, fmt.Sprintf("user %d", id), fmt.Sprintf("/v1/users/%d", id), &d)
	if !found {
		return learner{}, err
	}
	l := learner{
		user: lyceum.User{
			ID: lyceum.UserID(id), Email: d.Email, Name: wire.Opt(d.Name), Role: lyceum.Role(d.Role), Src: wire.Opt(d.Src),
			LastSignInIP: wire.Opt(d.LastSignInIP),
		},
		tags: lyceum.UserTags{User: lyceum.UserID(id)},
	}
	for _, tag := range d.Tags {
		l.tags.Tags = append(l.tags.Tags, tag.Name)
	}
	for _, c := range slices.Backward(d.Courses) { // the oldest first, so that ids grow with time
		e := lyceum.Enrollment{User: l.user.ID, Course: lyceum.CourseID(c.CourseID), EnrolledAt: c.EnrolledAt}
		if !c.IsActiveEnrollment { // the API does not say when it ended
			e.EndedAt = lyceum.Some(c.EnrolledAt)
		}
		l.enrollments = append(l.enrollments, e)
		if err := m.studied(ctx, &l, e.Course); err != nil {
			return learner{}, err
		}
	}
	return l, nil
}

// studied requests a learner's progress in a course.
func (m *mirror) studied(ctx context.Context, l *learner, course lyceum.CourseID) error {
	row := lyceum.Progress{User: l.user.ID, Course: course}
	path := fmt.Sprintf("/v1/courses/%d/progress", course)
	query := url.Values{"user_id": {strconv.Itoa(int(l.user.ID))}}
	err := pages(ctx, m.client, path, query, func(one *gen.OneCourseProgress) (*gen.PaginationMeta, int, error) {
		p := &one.CourseProgress
		row.ID, row.PercentComplete, row.CompletedAt = lyceum.ProgressID(p.ID), p.PercentComplete, wire.Opt(p.CompletedAt)
		if c := p.Certificate; c.IssuedAt != nil && c.PageID != nil && c.SerialNumber != nil {
			row.Certificate = lyceum.Some(lyceum.Certificate{
				IssuedAt: *c.IssuedAt, PageID: *c.PageID, SerialNumber: *c.SerialNumber,
			})
		}
		for _, section := range p.LectureSections {
			for _, lecture := range section.Lectures {
				if lecture.IsCompleted && lecture.CompletedAt != nil {
					l.lectureProgress = append(l.lectureProgress, lyceum.LectureProgress{
						User: l.user.ID, Course: course, Lecture: lyceum.LectureID(lecture.ID), CompletedAt: *lecture.CompletedAt,
					})
				}
			}
		}
		return &one.Meta, len(p.LectureSections), nil
	})
	if errors.Is(err, errNotThere) {
		return nil
	}
	l.progress = append(l.progress, row)
	return err
}

// keepLearners saves progress before enrollments, which would otherwise create their own
// progress.
func (m *mirror) keepLearners(ctx context.Context, all []learner) error {
	var users []lyceum.User
	var tags []lyceum.UserTags
	var enrollments []lyceum.Enrollment
	var progress []lyceum.Progress
	var lectures []lyceum.LectureProgress
	for _, l := range all {
		users, tags = append(users, l.user), append(tags, l.tags)
		enrollments, progress = append(enrollments, l.enrollments...), append(progress, l.progress...)
		lectures = append(lectures, l.lectureProgress...)
	}
	if err := m.keepUsers(ctx, users); err != nil {
		return err
	}
	if err := keep(
		ctx, m, m.People.ImportTags(m.by()), "tags of user",
		func(t *lyceum.UserTags) string { return strconv.Itoa(int(t.User)) }, tags...,
	); err != nil {
		return err
	}
	enrollments, err := m.news(ctx, enrollments)
	if err != nil {
		return err
	}
	if err := m.adopt(ctx, progress); err != nil {
		return err
	}
	inCourse := func(user lyceum.UserID, course lyceum.CourseID) string {
		return fmt.Sprintf("of user %d in course %d", user, course)
	}
	if err := keep(
		ctx, m, m.Learning.ImportProgress(m.by()), "progress",
		func(p *lyceum.Progress) string { return inCourse(p.User, p.Course) }, progress...,
	); err != nil {
		return err
	}
	if err := keep(
		ctx, m, m.Learning.ImportEnrollments(m.by()), "enrollment",
		func(e *lyceum.Enrollment) string { return inCourse(e.User, e.Course) }, enrollments...,
	); err != nil {
		return err
	}
	to := m.Learning.ImportLectureProgress(m.by())
	return keep(ctx, m, to, "completed lecture", func(p *lyceum.LectureProgress) string {
		return fmt.Sprintf("%d of user %d", p.Lecture, p.User)
	}, lectures...)
}

// adopt sets the ids of progress that exists in the copy already to those that it has there. If the
// copy has the id of other progress for something else, that gets a new one.
func (m *mirror) adopt(ctx context.Context, rows []lyceum.Progress) error {
	v := m.Store.In(ctx, m.School)
	type place struct {
		user   lyceum.UserID
		course lyceum.CourseID
	}
	here := map[place]lyceum.ProgressID{}
	users := make([]lyceum.UserID, len(rows))
	for i := range rows {
		users[i] = rows[i].User
	}
	for some := range slices.Chunk(users, lyceum.MaxUsers) {
		err := v.Progress.Each(v, lyceum.ProgressFilter{Users: some}, func(p *lyceum.Progress) error {
			here[place{p.User, p.Course}] = p.ID
			return nil
		})
		if err != nil {
			return err
		}
	}
	ids := make([]lyceum.ProgressID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	taken, err := v.Progress.Find(v, ids...)
	for i := range rows {
		if id, began := here[place{rows[i].User, rows[i].Course}]; began {
			rows[i].ID = id
		} else if _, there := taken[rows[i].ID]; there {
			rows[i].ID = 0
		}
	}
	return err
}

// news returns the changes in the latest enrollments. The other server only returns a
// user's latest enrollment in each course: an enrollment that is open in the copy has
// ended if there is a later one. It does not say there when one expires, so an enrollment
// that is still open stays as it is.
func (m *mirror) news(ctx context.Context, latest []lyceum.Enrollment) (rows []lyceum.Enrollment, err error) {
	v := m.Store.In(ctx, m.School)
	for _, e := range latest {
		kept, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{User: lyceum.Some(e.User)})
		if err != nil {
			return nil, err
		}
		known := false
		for _, old := range kept {
			switch open := old.Course == e.Course && !old.EndedAt.Present; {
			case open && old.EnrolledAt.Before(e.EnrolledAt):
				old.EndedAt = lyceum.Some(e.EnrolledAt)
				rows = append(rows, old)
			case open && old.EnrolledAt.Equal(e.EnrolledAt) && !e.EndedAt.Present:
				known = true
			}
		}
		if !known {
			rows = append(rows, e)
		}
	}
	return rows, nil
}

// enrollments adds the times at which active enrollments expire. New enrollments come
// first and move the others to later pages, so that none is missed.
func (m *mirror) enrollments(ctx context.Context) error {
	ids, err := m.courseIDs(ctx)
	if err != nil {
		return err
	}
	to := m.Learning.ImportEnrollments(m.by())
	for _, course := range ids {
		if int64(course) <= m.State.Cursor {
			continue
		}
		path := fmt.Sprintf("/v1/courses/%d/enrollments", course)
		err := pages(ctx, m.client, path, nil, func(list *gen.EnrollmentList) (*gen.PaginationMeta, int, error) {
			if err := m.lateLearners(ctx, lyceum.CourseID(course), list.Enrollments); err != nil {
				return nil, 0, err
			}
			var rows []lyceum.Enrollment
			for _, e := range list.Enrollments {
				rows = append(rows, lyceum.Enrollment{
					User: lyceum.UserID(e.UserID), Course: lyceum.CourseID(course), EnrolledAt: e.EnrolledAt,
					ExpiresAt: wire.Opt(e.ExpiresAt),
				})
			}
			return &list.Meta, len(list.Enrollments), keep(
				ctx, m, to, "enrollment",
				func(e *lyceum.Enrollment) string { return fmt.Sprintf("of user %d in course %d", e.User, e.Course) }, rows...,
			)
		})
		if err != nil && !errors.Is(err, errNotThere) { // a course that was deleted since
			return err
		}
		if err := m.reached(ctx, int64(course)); err != nil {
			return err
		}
	}
	return nil
}

// lateLearners copies those who enrolled in a course after the learners were copied: an
// enrollment without its progress would create progress with a different id than on the
// other server.
func (m *mirror) lateLearners(ctx context.Context, course lyceum.CourseID, list []gen.Enrollment) error {
	v := m.Store.In(ctx, m.School)
	type begin struct {
		user lyceum.UserID
		at   int64
	}
	here := map[begin]bool{}
	users := make([]lyceum.UserID, len(list))
	for i := range list {
		users[i] = lyceum.UserID(list[i].UserID)
	}
	for some := range slices.Chunk(users, lyceum.MaxUsers) {
		kept := lyceum.EnrollmentFilter{Users: some, Course: lyceum.Some(course)}
		err := v.Enrollments.Each(v, kept, func(e *lyceum.Enrollment) error {
			here[begin{e.User, e.EnrolledAt.Unix()}] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	var late []int32
	for _, e := range list {
		if !here[begin{lyceum.UserID(e.UserID), e.EnrolledAt.Unix()}] {
			late = append(late, e.UserID)
		}
	}
	return m.someLearners(ctx, late)
}

// ofKnown leaves out responses of users who don't exist here: they are new, and the next
// run finds them, or they were erased there.
func (m *mirror) ofKnown(
	ctx context.Context, quiz lyceum.QuizID, list []gen.QuizResponse,
) (rows []lyceum.QuizResponse, err error) {
	ids := make([]lyceum.UserID, len(list))
	for i := range list {
		ids[i] = lyceum.UserID(list[i].StudentID)
	}
	v := m.Store.In(ctx, m.School)
	known, err := v.UserSummaries.Find(v, ids...)
	for i, r := range list {
		if _, here := known[ids[i]]; here {
			rows = append(rows, lyceum.QuizResponse{
				Quiz: quiz, User: ids[i], SubmittedAt: wire.Opt(r.SubmittedAt), PercentCorrect: wire.Opt(r.PercentCorrect),
			})
		}
	}
	return rows, err
}

// responses copies what learners answered in each copied quiz. Erased users who bought
// something exist already: the transactions created them.
func (m *mirror) responses(ctx context.Context) error {
	courses := map[lyceum.LectureID]lyceum.CourseID{}
	v := m.Store.In(ctx, m.School)
	err := v.Lectures.Each(
		v, lyceum.LectureFilter{}, func(l *lyceum.Lecture) error { courses[l.ID] = l.Course; return nil },
	)
	if err != nil {
		return err
	}
	var quizzes []lyceum.Attachment
	err = v.Attachments.Each(v, lyceum.AttachmentFilter{}, func(a *lyceum.Attachment) error {
		if a.Quiz != nil && int64(a.ID) > m.State.Cursor {
			quizzes = append(quizzes, *a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	to := m.Learning.ImportQuizResponses(m.by())
	for _, quiz := range quizzes {
		var list gen.QuizResponseList
		err := m.client.get(
			ctx, fmt.Sprintf("/v1/courses/%d/lectures/%d/quizzes/%d/responses", courses[quiz.Lecture], quiz.Lecture, quiz.ID),
			nil, &list,
		)
		if err != nil && !errors.Is(err, errNotThere) {
			return err
		}
		rows, err := m.ofKnown(ctx, quiz.Quiz.ID, list.QuizResponses.Responses)
		if err != nil {
			return err
		}
		if err := keep(
			ctx, m, to, "response",
			func(r *lyceum.QuizResponse) string { return fmt.Sprintf("of user %d to quiz %d", r.User, r.Quiz) }, rows...,
		); err != nil {
			return err
		}
		if err := m.reached(ctx, int64(quiz.ID)); err != nil {
			return err
		}
	}
	return nil
}
