package learning

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// QuizChange is a change to a quiz. Absent fields stay unchanged.
type QuizChange struct {
	Quiz            lyceum.AttachmentID
	Name            lyceum.Opt[lyceum.Opt[string]]
	InstantFeedback lyceum.Opt[bool]
	Graded          lyceum.Opt[bool] // whether all questions count, or none
	Questions       []NewQuestion    // nil keeps the present ones
}

// UpdateQuiz changes a quiz. Existing responses keep their grades. It fails with NotFound, and
// with Invalid for questions that nobody could answer.
func (s *Service) UpdateQuiz(ctx context.Context, by lyceum.By, q QuizChange) (lyceum.Attachment, error) {
	if q.Graded.Present && q.Questions != nil {
		return lyceum.Attachment{}, lyceum.InvalidFields(lyceum.FieldError{
			Field: "graded", Message: "must be left out with questions, each of which says whether it counts",
		})
	}
	questions, err := newQuestions(q.Questions)
	if err != nil {
		return lyceum.Attachment{}, err
	}
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Attachment, error) {
		row, err := answerable(tx, q.Quiz)
		if err != nil {
			return row, err
		}
		if _, err := liveLecture(tx.Tables, tx, row.Lecture); err != nil {
			return row, err
		}
		before, changed := row, *row.Quiz
		row.Name, row.Quiz = q.Name.Else(row.Name), &changed
		change(&changed.InstantFeedback, q.InstantFeedback, false)
		changed.Questions = slices.Clone(changed.Questions)
		for i := range changed.Questions {
			changed.Questions[i].Graded = q.Graded.Else(changed.Questions[i].Graded)
		}
		if q.Questions != nil {
			changed.Questions = slices.Clone(questions) // the function may run again
			changed.Questions.KeepKeys(before.Quiz.Questions)
		}
		same, err := sameQuestions(before.Quiz.Questions, changed.Questions)
		if err != nil || same && before.Name == row.Name && before.Quiz.InstantFeedback == changed.InstantFeedback {
			return before, err
		}
		row.UpdatedAt = now
		return row, tx.Attachments.Update(tx, row)
	})
}

// sameQuestions reports whether two lists of questions are stored as the same JSON.
func sameQuestions(some, others lyceum.Questions) (bool, error) {
	one, err := json.Marshal(some)
	if err != nil {
		return false, err
	}
	other, err := json.Marshal(others)
	return string(one) == string(other), err
}

// answerable returns a quiz that is not deleted.
func answerable(tx lyceum.Tx, id lyceum.AttachmentID) (lyceum.Attachment, error) {
	quiz, err := tx.Attachments.Get(tx, id)
	gone := err == nil && (quiz.Quiz == nil || quiz.ArchivedAt.Present)
	if gone || lyceum.KindOf(err) == lyceum.NotFound {
		err = lyceum.Errorf(lyceum.NotFound, "there is no quiz %d", id)
	}
	return quiz, err
}
