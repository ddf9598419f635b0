package learning

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// QuizChange is what is to change of a quiz; an absent part stays.
type QuizChange struct {
	Quiz            lyceum.AttachmentID
	Name            lyceum.Opt[lyceum.Opt[string]]
	InstantFeedback lyceum.Opt[bool]
	Graded          lyceum.Opt[bool] // every question counts, or none does
	Questions       []NewQuestion    // nil: those that there are
}

// UpdateQuiz changes a quiz. Responses stay as they were graded. It fails with
// NotFound, and with Invalid for questions that nobody could answer.
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
			changed.Questions = slices.Clone(questions) // this may run again
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

// sameQuestions compares questions as they are kept.
func sameQuestions(some, others lyceum.Questions) (bool, error) {
	one, err := json.Marshal(some)
	if err != nil {
		return false, err
	}
	other, err := json.Marshal(others)
	return string(one) == string(other), err
}

// answerable finds a quiz that is not deleted.
func answerable(tx lyceum.Tx, id lyceum.AttachmentID) (lyceum.Attachment, error) {
	quiz, err := tx.Attachments.Get(tx, id)
	gone := err == nil && (quiz.Quiz == nil || quiz.ArchivedAt.Present)
	if gone || lyceum.KindOf(err) == lyceum.NotFound {
		err = lyceum.Errorf(lyceum.NotFound, "there is no quiz %d", id)
	}
	return quiz, err
}
