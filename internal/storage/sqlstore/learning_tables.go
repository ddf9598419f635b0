package sqlstore

import (
	"database/sql"
	"encoding/json"

	"github.com/lyceum-school/lyceum"
)

var lectureSections = table[lyceum.LectureSection]{
	name: "lecture_sections", seq: lyceum.LectureSectionSequence, created: lyceum.LectureSectionCreated, updated: lyceum.LectureSectionUpdated,
	columns: []string{"lecture_section_id", "course_id", "name", "is_published", "position"},
	id:      func(s *lyceum.LectureSection) int32 { return int32(s.ID) },
	bind: func(s *lyceum.LectureSection) []any {
		return []any{int64(s.ID), int64(s.Course), s.Name, flag(s.IsPublished), int64(s.Position)}
	},
	scan: func(s *lyceum.LectureSection) []any {
		return []any{scanInt(&s.ID), scanInt(&s.Course), scanText(&s.Name), scanBool(&s.IsPublished), scanInt(&s.Position)}
	},
}

var lectures = table[lyceum.Lecture]{
	name: "lectures", seq: lyceum.LectureSequence, created: lyceum.LectureCreated, updated: lyceum.LectureUpdated,
	columns: []string{"lecture_id", "course_id", "lecture_section_id", "name", "is_published", "position"},
	id:      func(l *lyceum.Lecture) int32 { return int32(l.ID) },
	bind: func(l *lyceum.Lecture) []any {
		return []any{int64(l.ID), int64(l.Course), int64(l.Section), optText(l.Name), flag(l.IsPublished), int64(l.Position)}
	},
	scan: func(l *lyceum.Lecture) []any {
		return []any{scanInt(&l.ID), scanInt(&l.Course), scanInt(&l.Section), scanOptText(&l.Name), scanBool(&l.IsPublished), scanInt(&l.Position)}
	},
}

var attachments = table[lyceum.Attachment]{
	name: "attachments", seq: lyceum.AttachmentSequence, created: lyceum.AttachmentCreated, updated: lyceum.AttachmentUpdated,
	columns: []string{
		"attachment_id", "lecture_id", "name", "kind", "url", "text", "position", "file_size", "file_extension",
		"quiz_id", "questions", "video_url", "video_content_type", "video_status", "video_thumbnail", "video_duration",
	},
	id: func(a *lyceum.Attachment) int32 { return int32(a.ID) },
	bind: func(a *lyceum.Attachment) []any {
		args := []any{
			int64(a.ID), int64(a.Lecture), optText(a.Name), string(a.Kind), optText(a.URL), optText(a.Text), optInt(a.Position), optInt(a.FileSize), optText(a.FileExtension),
			nil, nil, nil, nil, nil, nil, nil,
		}
		if a.Quiz != nil {
			questions, _ := json.Marshal(a.Quiz.Questions) //nolint:errchkjson // texts and truths: nothing that could fail
			args[9], args[10] = int64(a.Quiz.ID), string(questions)
		}
		if v := a.Video.Value; a.Video.Present {
			args[11], args[12], args[13], args[14], args[15] = v.URL, v.ContentType, string(v.Status), optText(v.Thumbnail), optInt(v.Duration)
		}
		return args
	},
	scan: func(a *lyceum.Attachment) []any {
		video := &a.Video
		return []any{
			scanInt(&a.ID), scanInt(&a.Lecture), scanOptText(&a.Name), scanText(&a.Kind), scanOptText(&a.URL), scanOptText(&a.Text), scanOptInt(&a.Position), scanOptInt(&a.FileSize), scanOptText(&a.FileExtension),
			scanQuiz(a), scanQuestions(a),
			there(video, func(v *lyceum.Video) sql.Scanner { return scanText(&v.URL) }),
			part(video, func(v *lyceum.Video) sql.Scanner { return scanText(&v.ContentType) }),
			part(video, func(v *lyceum.Video) sql.Scanner { return scanText(&v.Status) }),
			part(video, func(v *lyceum.Video) sql.Scanner { return scanOptText(&v.Thumbnail) }),
			part(video, func(v *lyceum.Video) sql.Scanner { return scanOptInt(&v.Duration) }),
		}
	},
}

// there scans the column that tells whether a part of a row is there at all.
func there[T comparable](o *lyceum.Opt[T], column func(*T) sql.Scanner) sql.Scanner {
	return scanFunc(func(src any) error {
		*o = lyceum.None[T]()
		if src == nil {
			return nil
		}
		o.Present = true
		return column(&o.Value).Scan(src)
	})
}

