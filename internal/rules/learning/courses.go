package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Viewer is for whom the learning rules answer: a program of the school, which
// sees everything, or an app that acts for one learner, who sees what is
// published in courses that they are enrolled in.
type Viewer struct {
	School  lyceum.SchoolID
	Learner lyceum.Opt[lyceum.UserID]
	Actor   string // for the journal
}

// CourseDetail is a course with who it is by and what is in it.
type CourseDetail struct {
	lyceum.Course

	Author   lyceum.Opt[lyceum.AuthorProfile]
	School   string // its name
	Contents lyceum.Contents
}

// OpenV2 refuses a school for which the second version of the interface is
// switched off.
func (s *Service) OpenV2(ctx context.Context, id lyceum.SchoolID) error {
	school, err := s.store.GetSchool(ctx, id)
	if err == nil && school.V2Disabled {
		return lyceum.Errorf(lyceum.Forbidden, "version 2 of the interface, which is in beta, is off for this school; the operator of the server switches it on with: lyceum school set --school %d --v2 on", id)
	}
	return err
}

// Courses lists the courses that a viewer sees.
func (s *Service) Courses(ctx context.Context, v Viewer, f lyceum.CourseFilter, o lyceum.CourseOrder, p lyceum.Page) (lyceum.CourseListing, error) {
	if v.Learner.Present {
		if f.IsPublished.Present && !f.IsPublished.Value {
			return lyceum.CourseListing{Page: p}, nil // none that a learner sees
		}
		f.IsPublished, f.EnrolledUser, f.EnrolledAt = lyceum.Some(true), v.Learner, s.clock()
	}
	return s.store.FindCourses(ctx, v.School, f, o, p)
}

// Course shows a course.
func (s *Service) Course(ctx context.Context, v Viewer, id lyceum.CourseID) (CourseDetail, error) {
	course, err := s.see(ctx, v, id)
	if err != nil {
		return CourseDetail{}, err
	}
	detail := CourseDetail{Course: course}
	if detail.Contents, err = s.contents(ctx, v, id); err != nil {
		return CourseDetail{}, err
	}
	if course.AuthorID.Present {
		author, err := s.store.GetAuthor(ctx, v.School, course.AuthorID.Value)
		if err != nil {
			return CourseDetail{}, err
		}
		detail.Author = lyceum.Some(author)
		return detail, nil
	}
	school, err := s.store.GetSchool(ctx, v.School)
	detail.School = school.Name
	return detail, err
}

// see finds a course that a viewer sees.
func (s *Service) see(ctx context.Context, v Viewer, id lyceum.CourseID) (lyceum.Course, error) {
	course, err := s.store.GetCourse(ctx, v.School, id)
	if err != nil || !v.Learner.Present {
		return course, err
	}
	enrollments, err := s.store.FindUserEnrollments(ctx, v.School, v.Learner.Value)
	if err != nil {
		return lyceum.Course{}, err
	}
	if now := s.clock(); course.IsPublished {
		for i := range enrollments {
			if e := &enrollments[i]; e.Course == id && e.ActiveAt(now) {
				return course, nil
			}
		}
	}
	return lyceum.Course{}, lyceum.Errorf(lyceum.NotFound, "there is no course %d", id)
}

// contents gives the sections and lectures of a course that a viewer sees.
func (s *Service) contents(ctx context.Context, v Viewer, course lyceum.CourseID) (lyceum.Contents, error) {
	contents, err := s.store.GetContents(ctx, v.School, course)
	if err != nil || !v.Learner.Present {
		return contents, err
	}
	var seen lyceum.Contents
	for _, section := range contents.Sections {
		if section.IsPublished {
			seen.Sections = append(seen.Sections, section)
		}
	}
	seen.Lectures = published(contents)
	return seen, nil
}

// published gives the lectures that learners see, in order: those that are
// published in a section that is.
func published(c lyceum.Contents) []lyceum.Lecture {
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

// Lecture shows a lecture.
func (s *Service) Lecture(ctx context.Context, v Viewer, course lyceum.CourseID, id lyceum.LectureID) (LectureDetail, error) {
	detail, err := s.lecture(ctx, v, course, id)
	if err != nil {
		return LectureDetail{}, err
	}
	detail.Attachments, err = s.store.FindAttachments(ctx, v.School, id)
	return detail, err
}

// lecture finds a lecture that a viewer sees, without its attachments.
func (s *Service) lecture(ctx context.Context, v Viewer, course lyceum.CourseID, id lyceum.LectureID) (LectureDetail, error) {
	seen, err := s.see(ctx, v, course)
	if err != nil {
		return LectureDetail{}, err
	}
	contents, err := s.contents(ctx, v, course)
	if err != nil {
		return LectureDetail{}, err
	}
	for _, lecture := range contents.Lectures {
		if lecture.ID == id {
			return LectureDetail{Lecture: lecture, CourseName: seen.Name}, nil
		}
	}
	return LectureDetail{}, noLecture(course, id)
}

// Completion tells when a learner completed a lecture, if they did.
func (s *Service) Completion(ctx context.Context, v Viewer, course lyceum.CourseID, id lyceum.LectureID) (lyceum.Opt[time.Time], error) {
	if _, err := s.lecture(ctx, v, course, id); err != nil {
		return lyceum.None[time.Time](), err
	}
	done, err := s.store.FindLectureProgress(ctx, v.School, v.Learner.Value, course)
	if p, complete := done[id]; complete {
		return lyceum.Some(p.CompletedAt), err
	}
	return lyceum.None[time.Time](), err
}

func noLecture(course lyceum.CourseID, id lyceum.LectureID) error {
	return lyceum.Errorf(lyceum.NotFound, "there is no lecture %d in course %d", id, course)
}

// Attachment shows one attachment of a lecture, if it is of a kind.
func (s *Service) Attachment(ctx context.Context, v Viewer, course lyceum.CourseID, lecture lyceum.LectureID, id lyceum.AttachmentID, kind lyceum.AttachmentKind) (LectureDetail, lyceum.Attachment, error) {
	detail, err := s.Lecture(ctx, v, course, lecture)
	if err != nil {
		return LectureDetail{}, lyceum.Attachment{}, err
	}
	for _, a := range detail.Attachments {
		if a.ID == id && a.Kind == kind {
			return detail, a, nil
		}
	}
	return LectureDetail{}, lyceum.Attachment{}, lyceum.Errorf(lyceum.NotFound, "there is no %s %d in lecture %d", kind, id, lecture)
}

// QuizAnswers are what learners answered to a quiz: of each the latest, by
// user.
type QuizAnswers struct {
	Lecture   LectureDetail
	Quiz      lyceum.Quiz
	Responses []lyceum.AnsweredQuiz
}

// QuizResponses shows what learners answered to a quiz.
func (s *Service) QuizResponses(ctx context.Context, v Viewer, course lyceum.CourseID, lecture lyceum.LectureID, id lyceum.AttachmentID) (QuizAnswers, error) {
	detail, quiz, err := s.Attachment(ctx, v, course, lecture, id, lyceum.QuizAttachment)
	if err != nil || quiz.Quiz == nil {
		return QuizAnswers{Lecture: detail}, err
	}
	all, err := s.store.FindQuizResponses(ctx, v.School, quiz.Quiz.ID)
	if err != nil {
		return QuizAnswers{}, err
	}
	return QuizAnswers{Lecture: detail, Quiz: *quiz.Quiz, Responses: latest(all)}, nil
}
