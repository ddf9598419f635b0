package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.QuizResponses, noun[lyceum.QuizResponseID, lyceum.QuizResponse, lyceum.QuizResponseFilter]{
	table:   table[lyceum.QuizResponse]{name: "quiz_responses"},
	entries: "quiz_response",
	key:     idKey("quiz_response_id", func(r *lyceum.QuizResponse) *lyceum.QuizResponseID { return &r.ID }),
	rest: []column[lyceum.QuizResponse]{
		intColumn("quiz_id", func(r *lyceum.QuizResponse) *lyceum.QuizID { return &r.Quiz }),
		intColumn("user_id", func(r *lyceum.QuizResponse) *lyceum.UserID { return &r.User }),
		optTimeColumn("submitted_at", func(r *lyceum.QuizResponse) *lyceum.Opt[time.Time] { return &r.SubmittedAt }),
		optFloatColumn("percent_correct", func(r *lyceum.QuizResponse) *lyceum.Opt[float64] { return &r.PercentCorrect }),
	},
	largest:    1 << 10,
	show:       loadQuizzes,
	weighShown: weighBare,
	narrow: func(w *where, f lyceum.QuizResponseFilter) {
		is(w, "quiz_id", f.Quiz)
		among(w, "user_id", f.Users)
	},
	order: func(f lyceum.QuizResponseFilter) string {
		if f.Users != nil {
			return "user_id, quiz_id, quiz_response_id"
		}
		return "quiz_response_id"
	},
})

// loadQuizzes completes responses with the attachments that their quizzes are.
func loadQuizzes(q *session, school lyceum.SchoolID, found map[int32]lyceum.QuizResponse) (map[int32]any, error) {
	quizzes := map[lyceum.QuizID]lyceum.Opt[lyceum.AttachmentID]{}
	for _, row := range found {
		quizzes[row.Quiz] = lyceum.None[lyceum.AttachmentID]()
	}
	wanted := make([]any, 0, len(quizzes))
	for quiz := range quizzes {
		wanted = append(wanted, int64(quiz))
	}
	var quiz lyceum.QuizID
	var attachment lyceum.AttachmentID
	err := inChunks(q, "SELECT quiz_id, attachment_id FROM attachments WHERE school_id = $1 AND quiz_id IN ",
		school, wanted,
		[]any{scanInt(&quiz), scanInt(&attachment)}, func() { quizzes[quiz] = lyceum.Some(attachment) })
	attached := make(map[int32]any, len(found))
	for id, row := range found {
		attached[id] = lyceum.AttachedResponse{QuizResponse: row, Attachment: quizzes[row.Quiz]}
	}
	return attached, err
}

func weighBare(any) int { return bareObject }
