package lyceum

import (
	"encoding/json"
	"math"
	"time"
)

// QuizResponse is one answer of a learner to a quiz.
type QuizResponse struct {
	ID             QuizResponseID
	Quiz           QuizID
	User           UserID
	SubmittedAt    Opt[time.Time]
	PercentCorrect Opt[float64]      // 0 to 1; absent where no grade is recorded
	Counts         Opt[Grade]        // as it was graded; absent for a response from before they were kept
	Answers        Opt[GivenAnswers] // absent where they are not known
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Grade returns what is counted of a response to a quiz, which may be nil. Of a
// response without counts that is what its percentage says of the quiz as it is
// now, with every question answered.
func (r *QuizResponse) Grade(quiz *Quiz) Grade {
	if r.Counts.Present {
		return r.Counts.Value
	}
	total := quiz.Counted()
	return Grade{
		Correct: int32(math.Round(r.PercentCorrect.Value * float64(total))), Answered: total, Total: total,
	}
}

// GivenAnswers is what was answered to the questions of a quiz, as JSON: an object
// with the answer to each question by its key. It is written by Give.
type GivenAnswers string

// MaxGiven is the size of the largest answers to a quiz, in bytes of JSON.
const MaxGiven = 32 << 10

// QuizChanged is the code of a refusal of answers to other questions than those of
// the quiz.
const QuizChanged = "quiz_changed"

// Give writes answers.
func Give(answers map[string]QuestionAnswer) GivenAnswers {
	text, _ := json.Marshal(answers) //nolint:errchkjson // texts alone: nothing that could fail
	return GivenAnswers(text)
}

// Read reads answers.
func (g GivenAnswers) Read() (map[string]QuestionAnswer, error) {
	var answers map[string]QuestionAnswer
	err := json.Unmarshal([]byte(g), &answers)
	return answers, err
}

// Raw returns answers as a member of JSON; nil if they are not known.
func (r *QuizResponse) Raw() *json.RawMessage {
	if !r.Answers.Present {
		return nil
	}
	raw := json.RawMessage(r.Answers.Value)
	return &raw
}

// QuizResponseFilter narrows quiz responses; an absent part holds always. Those
// of Users come by user, then quiz, then id.
type QuizResponseFilter struct {
	Quiz  Opt[QuizID]
	Users []UserID // those of any of them, at most MaxUsers; nil: of all

	User      Opt[UserID]
	Lecture   Opt[LectureID] // that the quiz is or was in
	Course    Opt[CourseID]
	Submitted Period
	Order     Opt[QuizResponseOrder]
}

// QuizResponseOrder is the order of a list of responses. Ties are broken by id, in
// the same direction.
type QuizResponseOrder struct {
	By         QuizResponseKey
	Descending bool
}

// QuizResponseKey is what responses are ordered by.
type QuizResponseKey uint8

// The keys of quiz responses. Those without a time of submission are the oldest.
const (
	ResponseBySubmitted QuizResponseKey = iota
	ResponseByCreated
	ResponseByUpdated
)

// AttachedResponse is a response with the attachment that its quiz is, by which
// the quiz is known outside version 1 and webhooks.
type AttachedResponse struct {
	QuizResponse

	Attachment Opt[AttachmentID] // absent when an import took the quiz away
}
