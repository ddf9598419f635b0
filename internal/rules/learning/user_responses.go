package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// PlacedResponse is a response to a quiz, with the lecture and course of the quiz. Those that
// are deleted are included; if an import removed the quiz, they are absent.
type PlacedResponse struct {
	lyceum.QuizResponse

	Quiz    lyceum.Opt[lyceum.AttachmentID]
	Counted lyceum.Grade
	Lecture lyceum.Opt[lyceum.LectureID]
	Course  lyceum.Opt[lyceum.CourseID]

	LectureName, CourseName string
	QuizShown, LectureShown bool // neither it nor what contains it is deleted
}

// UserResponses lists the responses of a user to quizzes. It fails with NotFound, also for an
// unknown lecture or course in the filter.
func (s *Service) UserResponses(
	ctx context.Context, by lyceum.By, f lyceum.QuizResponseFilter, p lyceum.Page,
) (lyceum.Listing[PlacedResponse], error) {
	l := lyceum.Listing[PlacedResponse]{Page: p}
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if err := named(v, f); err != nil {
			return err
		}
		found, err := v.QuizResponses.List(v, f, p)
		if err != nil {
			return err
		}
		l.Total, l.More = found.Total, found.More
		l.Rows, err = located(v, found.Rows)
		return err
	})
	return l, err
}

// named rejects a filter that names something that does not exist.
func named(v lyceum.View, f lyceum.QuizResponseFilter) error {
	if _, err := v.Users.Get(v, f.User.Value); err != nil {
		return err
	}
	if f.Lecture.Present {
		if _, err := liveLecture(v.Tables, v, f.Lecture.Value); err != nil {
			return err
		}
	}
	if f.Course.Present {
		if _, err := v.Courses.Get(v, f.Course.Value); err != nil {
			return err
		}
	}
	return nil
}

// located adds to responses where their quizzes are.
func located(v lyceum.View, responses []lyceum.QuizResponse) ([]PlacedResponse, error) {
	quizzes, err := quizzesOf(v, responses)
	if err != nil {
		return nil, err
	}
	var lectureIDs []lyceum.LectureID
	for _, quiz := range quizzes {
		lectureIDs = append(lectureIDs, quiz.Lecture)
	}
	lectures, err := v.Lectures.Find(v, lectureIDs...)
	if err != nil {
		return nil, err
	}
	var courseIDs []lyceum.CourseID
	for _, lecture := range lectures {
		courseIDs = append(courseIDs, lecture.Course)
	}
	courses, err := v.Courses.Find(v, courseIDs...)
	rows := make([]PlacedResponse, len(responses))
	for i, r := range responses {
		quiz, there := quizzes[r.Quiz]
		rows[i] = PlacedResponse{QuizResponse: r, Counted: r.Grade(quiz.Quiz)}
		if !there {
			continue
		}
		lecture := lectures[quiz.Lecture]
		row := &rows[i]
		row.Quiz, row.Lecture, row.Course = lyceum.Some(quiz.ID), lyceum.Some(lecture.ID), lyceum.Some(lecture.Course)
		row.LectureName, row.CourseName = lecture.Name.Value, courses[lecture.Course].Name
		row.LectureShown = !lecture.ArchivedAt.Present
		row.QuizShown = row.LectureShown && !quiz.ArchivedAt.Present
	}
	return rows, err
}

// quizzesOf returns the quizzes of responses, including deleted ones.
func quizzesOf(v lyceum.View, responses []lyceum.QuizResponse) (map[lyceum.QuizID]lyceum.Attachment, error) {
	found := map[lyceum.QuizID]lyceum.Attachment{}
	wanted := map[lyceum.QuizID]bool{}
	f := lyceum.AttachmentFilter{Quizzes: []lyceum.QuizID{}}
	for i := range responses {
		if quiz := responses[i].Quiz; !wanted[quiz] {
			wanted[quiz] = true
			f.Quizzes = append(f.Quizzes, quiz)
		}
	}
	if len(f.Quizzes) == 0 {
		return found, nil
	}
	err := v.Attachments.Each(v, f, func(a *lyceum.Attachment) error {
		found[a.Quiz.ID] = *a
		return nil
	})
	return found, err
}
