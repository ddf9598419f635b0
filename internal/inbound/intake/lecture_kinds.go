package intake

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// LectureSections returns the kind of a course's sections. A file must have every column.
func LectureSections() Kind[lyceum.LectureSection] {
	type row = lyceum.LectureSection
	return Kind[row]{
		name: "lecture-sections", list: "lecture_sections",
		id: func(s *row) int32 { return int32(s.ID) },
		columns: []column[row]{
			idColumn("id", func(s *row) *lyceum.LectureSectionID { return &s.ID }),
			idColumn("course_id", func(s *row) *lyceum.CourseID { return &s.Course }),
			textColumn("name", func(s *row) *string { return &s.Name }),
			booleanColumn("is_published", func(s *row) *bool { return &s.IsPublished }),
			idColumn("position", func(s *row) *int32 { return &s.Position }),
			timeColumn("created_at", func(s *row) *time.Time { return &s.CreatedAt }).optional(),
			timeColumn("updated_at", func(s *row) *time.Time { return &s.UpdatedAt }).optional(),
		},
	}
}

// Lectures returns the kind of a course's lectures. A file must have every column; name may be
// null.
func Lectures() Kind[lyceum.Lecture] {
	type row = lyceum.Lecture
	return Kind[row]{
		name: "lectures", list: "lectures",
		id: func(l *row) int32 { return int32(l.ID) },
		columns: []column[row]{
			idColumn("id", func(l *row) *lyceum.LectureID { return &l.ID }),
			idColumn("course_id", func(l *row) *lyceum.CourseID { return &l.Course }),
			idColumn("lecture_section_id", func(l *row) *lyceum.LectureSectionID { return &l.Section }),
			optTextColumn("name", func(l *row) *lyceum.Opt[string] { return &l.Name }).always(),
			booleanColumn("is_published", func(l *row) *bool { return &l.IsPublished }),
			idColumn("position", func(l *row) *int32 { return &l.Position }),
			optBooleanColumn("free_preview", func(l *row) *lyceum.Opt[bool] { return &l.FreePreview }),
			optBooleanColumn("student_comments_enabled", func(l *row) *lyceum.Opt[bool] { return &l.Comments }),
			timeColumn("created_at", func(l *row) *time.Time { return &l.CreatedAt }).optional(),
			timeColumn("updated_at", func(l *row) *time.Time { return &l.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(l *row) *lyceum.Opt[time.Time] { return &l.ArchivedAt }),
		},
	}
}

// Attachments returns the kind of the parts of lectures. A file must have id, lecture_id and
// kind; the other fields may be null. The questions of a quiz are JSON.
func Attachments() Kind[lyceum.Attachment] {
	type row = lyceum.Attachment
	video := func(a *row) *lyceum.Video {
		a.Video.Present = true
		return &a.Video.Value
	}
	return Kind[row]{
		name: "attachments", list: "attachments",
		id: func(a *row) int32 { return int32(a.ID) },
		keys: []key[row]{hashed(inColumn("quiz_id"), func(a *row) (lyceum.QuizID, bool) {
			if a.Quiz == nil {
				return 0, false
			}
			return a.Quiz.ID, true
		})},
		columns: []column[row]{
			idColumn("id", func(a *row) *lyceum.AttachmentID { return &a.ID }),
			idColumn("lecture_id", func(a *row) *lyceum.LectureID { return &a.Lecture }),
			optTextColumn("name", func(a *row) *lyceum.Opt[string] { return &a.Name }).always(),
			textColumn("kind", func(a *row) *string { return (*string)(&a.Kind) }),
			optTextColumn("url", func(a *row) *lyceum.Opt[string] { return &a.URL }).always(),
			optTextColumn("text", func(a *row) *lyceum.Opt[string] { return &a.Text }).always().long(),
			optIDColumn("position", func(a *row) *lyceum.Opt[int32] { return &a.Position }).always(),
			optCountColumn("file_size", func(a *row) *lyceum.Opt[int32] { return &a.FileSize }).always(),
			optTextColumn("file_extension", func(a *row) *lyceum.Opt[string] { return &a.FileExtension }).always(),
			quizColumn(),
			questionsColumn(),
			feedbackColumn(),
			within(videoPart("video_url", func(a *row) *string { return &video(a).URL }), hasVideo),
			within(videoPart("video_content_type", func(a *row) *string { return &video(a).ContentType }), hasVideo),
			within(
				wordColumn("video_status", videoStates, func(a *row) *lyceum.VideoStatus { return &video(a).Status }).always(),
				hasVideo,
			),
			within(optTextColumn("url_thumbnail", func(a *row) *lyceum.Opt[string] {
				return &video(a).Thumbnail
			}).always(), hasVideo),
			within(optCountColumn("media_duration", func(a *row) *lyceum.Opt[int32] {
				return &video(a).Duration
			}).always(), hasVideo),
			optBooleanColumn("is_published", func(a *row) *lyceum.Opt[bool] { return &a.IsPublished }),
			optBooleanColumn("embeddable", func(a *row) *lyceum.Opt[bool] { return &a.Embeddable }),
			optBooleanColumn("downloadable", func(a *row) *lyceum.Opt[bool] { return &a.Downloadable }),
			optTextColumn("content_type", func(a *row) *lyceum.Opt[string] { return &a.ContentType }),
			optCountColumn("duration", func(a *row) *lyceum.Opt[int32] { return &a.Duration }),
			optTextColumn("alt_text", func(a *row) *lyceum.Opt[string] { return &a.AltText }),
			optBooleanColumn("flagged_as_decorative", func(a *row) *lyceum.Opt[bool] { return &a.Decorative }),
			optTextColumn("code_syntax", func(a *row) *lyceum.Opt[string] { return &a.CodeSyntax }),
			openQuestionColumn(),
			timeColumn("created_at", func(a *row) *time.Time { return &a.CreatedAt }).optional(),
			timeColumn("updated_at", func(a *row) *time.Time { return &a.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(a *row) *lyceum.Opt[time.Time] { return &a.ArchivedAt }),
		},
	}
}

var videoStates = []lyceum.VideoStatus{
	lyceum.VideoReady, lyceum.VideoProcessing, lyceum.VideoPartiallyReady, lyceum.VideoQueued,
	lyceum.VideoThumbnailReady, lyceum.VideoFailed,
}

func hasVideo(a *lyceum.Attachment) bool { return a.Video.Present }

func videoPart(name string, at func(*lyceum.Attachment) *string) column[lyceum.Attachment] {
	k := textColumn(name, at)
	k.text = false // an empty cell is null: there is no video
	return k
}

// within makes a column null if the part of the row that it belongs to is missing.
func within[T any](k column[T], there func(*T) bool) column[T] {
	write := k.write
	k.nullable = true
	k.write = func(e *encoder, v *T) {
		if there(v) {
			write(e, v)
		} else {
			e.null()
		}
	}
	return k
}

// quizColumn returns the column of the id of an attachment's quiz.
func quizColumn() column[lyceum.Attachment] {
	k := idColumn("quiz_id", func(a *lyceum.Attachment) *lyceum.QuizID {
		if a.Quiz == nil {
			a.Quiz = &lyceum.Quiz{Questions: lyceum.Questions{}}
		}
		return &a.Quiz.ID
	})
	return within(k, func(a *lyceum.Attachment) bool { return a.Quiz != nil })
}

// feedbackColumn returns the column of a quiz's instant feedback. It must follow quiz_id.
func feedbackColumn() column[lyceum.Attachment] {
	return optBooleanColumn("instant_feedback", func(a *lyceum.Attachment) *lyceum.Opt[bool] {
		if a.Quiz == nil {
			return &lyceum.Opt[bool]{} // discarded: the attachment is not a quiz
		}
		return &a.Quiz.InstantFeedback
	})
}

// questionsColumn returns the column of a quiz's questions, which is JSON in the form of version 2
// or version 1. It must follow quiz_id.
func questionsColumn() column[lyceum.Attachment] {
	return column[lyceum.Attachment]{
		name: "questions", required: true, nullable: true, json: true, limit: maxLong,
		read: func(_ *memo, c cell, a *lyceum.Attachment) string {
			if a.Quiz == nil {
				return "must be empty where quiz_id is"
			}
			if err := json.Unmarshal(c.text, &a.Quiz.Questions); err != nil {
				return questionsTaken
			}
			return ""
		},
		write: func(e *encoder, a *lyceum.Attachment) {
			if a.Quiz == nil {
				e.null()
				return
			}
			e.json(a.Quiz.Questions)
		},
	}
}

// openQuestion is an open question in a file.
type openQuestion struct {
	Question      string  `json:"question"`
	Required      bool    `json:"required"`
	UploadEnabled bool    `json:"upload_enabled"`
	ImgURL        *string `json:"img_url,omitempty"`
	ImgName       *string `json:"img_name,omitempty"`
	ImgAltText    *string `json:"img_alt_text,omitempty"`
}

// openQuestionColumn returns the column of an open question, which is JSON.
func openQuestionColumn() column[lyceum.Attachment] {
	return column[lyceum.Attachment]{
		name: "open_response_question", nullable: true, json: true, limit: maxLong,
		read: func(_ *memo, c cell, a *lyceum.Attachment) string {
			var q openQuestion
			if err := json.Unmarshal(c.text, &q); err != nil {
				return "must be a JSON object such as {\"question\":\"Why?\",\"required\":true,\"upload_enabled\":false}"
			}
			asked := lyceum.OpenQuestion{
				Text: q.Question, Required: q.Required, Upload: q.UploadEnabled,
				ImageURL: wire.Opt(q.ImgURL), ImageName: wire.Opt(q.ImgName), ImageAlt: wire.Opt(q.ImgAltText),
			}
			for _, text := range [...]string{asked.Text, asked.ImageURL.Value, asked.ImageName.Value, asked.ImageAlt.Value} {
				if strings.ContainsRune(text, 0) {
					return nulRefused
				}
			}
			a.Question = lyceum.Some(asked)
			return ""
		},
		write: func(e *encoder, a *lyceum.Attachment) {
			q := a.Question.Value
			if !a.Question.Present {
				e.null()
				return
			}
			e.json(openQuestion{
				q.Text, q.Required, q.Upload, wire.Optional(q.ImageURL), wire.Optional(q.ImageName), wire.Optional(q.ImageAlt),
			})
		},
	}
}
