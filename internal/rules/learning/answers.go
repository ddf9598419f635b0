package learning

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Answer is a learner's submission to a quiz: for each question, in order, the answers that they
// chose or wrote.
type Answer struct {
	Quiz    lyceum.AttachmentID // the id of the quiz
	User    lyceum.UserID
	Answers [][]string
}

// Answer saves a learner's answers to a quiz of a course that they are enrolled in, and grades
// them: the grade is the share of the graded questions whose answers are all right. A quiz
// without graded questions has no grade, and its responses are not sent to webhooks.
func (s *Service) Answer(ctx context.Context, by lyceum.By, a Answer) (lyceum.AttachedResponse, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.AttachedResponse, error) {
		r := lyceum.AttachedResponse{Attachment: lyceum.Some(a.Quiz)}
		id, err := tx.QuizResponses.NextID(tx)
		if err != nil {
			return r, err
		}
		quiz, err := answerable(tx, a.Quiz)
		if err != nil {
			return r, err
		}
		if err := admitted(tx, quiz.Lecture, a.User, now); err != nil {
			return r, err
		}
		if err := retakable(tx, &quiz, a.User); err != nil {
			return r, err
		}
		given, err := chosen(quiz.Quiz, a.Answers)
		if err != nil {
			return r, err
		}
		r.QuizResponse = lyceum.QuizResponse{ID: id, Quiz: quiz.Quiz.ID, User: a.User}
		if err := grade(&r.QuizResponse, quiz.Quiz, given, now); err != nil {
			return r, err
		}
		return r, announce(tx, &r.QuizResponse)
	})
}

// admitted rejects a user who is not enrolled in the course of a lecture.
func admitted(tx lyceum.Tx, lecture lyceum.LectureID, user lyceum.UserID, now time.Time) error {
	known, err := liveLecture(tx.Tables, tx, lecture)
	if err != nil {
		return err
	}
	_, err = enrolled(tx, user, known.Course, now)
	return err
}

// liveLecture returns a lecture that is not deleted.
func liveLecture(t *lyceum.Tables, from lyceum.Source, id lyceum.LectureID) (lyceum.Lecture, error) {
	lecture, err := t.Lectures.Get(from, id)
	if err == nil && lecture.ArchivedAt.Present {
		err = lyceum.Errorf(lyceum.NotFound, "there is no lecture %d", id)
	}
	return lecture, err
}

// grade adds to a response the answers to a quiz's questions, in order, and the grade. A quiz
// that is not graded has none.
func grade(r *lyceum.QuizResponse, quiz *lyceum.Quiz, given []lyceum.QuestionAnswer, now time.Time) error {
	counts, err := quiz.Grade(given)
	if err != nil {
		return err
	}
	answers, err := byKey(quiz, given)
	if err != nil {
		return err
	}
	at := lyceum.Second(now)
	r.SubmittedAt, r.CreatedAt, r.UpdatedAt = lyceum.Some(at), at, at
	r.Counts, r.Answers = lyceum.Some(counts), lyceum.Some(answers)
	if quiz.IsGraded() {
		r.PercentCorrect = lyceum.Some(counts.PercentCorrect())
	}
	return nil
}

// announce inserts a response, and announces it if it has a grade.
func announce(tx lyceum.Tx, r *lyceum.QuizResponse) error {
	if err := tx.QuizResponses.Insert(tx, *r); err != nil {
		return err
	}
	if r.PercentCorrect.Present {
		tx.Announce(lyceum.QuizResponseCreated, int32(r.ID), lyceum.QuizResponseEvent, "")
	}
	return nil
}

// byKey returns answers in the form in which they are stored.
func byKey(quiz *lyceum.Quiz, given []lyceum.QuestionAnswer) (lyceum.GivenAnswers, error) {
	answers := make(map[string]lyceum.QuestionAnswer, len(given))
	for i := range given {
		q := &quiz.Questions[i]
		answers[q.Key] = q.Tidy(given[i])
	}
	text := lyceum.Give(answers)
	if len(text) > lyceum.MaxGiven {
		return "", lyceum.InvalidFields(lyceum.FieldError{
			Field: "answers", Message: fmt.Sprintf("must take at most %d bytes as JSON, not %d", lyceum.MaxGiven, len(text)),
		})
	}
	return text, nil
}

// chosen parses answers as version 1 has them: for each question, in order, a list of strings.
func chosen(quiz *lyceum.Quiz, answers [][]string) ([]lyceum.QuestionAnswer, error) {
	if len(answers) != len(quiz.Questions) {
		return nil, lyceum.InvalidFields(lyceum.FieldError{
			Field: "answers", Message: fmt.Sprintf("must have one list for each of the %d questions", len(quiz.Questions)),
		})
	}
	given := make([]lyceum.QuestionAnswer, len(answers))
	for i := range given {
		var wrong string
		if given[i], wrong = quiz.Questions[i].Choose(answers[i]); wrong != "" {
			return nil, lyceum.InvalidFields(lyceum.FieldError{
				Field: "answers", Message: fmt.Sprintf("to question %d %s", i+1, wrong),
			})
		}
	}
	return given, nil
}
