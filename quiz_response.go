package lyceum

import "time"

// QuizResponse is one answer of a learner to a quiz.
type QuizResponse struct {
	ID             QuizResponseID
	Quiz           QuizID
	User           UserID
	SubmittedAt    Opt[time.Time]
	PercentCorrect Opt[float64] // 0 to 1; absent where no grade is recorded
}

// QuizResponseFilter narrows quiz responses; an absent part holds always. Those
// of Users come by user, then quiz, then id.
type QuizResponseFilter struct {
	Quiz  Opt[QuizID]
	Users []UserID // those of any of them, at most MaxUsers; nil: of all
}

// AttachedResponse is a response with the attachment that its quiz is, by which
// the quiz is known outside version 1 and webhooks.
type AttachedResponse struct {
	QuizResponse

	Attachment Opt[AttachmentID] // absent when an import took the quiz away
}
