package learning

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// InLecture identifies something in a lecture of a course, such as an attachment.
type InLecture struct {
	Lecture InCourse[lyceum.LectureID]
	ID      lyceum.AttachmentID
}

// Attachments lists the attachments of a lecture in order. It fails with NotFound.
func (s *Service) Attachments(
	ctx context.Context, by lyceum.By, q InCourse[lyceum.LectureID], p lyceum.Page,
) (lyceum.Listing[AttachmentDetail], error) {
	var l lyceum.Listing[lyceum.Attachment]
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		err := s.seeLecture(v, by, q)
		if err != nil {
			return err
		}
		l, err = v.Attachments.List(v, seenAttachments(by, q.ID), p)
		s.linkFiles(by, l.Rows...)
		return err
	})
	return lyceum.Listing[AttachmentDetail]{
		Page: l.Page, Total: l.Total, More: l.More, Rows: inCourse(q.Course, l.Rows...),
	}, err
}

// OneAttachment returns an attachment of a lecture. It fails with NotFound.
func (s *Service) OneAttachment(ctx context.Context, by lyceum.By, q InLecture) (a AttachmentDetail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if err := s.seeLecture(v, by, q.Lecture); err != nil {
			return err
		}
		a.Attachment, err = attachmentIn(v.Tables, v, q)
		a.Course = q.Lecture.Course
		if err == nil && by.Learner.Present && !a.IsPublished.Else(true) {
			err = noAttachment(q)
		}
		s.linkFile(by, &a.Attachment)
		return err
	})
	return a, err
}

// seeLecture rejects a lecture that the viewer cannot see.
func (s *Service) seeLecture(v lyceum.View, by lyceum.By, q InCourse[lyceum.LectureID]) error {
	if by.Learner.Present {
		_, err := bareLecture(v, by, q.Course, q.ID, s.clock())
		return err
	}
	_, err := lectureIn(v.Tables, v, q)
	return err
}

func noAttachment(q InLecture) error {
	return lyceum.Errorf(lyceum.NotFound, "there is no attachment %d in lecture %d", q.ID, q.Lecture.ID)
}

func attachmentIn(t *lyceum.Tables, from lyceum.Source, q InLecture) (lyceum.Attachment, error) {
	if _, err := lectureIn(t, from, q.Lecture); err != nil {
		return lyceum.Attachment{}, err
	}
	found, err := t.Attachments.Get(from, q.ID)
	gone := err == nil && (found.Lecture != q.Lecture.ID || found.ArchivedAt.Present)
	if gone || lyceum.KindOf(err) == lyceum.NotFound {
		err = noAttachment(q)
	}
	return found, err
}

// AttachmentDetail is an attachment with the course of its lecture.
type AttachmentDetail struct {
	lyceum.Attachment

	Course lyceum.CourseID
}

// inCourse pairs attachments with the course that their lecture is in.
func inCourse(course lyceum.CourseID, rows ...lyceum.Attachment) []AttachmentDetail {
	details := make([]AttachmentDetail, len(rows))
	for i := range rows {
		details[i] = AttachmentDetail{rows[i], course}
	}
	return details
}

// NewAttachment is an attachment to create.
type NewAttachment struct {
	AttachmentDetail

	QuestionFields []string // names of the request's members about an open question
}

// CreateAttachment creates an attachment at the end of a lecture. Learners see it immediately.
// It fails with NotFound, and with Invalid if a field does not fit the kind.
func (s *Service) CreateAttachment(
	ctx context.Context, by lyceum.By, fresh NewAttachment,
) (AttachmentDetail, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (AttachmentDetail, error) {
		made := fresh.AttachmentDetail
		made.CreatedAt, made.UpdatedAt = now, now
		if _, err := lectureIn(tx.Tables, tx, InCourse[lyceum.LectureID]{made.Course, made.Lecture}); err != nil {
			return made, err
		}
		if wrong := misfits(&lyceum.Attachment{}, &made.Attachment, fresh.QuestionFields...); len(wrong) > 0 {
			return made, lyceum.InvalidFields(wrong...)
		}
		if err := describeFile(tx, &made.Attachment); err != nil {
			return made, err
		}
		id, err := tx.Attachments.NextID(tx)
		if err != nil {
			return made, err
		}
		others, err := lyceum.All(tx.Attachments, tx, attachmentsOf(made.Lecture))
		if err != nil {
			return made, err
		}
		made.ID = id
		made.Position = lyceum.Some(next(others, func(a *lyceum.Attachment) int32 { return a.Position.Value }))
		kept := made.Attachment
		s.linkFile(by, &made.Attachment)
		return made, tx.Attachments.Insert(tx, kept)
	})
}

// describeFile fills in the metadata of an attachment's file if it was uploaded here.
func describeFile(tx lyceum.Tx, a *lyceum.Attachment) error {
	if !slices.Contains(fileKinds, a.Kind) {
		return nil
	}
	u, is, err := attachable(tx, "file.url", a.URL.Value, lyceum.LectureUpload, int32(a.Lecture))
	if err != nil || !is {
		return err
	}
	a.FileSize = lyceum.None[int32]()
	if size := u.SizeInBytes.Value; size <= math.MaxInt32 {
		a.FileSize = lyceum.Some(int32(size))
	}
	a.FileExtension = lyceum.Some(u.Extension)
	switch a.Kind {
	case lyceum.VideoAttachment:
		a.Video.Value.Duration = u.Duration
	case lyceum.AudioAttachment:
		a.Duration = u.Duration
	}
	if kind, known := lyceum.KnownMediaType(u.Extension); known {
		a.ContentType = lyceum.Some(kind)
		if a.Video.Present {
			a.Video.Value.ContentType = kind
		}
	}
	return nil
}

