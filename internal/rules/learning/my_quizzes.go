package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Submission has a learner's answers to a quiz, by the keys of its questions.
type Submission struct {
	Quiz    InLecture
	Answers map[string]lyceum.QuestionAnswer
}

// OwnResponse is a learner's response to a quiz as they see it.
type OwnResponse struct {
	lyceum.QuizResponse

	Quiz    AttachmentDetail
	Counted lyceum.Grade
	Results []AnswerResult    // nil unless the quiz gives feedback and the answers are known
	Retakes lyceum.Opt[int32] // retakes left; absent if unlimited
}

// AnswerResult is what a learner sees of the grading of an answer.
type AnswerResult struct {
	Key      string
	Right    lyceum.Opt[bool] // absent for a question without right answers
	Feedback lyceum.Opt[string]
}

// OwnResponse returns the latest response of a learner to a quiz that they can see. It fails
// with NotFound.
func (s *Service) OwnResponse(ctx context.Context, by lyceum.By, q InLecture) (r OwnResponse, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		quiz, err := seenQuiz(v, by, q, s.clock())
		if err == nil && quiz.Quiz == nil { // an import can leave it out
			err = noQuiz(q)
		}
		if err != nil {
			return err
		}
		given, err := lyceum.All(v.QuizResponses, v, ofLearner(&quiz, by.Learner.Value))
		if err != nil {
			return err
		}
		last := latest(given)
		if len(last) == 0 {
			return lyceum.Errorf(lyceum.NotFound, "user %d has no response to quiz %d", by.Learner.Value, q.ID)
		}
		course, err := v.Courses.Get(v, q.Lecture.Course)
		r = ownResponse(&quiz, &course, last[0], len(given))
		return err
	})
	return r, err
}

// seenQuiz returns a quiz if the viewer can see it.
func seenQuiz(v lyceum.View, by lyceum.By, q InLecture, now time.Time) (lyceum.Attachment, error) {
	if by.Learner.Present {
		if _, err := bareLecture(v, by, q.Lecture.Course, q.Lecture.ID, now); err != nil {
			return lyceum.Attachment{}, err
		}
	}
	quiz, err := quizIn(v.Tables, v, q)
	if err == nil && by.Learner.Present && !quiz.IsPublished.Else(true) {
		err = noQuiz(q)
	}
	return quiz, err
}

func noQuiz(q InLecture) error {
	return lyceum.Errorf(lyceum.NotFound, "there is no quiz %d in lecture %d", q.ID, q.Lecture.ID)
}

func ofLearner(quiz *lyceum.Attachment, user lyceum.UserID) lyceum.QuizResponseFilter {
	return lyceum.QuizResponseFilter{Quiz: lyceum.Some(quiz.Quiz.ID), Users: []lyceum.UserID{user}}
}

// Submit saves and grades a learner's answers to a quiz that they can see. Submitting the
// answers of the latest response again changes nothing. It fails with NotFound, with Invalid for
// answers to other questions, and with Conflict if no retake is left.
func (s *Service) Submit(ctx context.Context, by lyceum.By, q Submission) (OwnResponse, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (OwnResponse, error) {
		wanted := append(ofLecture(tx, by, q.Quiz.Lecture, now), lyceum.ByID(tx.Attachments, q.Quiz.ID))
		if err := tx.Ahead(wanted...); err != nil {
			return OwnResponse{}, err
		}
		quiz, err := seenQuiz(tx.View(), by, q.Quiz, now)
		if err == nil && quiz.Quiz == nil {
			err = noQuiz(q.Quiz)
		}
		if err != nil {
			return OwnResponse{}, err
		}
		course, err := tx.Courses.Get(tx, q.Quiz.Lecture.Course)
		if err != nil {
			return OwnResponse{}, err
		}
		user := by.Learner.Value
		if _, err := enrolled(tx, user, course.ID, now); err != nil {
			return OwnResponse{}, err
		}
		given, err := inOrderOf(&quiz, q.Answers)
		if err != nil {
			return OwnResponse{}, err
		}
		fresh := lyceum.QuizResponse{Quiz: quiz.Quiz.ID, User: user}
		if err := grade(&fresh, quiz.Quiz, given, now); err != nil {
			return OwnResponse{}, err
		}
		kept, count, err := submit(tx, &quiz, fresh)
		return ownResponse(&quiz, &course, kept, count), err
	})
}

