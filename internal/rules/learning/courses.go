package learning

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// CourseDetail is a course with its author and its contents.
type CourseDetail struct {
	lyceum.Course

	Author   lyceum.Opt[lyceum.AuthorProfile]
	School   string // the school's name, if the course has no author
	Contents Contents
}

// OpenV2 rejects a school for which version 2 of the API is switched off. Switching it on takes
// effect immediately; switching it off, once the caller's key is looked up again.
func (s *Service) OpenV2(ctx context.Context, by lyceum.By) error {
	if by.V2 {
		return nil
	}
	school, err := s.store.In(ctx, by.School).GetSchool()
	if err == nil && school.V2Disabled {
		return lyceum.Errorf(
			lyceum.Forbidden,
			"version 2 of the interface, which is in beta, is off for this school; the server's operator enables it with: "+
				"lyceum school set --school %d --v2 on",
			by.School,
		)
	}
	return err
}

// CourseProducts returns the rules for courses as products of the school.
func (s *Service) CourseProducts() Products[lyceum.CourseID, lyceum.Course, lyceum.CourseFilter] {
	type row = lyceum.Course
	return Products[lyceum.CourseID, row, lyceum.CourseFilter]{
		service: s, what: "course", author: "author_id", check: sound,
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.CourseID, row, lyceum.CourseFilter] { return t.Courses },
		parts: func(c *row) productParts[lyceum.CourseID] {
			return productParts[lyceum.CourseID]{&c.ID, &c.CreatedAt, &c.UpdatedAt, &c.ArchivedAt, &c.AuthorID, &c.ImageURL}
		},
	}
}

// Courses lists the courses that the viewer can see.
func (s *Service) Courses(
	ctx context.Context, by lyceum.By, f lyceum.CourseFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.Course], error) {
	if by.Learner.Present {
		if f.IsPublished.Present && !f.IsPublished.Value {
			return lyceum.Listing[lyceum.Course]{Page: p}, nil // learners see only published courses
		}
		f.IsPublished, f.EnrolledUser, f.EnrolledAt = lyceum.Some(true), by.Learner, s.clock()
	}
	v := s.store.In(ctx, by.School)
	return v.Courses.List(v, f, p)
}

// Course returns a course.
func (s *Service) Course(ctx context.Context, by lyceum.By, id lyceum.CourseID) (CourseDetail, error) {
	var detail CourseDetail
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		if detail.Course, err = see(v, by, id, s.clock()); err != nil {
			return err
		}
		if detail.Contents, err = seenContents(v, by, id); err != nil || !detail.AuthorID.Present {
			return err
		}
		author, err := v.Authors.Get(v, detail.AuthorID.Value)
		detail.Author = lyceum.Some(author)
		return err
	})
	if err == nil && !detail.Author.Present {
		var school lyceum.School
		school, err = s.store.In(ctx, by.School).GetSchool()
		detail.School = school.Name
	}
	if err != nil {
		return CourseDetail{}, err
	}
	return detail, nil
}

// see returns a course if the viewer can see it.
func see(v lyceum.View, by lyceum.By, id lyceum.CourseID, now time.Time) (lyceum.Course, error) {
	course, err := v.Courses.Get(v, id)
	if err != nil || !by.Learner.Present {
		return course, err
	}
	enrolled, err := hasAccess(v.Tables, v, by.Learner.Value, id.Product(), now)
	if err == nil && (!enrolled || !course.IsPublished) {
		err = lyceum.Errorf(lyceum.NotFound, "there is no course %d", id)
	}
	if err != nil {
		return lyceum.Course{}, err
	}
	return course, nil
}

// Contents are the sections and lectures of a course, each in the order in which learners go
// through them.
type Contents struct {
	Sections []lyceum.LectureSection
	Lectures []lyceum.Lecture
}

// contents returns the contents of a course. A course that does not exist has none.
func contents(t *lyceum.Tables, from lyceum.Source, course lyceum.CourseID) (Contents, error) {
	sections, err := lyceum.All(t.LectureSections, from, lyceum.LectureSectionFilter{Course: lyceum.Some(course)})
	if err != nil {
		return Contents{}, err
	}
	place := map[lyceum.LectureSectionID]int{}
	for i := range sections {
		place[sections[i].ID] = i
	}
	lectures, err := lyceum.All(t.Lectures, from, lyceum.LectureFilter{
		Course: lyceum.Some(course), IsArchived: lyceum.Some(false),
	})
	slices.SortStableFunc(lectures, func(a, b lyceum.Lecture) int { return place[a.Section] - place[b.Section] })
	return Contents{Sections: sections, Lectures: lectures}, err
}

