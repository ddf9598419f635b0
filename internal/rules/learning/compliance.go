package learning

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// ComplianceChange is a change to what a course requires of its learners. Absent fields stay
// unchanged.
type ComplianceChange struct {
	Course   lyceum.CourseID
	Order    lyceum.Opt[bool] // whether lectures must be completed in order
	Template lyceum.Opt[int32]
	Videos   lyceum.Opt[bool]
	Quizzes  lyceum.Opt[bool]
	Issues   lyceum.Opt[bool]
	Score    lyceum.Opt[lyceum.Opt[float64]]
	Retakes  lyceum.Opt[lyceum.Opt[int32]]
}

// SetCompliance changes what a course requires of its learners and what its certificates are
// made from. It fails with NotFound, and with Invalid for requirements that contradict each
// other and for an unknown template.
func (s *Service) SetCompliance(ctx context.Context, by lyceum.By, q ComplianceChange) error {
	now := lyceum.Second(s.clock())
	return s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		c, err := tx.Courses.Get(tx, q.Course)
		if err != nil {
			return err
		}
		before := c
		c.LectureOrder = q.Order.Else(c.LectureOrder)
		change(&c.Compliance.Videos, q.Videos, false)
		change(&c.Compliance.Quizzes, q.Quizzes, false)
		change(&c.Compliance.Issues, q.Issues, true)
		c.Compliance.Score = q.Score.Else(c.Compliance.Score)
		c.Compliance.Retakes = q.Retakes.Else(c.Compliance.Retakes)
		if q.Template.Present && q.Template != c.Certificate {
			if err := knownTemplate(tx, q.Template.Value); err != nil {
				return err
			}
			c.Certificate = q.Template
		}
		if wrong := unordered(&c); wrong != nil || c == before {
			return wrong
		}
		c.UpdatedAt = now
		return tx.Courses.Update(tx, c)
	})
}

// change sets an option if a value is requested that differs from the present one. An absent
// option has the usual value.
func change(to *lyceum.Opt[bool], wanted lyceum.Opt[bool], usual bool) {
	if wanted.Present && wanted.Value != to.Else(usual) {
		*to = wanted
	}
}

// knownTemplate rejects a certificate page that the school does not have: it has the default one
// and those of its courses.
func knownTemplate(tx lyceum.Tx, page int32) error {
	if page == lyceum.DefaultCertificate {
		return nil
	}
	_, found, err := tx.Courses.First(tx, lyceum.CourseFilter{Certificate: lyceum.Some(page)})
	if err == nil && !found {
		err = lyceum.InvalidFields(lyceum.FieldError{
			Field: "certificate_settings.template_id", Message: fmt.Sprintf(
				"%d matches no certificate page of this school; %d is the default one", page, lyceum.DefaultCertificate),
		})
	}
	return err
}

// sound rejects a course whose requirements contradict each other, or whose friendly URL is
// taken.
func sound(tx lyceum.Tx, c *lyceum.Course) error {
	if err := unordered(c); err != nil {
		return err
	}
	return addressed(tx, c)
}

// unordered rejects requirements on videos and quizzes if lectures may be completed in any
// order.
func unordered(c *lyceum.Course) error {
	if c.LectureOrder || !c.Compliance.Videos.Value && !c.Compliance.Quizzes.Value {
		return nil
	}
	return lyceum.InvalidFields(lyceum.FieldError{
		Field:   "requirements.lecture_order_required",
		Message: "must be true where video_completion_enforced or quiz_pass_required is",
	})
}

// quizzesPassed rejects the completion of a lecture before its graded quizzes are passed, if the
// course requires that.
func quizzesPassed(tx lyceum.Tx, course *lyceum.Course, user lyceum.UserID, lecture lyceum.LectureID) error {
	if !course.Compliance.Quizzes.Value {
		return nil
	}
	parts, err := lyceum.All(tx.Attachments, tx, attachmentsOf(lecture))
	if err != nil {
		return err
	}
	passed := map[lyceum.QuizID]bool{}
	of := lyceum.QuizResponseFilter{Users: []lyceum.UserID{user}}
	err = tx.QuizResponses.Each(tx, of, func(r *lyceum.QuizResponse) error {
		passed[r.Quiz] = passed[r.Quiz] || course.Compliance.Passes(r)
		return nil
	})
	for i := range parts {
		if quiz := parts[i].Quiz; err == nil && quiz != nil && parts[i].IsPublished.Else(true) && graded(quiz) &&
			!passed[quiz.ID] {
			return &lyceum.Error{Kind: lyceum.Conflict, Code: "unmet_requirements", Detail: fmt.Sprintf(
				"quiz %d of lecture %d must be passed first", parts[i].ID, lecture,
			)}
		}
	}
	return err
}

// graded reports whether any question of a quiz is graded.
func graded(q *lyceum.Quiz) bool {
	for i := range q.Questions {
		if q.Questions[i].Graded {
			return true
		}
	}
	return false
}

// retakable rejects another response to a quiz by a user who has no retakes left.
func retakable(tx lyceum.Tx, quiz *lyceum.Attachment, user lyceum.UserID) error {
	lecture, err := tx.Lectures.Get(tx, quiz.Lecture)
	if err != nil {
		return err
	}
	course, err := tx.Courses.Get(tx, lecture.Course)
	if err != nil || !course.Compliance.Retakes.Present {
		return err
	}
	given, err := lyceum.All(tx.QuizResponses, tx, lyceum.QuizResponseFilter{
		Quiz: lyceum.Some(quiz.Quiz.ID), Users: []lyceum.UserID{user},
	})
	if most := course.Compliance.Retakes.Value; err == nil && len(given) > int(most) {
		err = &lyceum.Error{Kind: lyceum.Conflict, Code: "no_retakes_left", Detail: fmt.Sprintf(
			"user %d answered quiz %d %d times; course %d allows %d retakes", user, quiz.ID, len(given), course.ID, most,
		)}
	}
	return err
}

// OneCourse returns a course of the school. It fails with NotFound.
func (s *Service) OneCourse(ctx context.Context, by lyceum.By, id lyceum.CourseID) (lyceum.Course, error) {
	v := s.store.In(ctx, by.School)
	return v.Courses.Get(v, id)
}
