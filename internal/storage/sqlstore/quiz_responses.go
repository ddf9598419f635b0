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
		firstColumn(ofCounts, intColumn("correct", func(g *lyceum.Grade) *int32 { return &g.Correct })),
		nextColumn(ofCounts, intColumn("answered", func(g *lyceum.Grade) *int32 { return &g.Answered })),
		nextColumn(ofCounts, intColumn("total", func(g *lyceum.Grade) *int32 { return &g.Total })),
		optTextColumn("answers", func(r *lyceum.QuizResponse) *lyceum.Opt[lyceum.GivenAnswers] { return &r.Answers }),
		timeColumn("created_at", func(r *lyceum.QuizResponse) *time.Time { return &r.CreatedAt }),
		timeColumn("updated_at", func(r *lyceum.QuizResponse) *time.Time { return &r.UpdatedAt }),
	},
	largest:    lyceum.MaxGiven + 1<<10,
	show:       loadQuizzes,
	weighShown: weighResponse,
	narrow:     narrowResponses,
	order:      orderResponses,
})

func ofCounts(r *lyceum.QuizResponse) *lyceum.Opt[lyceum.Grade] { return &r.Counts }

// submitted matches the expression in the indexes: 0 for a response that is not submitted yet.
const submitted = "COALESCE(submitted_at, 0)"

func narrowResponses(w *where, f lyceum.QuizResponseFilter) {
	is(w, "quiz_id", f.Quiz)
	among(w, "user_id", f.Users)
	is(w, "user_id", f.User)
	if f.Lecture.Present {
		w.and("quiz_id IN (SELECT a.quiz_id FROM attachments a WHERE a.school_id = $1 AND a.lecture_id = ?)",
			int64(f.Lecture.Value))
	}
	if f.Course.Present {
		w.and("quiz_id IN (SELECT a.quiz_id FROM lectures l CROSS JOIN attachments a WHERE l.school_id = $1 "+
			"AND l.course_id = ? AND a.school_id = l.school_id AND a.lecture_id = l.lecture_id)", int64(f.Course.Value))
	}
	if f.Submitted != (lyceum.Period{}) {
		w.and(submitted + " > 0")
		w.within(submitted, f.Submitted)
	}
}

func orderResponses(f lyceum.QuizResponseFilter) string {
	if f.Users != nil {
		return "user_id, quiz_id, quiz_response_id"
	}
	if !f.Order.Present {
		return "quiz_response_id"
	}
	by := [...]string{submitted, "created_at", "updated_at"}[f.Order.Value.By]
	if f.Order.Value.Descending {
		return by + " DESC, quiz_response_id DESC"
	}
	return by + ", quiz_response_id"
}

// loadQuizzes completes responses with the attachment ids of their quizzes.
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

func weighResponse(shown any) int {
	return bareObject + len(shown.(lyceum.AttachedResponse).Answers.Value)
}

func (v *view) FindScores(user lyceum.UserID) (map[lyceum.QuizID]float64, error) {
	found := map[lyceum.QuizID]float64{}
	var quiz lyceum.QuizID
	var score lyceum.Opt[float64]
	err := v.q.each(`SELECT DISTINCT r.quiz_id, c.quiz_score FROM quiz_responses r
		JOIN attachments a ON a.school_id = r.school_id AND a.quiz_id = r.quiz_id
		JOIN lectures l ON l.school_id = r.school_id AND l.lecture_id = a.lecture_id
		JOIN courses c ON c.school_id = r.school_id AND c.course_id = l.course_id
		WHERE r.school_id = $1 AND r.user_id = $2 AND c.quiz_score IS NOT NULL`,
		[]any{int64(v.school), int64(user)}, []any{scanInt(&quiz), scanOptFloat(&score)},
		func() error { found[quiz] = score.Value; return nil })
	return found, v.public(err)
}