// part scans a further column of a part that there has found.
func part[T comparable](o *lyceum.Opt[T], column func(*T) sql.Scanner) sql.Scanner {
	return scanFunc(func(src any) error {
		if !o.Present {
			return nil
		}
		return column(&o.Value).Scan(src)
	})
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

var enrollments = table[lyceum.Enrollment]{
	name: "enrollments", seq: lyceum.EnrollmentSequence, created: lyceum.EnrollmentCreated, updated: lyceum.EnrollmentUpdated,
	columns: []string{"enrollment_id", "user_id", "course_id", "enrolled_at", "expires_at", "ended_at", "sale_id"},
	id:      func(e *lyceum.Enrollment) int32 { return int32(e.ID) },
	bind: func(e *lyceum.Enrollment) []any {
		return []any{int64(e.ID), int64(e.User), int64(e.Course), micros(e.EnrolledAt), optMicros(e.ExpiresAt), optMicros(e.EndedAt), optInt(e.Sale)}
	},
	scan: func(e *lyceum.Enrollment) []any {
		return []any{scanInt(&e.ID), scanInt(&e.User), scanInt(&e.Course), scanTime(&e.EnrolledAt), scanOptTime(&e.ExpiresAt), scanOptTime(&e.EndedAt), scanOptInt(&e.Sale)}
	},
}

var progress = table[lyceum.Progress]{
	name: "progress", byIndex: true, seq: lyceum.ProgressSequence, created: lyceum.ProgressCreated, updated: lyceum.ProgressUpdated,
	columns: []string{"progress_id", "user_id", "course_id", "percent_complete", "completed_at", "certificate_issued_at", "certificate_page_id", "certificate_serial_number"},
	id:      func(p *lyceum.Progress) int32 { return int32(p.ID) },
	bind: func(p *lyceum.Progress) []any {
		args := []any{int64(p.ID), int64(p.User), int64(p.Course), int64(p.PercentComplete), optMicros(p.CompletedAt), nil, nil, nil}
		if c := p.Certificate.Value; p.Certificate.Present {
			args[5], args[6], args[7] = micros(c.IssuedAt), int64(c.PageID), c.SerialNumber
		}
		return args
	},
	scan: func(p *lyceum.Progress) []any {
		given := &p.Certificate
		return []any{
			scanInt(&p.ID), scanInt(&p.User), scanInt(&p.Course), scanInt(&p.PercentComplete), scanOptTime(&p.CompletedAt),
			there(given, func(c *lyceum.Certificate) sql.Scanner { return scanTime(&c.IssuedAt) }),
			part(given, func(c *lyceum.Certificate) sql.Scanner { return scanInt(&c.PageID) }),
			part(given, func(c *lyceum.Certificate) sql.Scanner { return scanText(&c.SerialNumber) }),
		}
	},
}

var lectureProgress = table[lyceum.LectureProgress]{
	name: "lecture_progress", byIndex: true, seq: lyceum.LectureProgressSequence, created: lyceum.LectureProgressCreated, updated: lyceum.LectureProgressUpdated,
	columns: []string{"lecture_progress_id", "user_id", "course_id", "lecture_id", "completed_at"},
	id:      func(p *lyceum.LectureProgress) int32 { return int32(p.ID) },
	bind: func(p *lyceum.LectureProgress) []any {
		return []any{int64(p.ID), int64(p.User), int64(p.Course), int64(p.Lecture), micros(p.CompletedAt)}
	},
	scan: func(p *lyceum.LectureProgress) []any {
		return []any{scanInt(&p.ID), scanInt(&p.User), scanInt(&p.Course), scanInt(&p.Lecture), scanTime(&p.CompletedAt)}
	},
}

var quizResponses = table[lyceum.QuizResponse]{
	name: "quiz_responses", seq: lyceum.QuizResponseSequence, created: lyceum.QuizResponseCreated, updated: lyceum.QuizResponseUpdated,
	columns: []string{"quiz_response_id", "quiz_id", "user_id", "submitted_at", "percent_correct"},
	id:      func(r *lyceum.QuizResponse) int32 { return int32(r.ID) },
	bind: func(r *lyceum.QuizResponse) []any {
		return []any{int64(r.ID), int64(r.Quiz), int64(r.User), optMicros(r.SubmittedAt), optFloat(r.PercentCorrect)}
	},
	scan: func(r *lyceum.QuizResponse) []any {
		return []any{scanInt(&r.ID), scanInt(&r.Quiz), scanInt(&r.User), scanOptTime(&r.SubmittedAt), scanOptFloat(&r.PercentCorrect)}
	},
}

var comments = table[lyceum.Comment]{
	name: "comments", seq: lyceum.CommentSequence, created: lyceum.CommentCreated,
	columns: []string{"comment_id", "lecture_id", "user_id", "body", "created_at"},
	id:      func(c *lyceum.Comment) int32 { return int32(c.ID) },
	bind: func(c *lyceum.Comment) []any {
		return []any{int64(c.ID), int64(c.Lecture), int64(c.User), c.Body, micros(c.CreatedAt)}
	},
	scan: func(c *lyceum.Comment) []any {
		return []any{scanInt(&c.ID), scanInt(&c.Lecture), scanInt(&c.User), scanText(&c.Body), scanTime(&c.CreatedAt)}
	},
}
