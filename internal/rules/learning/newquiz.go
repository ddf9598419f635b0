package learning

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// NewQuiz is a quiz to create.
type NewQuiz struct {
	Lecture         lyceum.LectureID
	Name            lyceum.Opt[string]
	InstantFeedback lyceum.Opt[bool]
	Questions       []NewQuestion
}

// NewQuestion is a question to create.
type NewQuestion struct {
	Question, Type              string
	Graded                      bool
	Answers                     []string // to choose from; for matching, those that belong to no prompt
	Correct                     []string
	Pairs                       []Pair // for matching
	PromptHeading, MatchHeading string
	Feedback                    *lyceum.QuizFeedback
}

// Pair is a prompt and the answer that matches it.
type Pair struct{ Prompt, Match string }

// maxQuestions is the maximum size of a quiz's questions, in bytes of JSON: the same as that of
// a cell in an import.
const maxQuestions = 512 << 10

// CreateQuiz creates a quiz at the end of a lecture. Learners see it immediately. It fails with
// NotFound, and with Invalid for questions that nobody could answer.
func (s *Service) CreateQuiz(ctx context.Context, by lyceum.By, fresh NewQuiz) (lyceum.Attachment, error) {
	now := lyceum.Second(s.clock())
	questions, err := newQuestions(fresh.Questions)
	if err != nil {
		return lyceum.Attachment{}, err
	}
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Attachment, error) {
		made := lyceum.Attachment{
			Lecture: fresh.Lecture, Kind: lyceum.QuizAttachment, Name: fresh.Name, CreatedAt: now, UpdatedAt: now,
		}
		if _, err := liveLecture(tx.Tables, tx, fresh.Lecture); err != nil {
			return made, err
		}
		id, err := tx.NextQuiz()
		if err != nil {
			return made, err
		}
		made.Quiz = &lyceum.Quiz{ID: id, InstantFeedback: fresh.InstantFeedback, Questions: questions}
		if made.ID, err = tx.Attachments.NextID(tx); err != nil {
			return made, err
		}
		others, err := lyceum.All(tx.Attachments, tx, attachmentsOf(fresh.Lecture))
		if err != nil {
			return made, err
		}
		made.Position = lyceum.Some(next(others, func(a *lyceum.Attachment) int32 { return a.Position.Value }))
		return made, tx.Attachments.Insert(tx, made)
	})
}

func newQuestions(fresh []NewQuestion) (lyceum.Questions, error) {
	all := make(lyceum.Questions, len(fresh))
	seen := map[string]bool{}
	var wrong []lyceum.FieldError
	for i := range fresh {
		at := fmt.Sprintf("questions[%d].", i)
		for _, w := range fresh[i].odd() {
			wrong = append(wrong, lyceum.FieldError{Field: at + w.Field, Message: w.Message})
		}
		if seen[fresh[i].Question] {
			wrong = append(wrong, lyceum.FieldError{Field: at + "question", Message: "is asked twice"})
		}
		seen[fresh[i].Question] = true
		all[i] = fresh[i].full()
	}
	if len(wrong) > 0 {
		return nil, lyceum.InvalidFields(wrong...)
	}
	all.Identify()
	text, err := json.Marshal(all)
	if err == nil && len(text) > maxQuestions {
		err = lyceum.InvalidFields(lyceum.FieldError{
			Field: "questions", Message: fmt.Sprintf("must take at most %d bytes as JSON, not %d", maxQuestions, len(text)),
		})
	}
	return all, err
}

// odd returns an error for each field of a question that contradicts another.
func (q *NewQuestion) odd() (wrong []lyceum.FieldError) {
	refuse := func(is bool, field, message string) {
		if is {
			wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
		}
	}
	matching, written := q.Type == lyceum.MatchingQuestion, q.Type == lyceum.FillBlankQuestion
	refuse(twice(q.Answers), "answers", "must be different from each other")
	refuse(twice(q.Correct), "correct_answers", "must be different from each other")
	refuse(written && len(q.Answers) > 0, "answers", "must be empty for fill_blank: what is accepted are correct_answers")
	refuse(!written && !matching && len(q.Answers) < 2, "answers", "must be at least 2")
	refuse(!matching && len(q.Correct) == 0, "correct_answers", "must be at least 1")
	refuse(q.Type == lyceum.SingleQuestion && len(q.Correct) > 1, "correct_answers", "must be 1 for single")
	refuse(!matching && !written && slices.ContainsFunc(q.Correct, func(text string) bool {
		return !slices.Contains(q.Answers, text)
	}), "correct_answers", "must be among answers")
	refuse(matching && len(q.Correct) > 0, "correct_answers", "must be empty for matching: what is right are pairs")
	refuse(matching && len(q.Pairs) == 0, "pairs", "must be at least 1 for matching")
	refuse(!matching && len(q.Pairs) > 0, "pairs", "must be empty unless question_type is matching")
	refuse(!matching && q.PromptHeading+q.MatchHeading != "", "question_type", "must be matching for headings")
	prompts, matches := make([]string, len(q.Pairs)), slices.Clone(q.Answers)
	for i, p := range q.Pairs {
		prompts[i], matches = p.Prompt, append(matches, p.Match)
	}
	refuse(twice(prompts), "pairs", "must have different prompts")
	refuse(matching && twice(matches), "pairs", "must have different matches, other than answers")
	return wrong
}

func twice(texts []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(texts)))) < len(texts)
}

// full returns the question with the ids of its answers, and without a key, which Identify sets.
func (q *NewQuestion) full() lyceum.Question {
	choices := q.Answers
	if q.Type == lyceum.FillBlankQuestion {
		choices = q.Correct
	}
	made := lyceum.PlainQuestions(lyceum.PlainQuestion{
		Question: q.Question, QuestionType: q.Type, Answers: choices, CorrectAnswers: q.Correct, Graded: q.Graded,
	})[0]
	made.Key, made.Feedback = "", q.Feedback
	if q.Type != lyceum.MatchingQuestion {
		return made
	}
	made.PromptHeading, made.MatchHeading = q.PromptHeading, q.MatchHeading
	made.Prompts = make([]lyceum.QuizPrompt, len(q.Pairs))
	matches := make([]string, len(q.Pairs))
	for i, p := range q.Pairs {
		made.Prompts[i].Text, matches[i] = p.Prompt, p.Match
	}
	made.Match(matches, q.Answers)
	return made
}
