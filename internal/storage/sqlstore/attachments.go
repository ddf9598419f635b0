package sqlstore

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

var attachments = define(&tables.Attachments, noun[lyceum.AttachmentID, lyceum.Attachment, lyceum.AttachmentFilter]{
	table:   table[lyceum.Attachment]{name: "attachments"},
	entries: "attachment",
	kept:    true, clone: cloneQuiz,
	keptLists: func(f lyceum.AttachmentFilter) bool { return f.Lecture.Present },
	key:       idKey("attachment_id", func(a *lyceum.Attachment) *lyceum.AttachmentID { return &a.ID }),
	rest: []column[lyceum.Attachment]{
		intColumn("lecture_id", func(a *lyceum.Attachment) *lyceum.LectureID { return &a.Lecture }),
		optTextColumn("name", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.Name }),
		textColumn("kind", func(a *lyceum.Attachment) *lyceum.AttachmentKind { return &a.Kind }),
		optTextColumn("url", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.URL }),
		optTextColumn("text", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.Text }),
		optIntColumn("position", func(a *lyceum.Attachment) *lyceum.Opt[int32] { return &a.Position }),
		optIntColumn("file_size", func(a *lyceum.Attachment) *lyceum.Opt[int32] { return &a.FileSize }),
		optTextColumn("file_extension", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.FileExtension }),
		{
			name: "quiz_id",
			bind: func(a *lyceum.Attachment) any {
				if a.Quiz == nil {
					return nil
				}
				return int64(a.Quiz.ID)
			},
			scan: scanQuiz,
		},
		{
			name: "questions",
			bind: func(a *lyceum.Attachment) any {
				if a.Quiz == nil {
					return nil
				}
				questions, _ := json.Marshal(a.Quiz.Questions)
				return string(questions)
			},
			scan: scanQuestions,
		},
		{
			name: "instant_feedback",
			bind: func(a *lyceum.Attachment) any {
				if a.Quiz == nil {
					return nil
				}
				return optFlag(a.Quiz.InstantFeedback)
			},
			scan: func(a *lyceum.Attachment) sql.Scanner {
				return scanFunc(func(src any) error {
					if a.Quiz == nil {
						return nil
					}
					return scanOptBool(&a.Quiz.InstantFeedback).Scan(src)
				})
			},
		},
		firstColumn(ofVideo, textColumn("video_url", func(v *lyceum.Video) *string { return &v.URL })),
		nextColumn(ofVideo, textColumn("video_content_type", func(v *lyceum.Video) *string { return &v.ContentType })),
		nextColumn(ofVideo, textColumn("video_status", func(v *lyceum.Video) *lyceum.VideoStatus { return &v.Status })),
		nextColumn(
			ofVideo, optTextColumn("video_thumbnail", func(v *lyceum.Video) *lyceum.Opt[string] { return &v.Thumbnail }),
		),
		nextColumn(ofVideo, optIntColumn("video_duration", func(v *lyceum.Video) *lyceum.Opt[int32] { return &v.Duration })),
		optBoolColumn("is_published", func(a *lyceum.Attachment) *lyceum.Opt[bool] { return &a.IsPublished }),
		optBoolColumn("embeddable", func(a *lyceum.Attachment) *lyceum.Opt[bool] { return &a.Embeddable }),
		optBoolColumn("downloadable", func(a *lyceum.Attachment) *lyceum.Opt[bool] { return &a.Downloadable }),
		optTextColumn("content_type", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.ContentType }),
		optIntColumn("duration", func(a *lyceum.Attachment) *lyceum.Opt[int32] { return &a.Duration }),
		optTextColumn("alt_text", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.AltText }),
		optBoolColumn("decorative", func(a *lyceum.Attachment) *lyceum.Opt[bool] { return &a.Decorative }),
		optTextColumn("code_syntax", func(a *lyceum.Attachment) *lyceum.Opt[string] { return &a.CodeSyntax }),
		firstColumn(ofQuestion, textColumn("question", func(q *lyceum.OpenQuestion) *string { return &q.Text })),
		nextColumn(ofQuestion, boolColumn("answer_required", func(q *lyceum.OpenQuestion) *bool { return &q.Required })),
		nextColumn(ofQuestion, boolColumn("upload_enabled", func(q *lyceum.OpenQuestion) *bool { return &q.Upload })),
		nextColumn(ofQuestion, optTextColumn("img_url", func(q *lyceum.OpenQuestion) *lyceum.Opt[string] {
			return &q.ImageURL
		})),
		nextColumn(ofQuestion, optTextColumn("img_name", func(q *lyceum.OpenQuestion) *lyceum.Opt[string] {
			return &q.ImageName
		})),
		nextColumn(ofQuestion, optTextColumn("img_alt_text", func(q *lyceum.OpenQuestion) *lyceum.Opt[string] {
			return &q.ImageAlt
		})),
		timeColumn("created_at", func(a *lyceum.Attachment) *time.Time { return &a.CreatedAt }),
		timeColumn("updated_at", func(a *lyceum.Attachment) *time.Time { return &a.UpdatedAt }),
		optTimeColumn("archived_at", func(a *lyceum.Attachment) *lyceum.Opt[time.Time] { return &a.ArchivedAt }),
	},
	largest: 1 << 20,
	narrow: func(w *where, f lyceum.AttachmentFilter) {
		is(w, "lecture_id", f.Lecture)
		is(w, "quiz_id", f.Quiz)
		among(w, "quiz_id", f.Quizzes)
		if f.Kind.Present {
			w.equal("kind", string(f.Kind.Value))
		}
		w.archived(f.IsArchived)
		if f.Published {
			w.and("COALESCE(is_published, 1) = 1")
		}
	},
	order: func(f lyceum.AttachmentFilter) string {
		if f.Order.Present {
			return ordered(f.Order.Value, "attachment_id")
		}
		if f.Lecture.Present {
			return "COALESCE(position, 2147483647), attachment_id"
		}
		return "attachment_id"
	},
	saving: raiseQuizzes,
})

func ofVideo(a *lyceum.Attachment) *lyceum.Opt[lyceum.Video] { return &a.Video }

func ofQuestion(a *lyceum.Attachment) *lyceum.Opt[lyceum.OpenQuestion] { return &a.Question }

func cloneQuiz(a *lyceum.Attachment) {
	if a.Quiz != nil {
		quiz := *a.Quiz
		quiz.Questions = slices.Clone(quiz.Questions)
		a.Quiz = &quiz
	}
}

func scanQuiz(a *lyceum.Attachment) sql.Scanner {
	return scanFunc(func(src any) error {
		if a.Quiz = nil; src == nil {
			return nil
		}
		a.Quiz = &lyceum.Quiz{}
		return scanInt(&a.Quiz.ID).Scan(src)
	})
}

func scanQuestions(a *lyceum.Attachment) sql.Scanner {
	return &textScanner{put: func(text string) error {
		if a.Quiz == nil {
			return nil
		}
		return json.Unmarshal([]byte(text), &a.Quiz.Questions)
	}, null: func() {}}
}

// raiseQuizzes makes sure that the ids of quizzes are never assigned again.
func raiseQuizzes(t *tx, rows []lyceum.Attachment) error {
	var highest lyceum.QuizID
	for i := range rows {
		if rows[i].Quiz != nil {
			highest = max(highest, rows[i].Quiz.ID)
		}
	}
	if highest == 0 {
		return nil
	}
	return t.raise(lyceum.QuizSequence, int32(highest))
}