// seenContents returns the contents of a course that the viewer can see.
func seenContents(v lyceum.View, by lyceum.By, course lyceum.CourseID) (Contents, error) {
	all, err := contents(v.Tables, v, course)
	if err != nil || !by.Learner.Present {
		return all, err
	}
	var seen Contents
	for _, section := range all.Sections {
		if section.IsPublished {
			seen.Sections = append(seen.Sections, section)
		}
	}
	seen.Lectures = published(all)
	return seen, nil
}

// published returns the lectures that learners see, in order: published lectures in published
// sections.
func published(c Contents) []lyceum.Lecture {
	open := map[lyceum.LectureSectionID]bool{}
	for _, section := range c.Sections {
		open[section.ID] = section.IsPublished
	}
	var seen []lyceum.Lecture
	for _, lecture := range c.Lectures {
		if lecture.IsPublished && open[lecture.Section] {
			seen = append(seen, lecture)
		}
	}
	return seen
}

// LectureDetail is a lecture with its attachments.
type LectureDetail struct {
	lyceum.Lecture

	CourseName  string
	Attachments []lyceum.Attachment
}

// Lecture returns a lecture.
func (s *Service) Lecture(
	ctx context.Context, by lyceum.By, course lyceum.CourseID, id lyceum.LectureID,
) (LectureDetail, error) {
	var detail LectureDetail
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		detail, err = s.lecture(v, by, course, id)
		return err
	})
	return detail, err
}

// lecture returns a lecture if the viewer can see it.
func (s *Service) lecture(
	v lyceum.View, by lyceum.By, course lyceum.CourseID, id lyceum.LectureID,
) (LectureDetail, error) {
	detail, err := bareLecture(v, by, course, id, s.clock())
	if err != nil {
		return LectureDetail{}, err
	}
	detail.Attachments, err = lyceum.All(v.Attachments, v, seenAttachments(by, id))
	s.linkFiles(by, detail.Attachments...)
	return detail, err
}

// bareLecture returns a lecture without its attachments, if the viewer can see it.
func bareLecture(
	v lyceum.View, by lyceum.By, course lyceum.CourseID, id lyceum.LectureID, now time.Time,
) (LectureDetail, error) {
	seen, err := see(v, by, course, now)
	if err != nil {
		return LectureDetail{}, err
	}
	lecture, err := v.Lectures.Get(v, id)
	switch {
	case lyceum.KindOf(err) == lyceum.NotFound || err == nil && !isIn(&lecture, course):
		return LectureDetail{}, noLecture(course, id)
	case err != nil:
		return LectureDetail{}, err
	}
	if by.Learner.Present {
		section, err := v.LectureSections.Get(v, lecture.Section)
		if err != nil {
			return LectureDetail{}, err
		}
		if !lecture.IsPublished || !section.IsPublished {
			return LectureDetail{}, noLecture(course, id)
		}
	}
	return LectureDetail{Lecture: lecture, CourseName: seen.Name}, nil
}

// Completion returns when a user completed a lecture, if they did.
func (s *Service) Completion(
	ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID, id lyceum.LectureID,
) (lyceum.Opt[time.Time], error) {
	var at lyceum.Opt[time.Time]
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := bareLecture(v, by, course, id, s.clock()); err != nil {
			return err
		}
		if _, err := v.Users.Get(v, user); err != nil {
			return err
		}
		done, err := completed(v.Tables, v, user, course)
		if p, complete := done[id]; complete {
			at = lyceum.Some(p.CompletedAt)
		}
		return err
	})
	return at, err
}

// isIn reports whether a lecture is in a course and not deleted.
func isIn(l *lyceum.Lecture, course lyceum.CourseID) bool {
	return l.Course == course && !l.ArchivedAt.Present
}