// UpdateAttachment changes an attachment of a lecture. It fails with NotFound, and with Invalid
// if a field does not fit the kind.
func (s *Service) UpdateAttachment(
	ctx context.Context, by lyceum.By, e Edit[InLecture, lyceum.Attachment],
) (AttachmentDetail, error) {
	return s.changeAttachment(ctx, by, e, func(before, a *lyceum.Attachment) error {
		if wrong := misfits(before, a, "open_response_question"); len(wrong) > 0 {
			return lyceum.InvalidFields(wrong...)
		}
		return nil
	})
}

// changeAttachment changes an attachment unless check rejects the result.
func (s *Service) changeAttachment(
	ctx context.Context, by lyceum.By, e Edit[InLecture, lyceum.Attachment],
	check func(before, after *lyceum.Attachment) error,
) (AttachmentDetail, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (AttachmentDetail, error) {
		row, err := attachmentIn(tx.Tables, tx, e.ID)
		before := row
		if err != nil {
			return AttachmentDetail{}, err
		}
		if e.Apply(&row); reflect.DeepEqual(row, before) {
			s.linkFile(by, &row)
			return AttachmentDetail{row, e.ID.Lecture.Course}, nil
		}
		if err := check(&before, &row); err != nil {
			return AttachmentDetail{}, err
		}
		row.UpdatedAt = now
		shown := AttachmentDetail{row, e.ID.Lecture.Course}
		s.linkFile(by, &shown.Attachment)
		return shown, tx.Attachments.Update(tx, row)
	})
}

// DeleteAttachment deletes an attachment of a lecture. Responses to a quiz are kept. It fails
// with NotFound, and with Forbidden for attachments that the system manages.
func (s *Service) DeleteAttachment(ctx context.Context, by lyceum.By, q InLecture) error {
	now := lyceum.Second(s.clock())
	_, err := s.changeAttachment(ctx, by, Edit[InLecture, lyceum.Attachment]{q, func(a *lyceum.Attachment) {
		a.ArchivedAt = lyceum.Some(now)
	}}, func(_, a *lyceum.Attachment) error {
		if a.Kind == lyceum.NativeCommentsAttachment || a.Kind == lyceum.UpsellAttachment {
			return lyceum.Errorf(lyceum.Forbidden, "attachments of the kind %s are managed by the system", a.Kind)
		}
		return nil
	})
	return err
}

// ReorderAttachments puts the attachments of a lecture in order. It fails with NotFound, and
// with Invalid unless each is named exactly once.
func (s *Service) ReorderAttachments(
	ctx context.Context, by lyceum.By, q Reorder[InCourse[lyceum.LectureID], lyceum.AttachmentID],
) ([]AttachmentDetail, error) {
	type row = lyceum.Attachment
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) ([]AttachmentDetail, error) {
		if _, err := lectureIn(tx.Tables, tx, q.Of); err != nil {
			return nil, err
		}
		rows, err := lyceum.All(tx.Attachments, tx, attachmentsOf(q.Of.ID))
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("attachment of lecture %d", q.Of.ID)
		err = reorder(tx, lyceum.AttachmentSequence, rows, q.Places, what, func(a *row) placed[lyceum.AttachmentID] {
			a.Position.Present = true
			return placed[lyceum.AttachmentID]{a.ID, &a.Position.Value, &a.UpdatedAt}
		}, now)
		s.linkFiles(by, rows...)
		return inCourse(q.Of.Course, rows...), err
	})
}

var fileKinds = []lyceum.AttachmentKind{
	lyceum.ImageAttachment, lyceum.VideoAttachment, lyceum.AudioAttachment, lyceum.PDFAttachment, lyceum.FileAttachment,
}

// misfits returns an error for each changed field that does not fit the attachment's kind.
// question are the names of the request's fields of an open question.
func misfits(before, a *lyceum.Attachment, question ...string) []lyceum.FieldError {
	var wrong []lyceum.FieldError
	only := func(field string, given bool, kinds ...lyceum.AttachmentKind) {
		if given && !slices.Contains(kinds, a.Kind) {
			wrong = append(wrong, lyceum.FieldError{
				Field: field, Message: "does not go with an attachment of the kind " + string(a.Kind),
			})
		}
	}
	only("text", a.Text != before.Text, lyceum.TextAttachment, lyceum.CodeEmbedAttachment, lyceum.CodeDisplayAttachment)
	only("code_syntax", a.CodeSyntax != before.CodeSyntax, lyceum.CodeEmbedAttachment, lyceum.CodeDisplayAttachment)
	only("alt_text", a.AltText != before.AltText, lyceum.ImageAttachment)
	only("flagged_as_decorative", a.Decorative != before.Decorative, lyceum.ImageAttachment)
	only("thumbnail_url", a.Video.Value != before.Video.Value, lyceum.VideoAttachment)
	only("file", a.ContentType != before.ContentType, fileKinds...)
	only("url", a.URL != before.URL && a.ContentType == before.ContentType, lyceum.EmbedAttachment)
	for _, field := range question {
		only(field, a.Question != before.Question, lyceum.OpenQuestionAttachment)
	}
	if a.Kind == lyceum.OpenQuestionAttachment && a.Question != before.Question && a.Question.Value.Text == "" {
		wrong = append(wrong, lyceum.FieldError{Field: "open_response_question.question", Message: "must not be empty"})
	}
	return wrong
}
