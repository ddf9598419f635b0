package lyceum

import (
	"encoding/json"
	"math"
	"time"
)

// QuizResponse is one submission of a learner to a quiz.
type QuizResponse struct {
	ID             QuizResponseID
	Quiz           QuizID
	User           UserID
	SubmittedAt    Opt[time.Time]
	PercentCorrect Opt[float64]      // 0 to 1; absent if no grade is recorded
	Counts         Opt[Grade]        // as it was graded; absent for responses from before counts were stored
	Answers        Opt[GivenAnswers] // absent if unknown
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Grade returns the counts of a response to a quiz, which may be nil. If the response has no
// counts, they are estimated from its percentage and the quiz as it is now, assuming that every
// question was answered.
func (r *QuizResponse) Grade(quiz *Quiz) Grade {
	if r.Counts.Present {
		return r.Counts.Value
	}
	total := quiz.Counted()
	return Grade{
		Correct: int32(math.Round(r.PercentCorrect.Value * float64(total))), Answered: total, Total: total,
	}
}

// GivenAnswers are the answers given to the questions of a quiz, as a JSON object from question
// key to answer. Give creates it.
type GivenAnswers string

// MaxGiven is the maximum size of the answers to a quiz, in bytes of JSON.
const MaxGiven = 32 << 10

// QuizChanged is the error code if answers are rejected because they are to other questions
// than the quiz has now.
const QuizChanged = "quiz_changed"

// Give encodes answers.
func Give(answers map[string]QuestionAnswer) GivenAnswers {
	text, _ := json.Marshal(answers) //nolint:errchkjson // only strings: cannot fail
	return GivenAnswers(text)
}

// Read decodes answers.
func (g GivenAnswers) Read() (map[string]QuestionAnswer, error) {
	var answers map[string]QuestionAnswer
	err := json.Unmarshal([]byte(g), &answers)
	return answers, err
}

// Raw returns the answers as raw JSON, or nil if they are unknown.
func (r *QuizResponse) Raw() *json.RawMessage {
	if !r.Answers.Present {
		return nil
	}
	raw := json.RawMessage(r.Answers.Value)
	return &raw
}

// QuizResponseFilter narrows quiz responses; absent fields match everything. With Users they
// are listed by user, then quiz, then id.
type QuizResponseFilter struct {
	Quiz  Opt[QuizID]
	Users []UserID // any of these, at most MaxUsers; nil: all

	User      Opt[UserID]
	Lecture   Opt[LectureID] // the lecture that the quiz is or was in
	Course    Opt[CourseID]
	Submitted Period
	Order     Opt[QuizResponseOrder]
}

// QuizResponseOrder is the order of a list of responses. Ties are broken by id, in the same
// direction.
type QuizResponseOrder struct {
	By         QuizResponseKey
	Descending bool
}

// QuizResponseKey is what responses are ordered by.
type QuizResponseKey uint8

// The sort keys of quiz responses. Responses without a time of submission are treated as the
// oldest.
const (
	ResponseBySubmitted QuizResponseKey = iota
	ResponseByCreated
	ResponseByUpdated
)

// AttachedResponse is a response with the attachment that contains its quiz. Outside version 1
// and webhooks, quizzes are identified by their attachment.
type AttachedResponse struct {
	QuizResponse

	Attachment Opt[AttachmentID] // absent if an import removed the quiz
}
