package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Answer is what a learner chose or wrote in a quiz: of each question, in order,
// the answers.
type Answer struct {
	Quiz    lyceum.AttachmentID // that the quiz is
	User    lyceum.UserID
	Answers [][]string
}

// Answer keeps a learner's answers to a quiz of a course that they are enrolled
// in, and grades them: of the questions that are graded, the share that is
// right in all its answers. A quiz without such a question has no grade, and
// webhooks are not told of its responses.
func (s *Service) Answer(ctx context.Context, by lyceum.By, a Answer) (lyceum.AttachedResponse, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.AttachedResponse, error) {
		r := lyceum.AttachedResponse{Attachment: lyceum.Some(a.Quiz)}
		id, err := tx.QuizResponses.NextID(tx)
		if err != nil {
			return r, err
		}
		quiz, err := tx.Attachments.Get(tx, a.Quiz)
		gone := err == nil && (quiz.Quiz == nil || quiz.ArchivedAt.Present)
		if gone || err != nil && lyceum.KindOf(err) == lyceum.NotFound {
			return r, lyceum.Errorf(lyceum.NotFound, "there is no quiz %d", a.Quiz)
		}
		if err != nil {
			return r, err
		}
		if err := admitted(tx, quiz.Lecture, a.User, now); err != nil {
			return r, err
		}
		r.QuizResponse = lyceum.QuizResponse{
			ID: id, Quiz: quiz.Quiz.ID, User: a.User, SubmittedAt: lyceum.Some(lyceum.Second(now)),
		}
		if r.PercentCorrect, err = grade(quiz.Quiz.Questions, a.Answers); err != nil {
			return r, err
		}
		if err := tx.QuizResponses.Insert(tx, r.QuizResponse); err != nil {
			return r, err
		}
		if r.PercentCorrect.Present {
			tx.Announce(lyceum.QuizResponseCreated, int32(id), lyceum.QuizResponseEvent, "")
		}
		return r, nil
	})
}

// admitted refuses a user who is not enrolled in the course of a lecture.
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

func grade(questions []lyceum.Question, answers [][]string) (lyceum.Opt[float64], error) {
	refuse := func(format string, args ...any) (lyceum.Opt[float64], error) {
		return lyceum.None[float64](), lyceum.InvalidFields(
			lyceum.FieldError{Field: "answers", Message: fmt.Sprintf(format, args...)},
		)
	}
	if len(answers) != len(questions) {
		return refuse("must have one list for each of the %d questions", len(questions))
	}
	graded, right := 0, 0
	for i, q := range questions {
		given := slices.Compact(slices.Sorted(slices.Values(answers[i])))
		choices := map[string]bool{}
		for _, answer := range q.Answers {
			choices[answer] = true
		}
		for _, answer := range given {
			if q.QuestionType != fillBlank && !choices[answer] {
				return refuse("to question %d must be one of %s", i+1, strings.Join(q.Answers, ", "))
			}
		}
		if q.Graded {
			graded++
			if correct(&q, given) {
				right++
			}
		}
	}
	if graded == 0 {
		return lyceum.None[float64](), nil
	}
	return lyceum.Some(float64(right) / float64(graded)), nil
}

// fillBlank is the type of a question whose answer is written and not chosen.
const fillBlank = "fill_blank"

// correct tells whether the answers given to a question, sorted and each once,
// are right: all that are, or, where one is written, any of them.
func correct(q *lyceum.Question, given []string) bool {
	if q.QuestionType == fillBlank {
		return len(given) == 1 && slices.Contains(q.CorrectAnswers, given[0])
	}
	return slices.Equal(given, slices.Sorted(slices.Values(q.CorrectAnswers)))
}