// submit saves a graded response, unless the latest one is the same, and returns it and the
// number of responses. Taking an id locks the sequence, so it looks again afterwards for what
// another process stored meanwhile.
func submit(
	tx lyceum.Tx, quiz *lyceum.Attachment, fresh lyceum.QuizResponse,
) (lyceum.QuizResponse, int, error) {
	before, err := lyceum.All(tx.QuizResponses, tx, ofLearner(quiz, fresh.User))
	if old, same := repeats(before, &fresh); err != nil || same {
		return old, len(before), err
	}
	if fresh.ID, err = tx.QuizResponses.NextID(tx); err != nil {
		return fresh, 0, err
	}
	before, err = lyceum.All(tx.QuizResponses, tx, ofLearner(quiz, fresh.User))
	if old, same := repeats(before, &fresh); err != nil || same {
		return old, len(before), err
	}
	if err := retakable(tx, quiz, fresh.User); err != nil {
		return fresh, 0, err
	}
	return fresh, len(before) + 1, announce(tx, &fresh)
}

// repeats returns the latest response, and reports whether fresh has the same answers and grade.
func repeats(before []lyceum.QuizResponse, fresh *lyceum.QuizResponse) (old lyceum.QuizResponse, same bool) {
	last := latest(before)
	if len(last) == 0 {
		return old, false
	}
	old = last[0]
	return old, old.Answers == fresh.Answers && old.Counts == fresh.Counts && old.PercentCorrect == fresh.PercentCorrect
}

// inOrderOf returns answers in the order of the questions.
func inOrderOf(quiz *lyceum.Attachment, answers map[string]lyceum.QuestionAnswer) ([]lyceum.QuestionAnswer, error) {
	given := make([]lyceum.QuestionAnswer, len(quiz.Quiz.Questions))
	var missing, foreign []string
	known := map[string]bool{}
	for i := range given {
		key := quiz.Quiz.Questions[i].Key
		answer, there := answers[key]
		if known[key] = true; !there {
			missing = append(missing, key)
		}
		given[i] = answer
	}
	for key := range answers {
		if !known[key] {
			foreign = append(foreign, key)
		}
	}
	if len(missing) == 0 && len(foreign) == 0 {
		return given, nil
	}
	return nil, &lyceum.Error{Kind: lyceum.Invalid, Code: lyceum.QuizChanged, Detail: fmt.Sprintf(
		"answers must be to the questions of quiz %d as it is now: load it again%s%s", quiz.ID,
		listKeys(". Without an answer: ", missing), listKeys(". Not in the quiz: ", foreign),
	)}
}

// maxKeys is the maximum number of keys that an error lists.
const maxKeys = 10

func listKeys(before string, keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	slices.Sort(keys)
	more := ""
	if len(keys) > maxKeys {
		more = fmt.Sprintf(" and %d more", len(keys)-maxKeys)
		keys = keys[:maxKeys]
	}
	return before + strings.Join(keys, ", ") + more
}

// ownResponse shows a response to its learner, who has count of them.
func ownResponse(quiz *lyceum.Attachment, course *lyceum.Course, r lyceum.QuizResponse, count int) OwnResponse {
	own := OwnResponse{
		QuizResponse: r, Quiz: AttachmentDetail{Attachment: *quiz, Course: course.ID}, Counted: r.Grade(quiz.Quiz),
	}
	if most := course.Compliance.Retakes; most.Present {
		own.Retakes = lyceum.Some(max(0, most.Value-int32(count)+1))
	}
	answers, err := r.Answers.Value.Read()
	if !quiz.Quiz.GivesFeedback() || err != nil {
		return own
	}
	own.Results = []AnswerResult{}
	for i := range quiz.Quiz.Questions {
		q := &quiz.Quiz.Questions[i]
		if answer, there := answers[q.Key]; there {
			own.Results = append(own.Results, resultOf(q, &answer))
		}
	}
	return own
}

func resultOf(q *lyceum.Question, answer *lyceum.QuestionAnswer) AnswerResult {
	result := AnswerResult{Key: q.Key}
	if len(q.Correct) == 0 {
		return result
	}
	right := q.IsAnswered(answer) && q.IsRight(answer)
	result.Right = lyceum.Some(right)
	if said := q.Feedback; said != nil {
		text := said.Incorrect
		if right {
			text = said.Correct
		}
		result.Feedback = lyceum.Opt[string]{Value: text, Present: text != ""}
	}
	return result
}
