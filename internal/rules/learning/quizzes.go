package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// QuizzesOf selects the quizzes of a lecture, and their order.
type QuizzesOf struct {
	Lecture InCourse[lyceum.LectureID]
	Order   lyceum.CourseOrder
}

// Quizzes lists the quizzes of a lecture that the viewer can see. It fails with NotFound.
func (s *Service) Quizzes(
	ctx context.Context, by lyceum.By, q QuizzesOf, p lyceum.Page,
) (lyceum.Listing[AttachmentDetail], error) {
	var l lyceum.Listing[lyceum.Attachment]
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		var err error
		if by.Learner.Present {
			_, err = bareLecture(v, by, q.Lecture.Course, q.Lecture.ID, s.clock())
		} else {
			_, err = lectureIn(v.Tables, v, q.Lecture)
		}
		if err != nil {
			return err
		}
		f := seenAttachments(by, q.Lecture.ID)
		f.Kind, f.Order = lyceum.Some(lyceum.QuizAttachment), lyceum.Some(q.Order)
		l, err = v.Attachments.List(v, f, p)
		return err
	})
	return lyceum.Listing[AttachmentDetail]{
		Page: l.Page, Total: l.Total, More: l.More, Rows: inCourse(q.Lecture.Course, l.Rows...),
	}, err
}

// OneQuiz returns a quiz of a lecture, if the viewer can see it. It fails with NotFound.
func (s *Service) OneQuiz(ctx context.Context, by lyceum.By, q InLecture) (a AttachmentDetail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		a.Attachment, err = seenQuiz(v, by, q, s.clock())
		a.Course = q.Lecture.Course
		return err
	})
	return a, err
}

func quizIn(t *lyceum.Tables, from lyceum.Source, q InLecture) (lyceum.Attachment, error) {
	if _, err := lectureIn(t, from, q.Lecture); err != nil {
		return lyceum.Attachment{}, err
	}
	found, err := t.Attachments.Get(from, q.ID)
	other := found.Lecture != q.Lecture.ID || found.Kind != lyceum.QuizAttachment || found.ArchivedAt.Present
	if err == nil && other || lyceum.KindOf(err) == lyceum.NotFound {
		err = noQuiz(q)
	}
	return found, err
}

// DeleteQuiz deletes a quiz of a lecture. Responses to it are kept. It fails with NotFound.
func (s *Service) DeleteQuiz(ctx context.Context, by lyceum.By, q InLecture) error {
	now := lyceum.Second(s.clock())
	_, err := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Attachment, error) {
		row, err := quizIn(tx.Tables, tx, q)
		if err != nil {
			return row, err
		}
		row.ArchivedAt, row.UpdatedAt = lyceum.Some(now), now
		return row, tx.Attachments.Update(tx, row)
	})
	return err
}