// attachmentsOf selects the attachments of a lecture that are not deleted.
func attachmentsOf(lecture lyceum.LectureID) lyceum.AttachmentFilter {
	return lyceum.AttachmentFilter{Lecture: lyceum.Some(lecture), IsArchived: lyceum.Some(false)}
}

// seenAttachments selects those that the viewer can see.
func seenAttachments(by lyceum.By, lecture lyceum.LectureID) lyceum.AttachmentFilter {
	f := attachmentsOf(lecture)
	f.Published = by.Learner.Present
	return f
}

func noLecture(course lyceum.CourseID, id lyceum.LectureID) error {
	return lyceum.Errorf(lyceum.NotFound, "there is no lecture %d in course %d", id, course)
}

// Attachment returns one attachment of a lecture, and its lecture, if it is of the given kind.
func (s *Service) Attachment(
	ctx context.Context, by lyceum.By, course lyceum.CourseID, lecture lyceum.LectureID,
	id lyceum.AttachmentID, kind lyceum.AttachmentKind,
) (LectureDetail, lyceum.Attachment, error) {
	var detail LectureDetail
	var attachment lyceum.Attachment
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		detail, attachment, err = s.attachment(v, by, course, lecture, id, kind)
		return err
	})
	return detail, attachment, err
}

func (s *Service) attachment(
	v lyceum.View, by lyceum.By, course lyceum.CourseID, lecture lyceum.LectureID,
	id lyceum.AttachmentID, kind lyceum.AttachmentKind,
) (LectureDetail, lyceum.Attachment, error) {
	detail, err := s.lecture(v, by, course, lecture)
	if err != nil {
		return LectureDetail{}, lyceum.Attachment{}, err
	}
	for _, a := range detail.Attachments {
		if a.ID == id && a.Kind == kind {
			return detail, a, nil
		}
	}
	return LectureDetail{}, lyceum.Attachment{}, lyceum.Errorf(
		lyceum.NotFound, "there is no %s %d in lecture %d", kind, id, lecture,
	)
}

// QuizAnswers are the responses of learners to a quiz: the latest of each learner, ordered by
// user.
type QuizAnswers struct {
	Lecture   LectureDetail
	Quiz      lyceum.Quiz
	Responses []AnsweredQuiz
}

// AnsweredQuiz is a response with the user who gave it.
type AnsweredQuiz struct {
	lyceum.QuizResponse

	UserName  lyceum.Opt[string]
	UserEmail string
}

// QuizResponses returns the responses of learners to a quiz.
func (s *Service) QuizResponses(
	ctx context.Context, by lyceum.By, course lyceum.CourseID, lecture lyceum.LectureID, id lyceum.AttachmentID,
) (QuizAnswers, error) {
	var answers QuizAnswers
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		detail, quiz, err := s.attachment(v, by, course, lecture, id, lyceum.QuizAttachment)
		if err != nil {
			return err
		}
		answers.Lecture = detail
		if quiz.Quiz == nil {
			return nil
		}
		answers.Quiz = *quiz.Quiz
		var all []lyceum.QuizResponse
		of := lyceum.QuizResponseFilter{Quiz: lyceum.Some(quiz.Quiz.ID)}
		err = v.QuizResponses.Each(v, of, func(r *lyceum.QuizResponse) error {
			row := *r
			row.Answers = lyceum.None[lyceum.GivenAnswers]() // not shown here
			all = append(all, row)
			return nil
		})
		if err != nil {
			return err
		}
		answers.Responses, err = withUsers(v, quiz.Quiz.ID, latest(all))
		return err
	})
	return answers, err
}

// withUsers adds to responses the users who gave them.
func withUsers(v lyceum.View, quiz lyceum.QuizID, responses []lyceum.QuizResponse) ([]AnsweredQuiz, error) {
	users := map[lyceum.UserID]lyceum.User{}
	err := v.Users.Each(v, lyceum.UserFilter{Answered: lyceum.Some(quiz)}, func(u *lyceum.User) error {
		users[u.ID] = *u
		return nil
	})
	if err != nil {
		return nil, err
	}
	answered := make([]AnsweredQuiz, len(responses))
	for i, r := range responses {
		answered[i] = AnsweredQuiz{QuizResponse: r, UserName: users[r.User].Name, UserEmail: users[r.User].Email}
	}
	return answered, nil
}
