package learning

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/lyceum-school/lyceum"
)

// InDownload identifies an attachment of a digital download.
type InDownload struct {
	Download lyceum.DigitalDownloadID
	ID       lyceum.DownloadAttachmentID
}

// LinkedAttachment is an attachment of a digital download with a link for the caller.
type LinkedAttachment struct {
	lyceum.DownloadAttachment

	Link FileLink
}

// DownloadAttachments lists the attachments of a digital download by id. It fails
// with NotFound.
func (s *Service) DownloadAttachments(
	ctx context.Context, by lyceum.By, id lyceum.DigitalDownloadID, p lyceum.Page,
) (l lyceum.Listing[LinkedAttachment], err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if by.Learner.Present {
			_, err = s.oneHeld(v, by, lyceum.Product{Kind: lyceum.DownloadKind, ID: int32(id)})
		} else {
			_, err = s.currentDownload(v.Tables, v, id)
		}
		if err != nil {
			return err
		}
		found, err := v.DownloadAttachments.List(v, attachmentsOfDownload(id), p)
		l = lyceum.Listing[LinkedAttachment]{Page: found.Page, Total: found.Total, More: found.More}
		for i := range found.Rows {
			l.Rows = append(l.Rows, s.linked(by, found.Rows[i]))
		}
		return err
	})
	return l, err
}

func attachmentsOfDownload(id lyceum.DigitalDownloadID) lyceum.DownloadAttachmentFilter {
	return lyceum.DownloadAttachmentFilter{Download: lyceum.Some(id)}
}

func (s *Service) linked(by lyceum.By, a lyceum.DownloadAttachment) LinkedAttachment {
	return LinkedAttachment{a, s.linkTo(by, DownloadFiles, int32(a.ID))}
}

// currentDownload returns a digital download that is not archived.
func (s *Service) currentDownload(
	t *lyceum.Tables, from lyceum.Source, id lyceum.DigitalDownloadID,
) (lyceum.DigitalDownload, error) {
	return s.DigitalDownloads().Current().get(t, from, id)
}

func (s *Service) attachmentOfDownload(
	t *lyceum.Tables, from lyceum.Source, q InDownload,
) (lyceum.DownloadAttachment, error) {
	if _, err := s.currentDownload(t, from, q.Download); err != nil {
		return lyceum.DownloadAttachment{}, err
	}
	a, err := t.DownloadAttachments.Get(from, q.ID)
	if err == nil && a.DigitalDownloadID != q.Download || lyceum.KindOf(err) == lyceum.NotFound {
		err = lyceum.Errorf(lyceum.NotFound, "there is no attachment %d in digital download %d", q.ID, q.Download)
	}
	return a, err
}

// DownloadAttachment returns an attachment of a digital download. It fails with
// NotFound.
func (s *Service) DownloadAttachment(
	ctx context.Context, by lyceum.By, q InDownload,
) (found LinkedAttachment, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		a, err := s.attachmentOfDownload(v.Tables, v, q)
		found = s.linked(by, a)
		return err
	})
	return found, err
}

// CreateDownloadAttachment creates an attachment of a digital download. It fails with NotFound,
// and with Invalid if a field does not fit its kind, or if it does not fit the other
// attachments.
func (s *Service) CreateDownloadAttachment(
	ctx context.Context, by lyceum.By, fresh lyceum.DownloadAttachment,
) (LinkedAttachment, error) {
	if field, wrong := fresh.Odd(); wrong != "" {
		return LinkedAttachment{}, lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: wrong})
	}
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (LinkedAttachment, error) {
		a := fresh
		a.CreatedAt, a.UpdatedAt = now, now
		if _, err := s.currentDownload(tx.Tables, tx, a.DigitalDownloadID); err != nil {
			return LinkedAttachment{}, err
		}
		others, err := tx.DownloadAttachments.List(
			tx, attachmentsOfDownload(a.DigitalDownloadID), lyceum.Page{Number: 1, Size: 1},
		)
		if err != nil {
			return LinkedAttachment{}, err
		}
		if len(others.Rows) > 0 {
			if wrong := besides(&a, others.Rows[0].Kind, others.Total); wrong != "" {
				return LinkedAttachment{}, lyceum.InvalidFields(lyceum.FieldError{Field: "kind", Message: wrong})
			}
		}
		kept, is, err := attachable(tx, "url", a.URL, lyceum.DownloadUpload, int32(a.DigitalDownloadID))
		if err != nil {
			return LinkedAttachment{}, err
		}
		if is && a.Kind == lyceum.DownloadFile {
			a.SizeInBytes = kept.SizeInBytes // 0 for an empty file
		}
		if a.ID, err = tx.DownloadAttachments.NextID(tx); err != nil {
			return LinkedAttachment{}, err
		}
		return s.linked(by, a), tx.DownloadAttachments.Insert(tx, a)
	})
}

// besides returns why a digital download that has attachments of a kind cannot have another one.
func besides(a *lyceum.DownloadAttachment, kind lyceum.DownloadAttachmentKind, others int64) string {
	switch {
	case others == 0:
		return ""
	case kind != a.Kind:
		return fmt.Sprintf("must be %s, like the other attachments of digital download %d", kind, a.DigitalDownloadID)
	case kind == lyceum.DownloadRedirect:
		return fmt.Sprintf("redirect can be that of one attachment, and digital download %d has one", a.DigitalDownloadID)
	case others >= lyceum.MaxDownloadAttachments:
		return fmt.Sprintf("is that of %d attachments of digital download %d already, the most that it can have",
			lyceum.MaxDownloadAttachments, a.DigitalDownloadID)
	}
	return ""
}

// DeleteDownloadAttachment permanently deletes an attachment of a digital download. It fails
// with NotFound.
func (s *Service) DeleteDownloadAttachment(ctx context.Context, by lyceum.By, q InDownload) error {
	_, err := lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (none struct{}, err error) {
		if _, err := s.attachmentOfDownload(tx.Tables, tx, q); err != nil {
			return none, err
		}
		return none, tx.DownloadAttachments.Delete(tx, q.ID)
	})
	return err
}

// ImportDownloadAttachments begins an import of the attachments of digital downloads.
func (s *Service) ImportDownloadAttachments(by lyceum.By) *Rows[lyceum.DownloadAttachment] {
	type row = lyceum.DownloadAttachment
	before := saidDownloads{}
	return &Rows[row]{s, by, shape[row]{
		what: "attachments of digital downloads",
		names: []reference[row]{{
			"digital_download_id", "digital download", lyceum.DigitalDownloadSequence,
			func(a *row) int32 { return int32(a.DigitalDownloadID) },
		}},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			return oddDownloadAttachments(tx, rows, before)
		},
		earlier: before,
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			err := keepUnsaid(tx, tx.DownloadAttachments, rows, func(a *row) lyceum.DownloadAttachmentID { return a.ID },
				func(a, old *row) { keepTimes(&a.CreatedAt, &a.UpdatedAt, old.CreatedAt, old.UpdatedAt, now) })
			if err != nil {
				return lyceum.Saved{}, err
			}
			return tx.DownloadAttachments.Save(tx, rows...)
		},
	}}
}

// oddDownloadAttachments returns a problem for each row that contradicts itself, an earlier row,
// or the stored attachments of its digital download.
func oddDownloadAttachments(
	tx lyceum.Tx, rows []lyceum.DownloadAttachment, earlier saidDownloads,
) (problems []lyceum.RowProblem, err error) {
	type row = lyceum.DownloadAttachment
	in := map[lyceum.DownloadAttachmentID]lyceum.DigitalDownloadID{}
	before, err := tx.DownloadAttachments.Find(
		tx, idsOf(rows, func(a *row) lyceum.DownloadAttachmentID { return a.ID })...,
	)
	for id := range before {
		in[id] = before[id].DigitalDownloadID
	}
	known := map[lyceum.DigitalDownloadID]attachmentKinds{}
	for i := range rows {
		a := &rows[i]
		of, read := known[a.DigitalDownloadID]
		if !read && err == nil {
			of, err = kindsIn(tx, a.DigitalDownloadID)
			maps.Copy(of, earlier[a.DigitalDownloadID])
			known[a.DigitalDownloadID] = of
		}
		if err != nil {
			return nil, err
		}
		if field, wrong := oddBeside(a, in, of); wrong != "" {
			problems = append(problems, problem(i, field, "%s", wrong))
			continue
		}
		in[a.ID], of[a.ID] = a.DigitalDownloadID, a.Kind
	}
	return problems, nil
}

// attachmentKinds are the kinds of the attachments of a digital download.
type attachmentKinds map[lyceum.DownloadAttachmentID]lyceum.DownloadAttachmentKind

// saidDownloads has the attachments from the file that are not in the database yet, by digital
// download.
type saidDownloads map[lyceum.DigitalDownloadID]attachmentKinds

func (s saidDownloads) add(rows []lyceum.DownloadAttachment) {
	for i := range rows {
		a := &rows[i]
		if s[a.DigitalDownloadID] == nil {
			s[a.DigitalDownloadID] = attachmentKinds{}
		}
		s[a.DigitalDownloadID][a.ID] = a.Kind
	}
}

func (s saidDownloads) forget() { clear(s) }

func kindsIn(tx lyceum.Tx, id lyceum.DigitalDownloadID) (attachmentKinds, error) {
	of := attachmentKinds{}
	err := tx.DownloadAttachments.Each(tx, attachmentsOfDownload(id), func(a *lyceum.DownloadAttachment) error {
		of[a.ID] = a.Kind
		return nil
	})
	return of, err
}

// but returns the kind and the number of the attachments other than one.
func (k attachmentKinds) but(one lyceum.DownloadAttachmentID) (kind lyceum.DownloadAttachmentKind, n int64) {
	for id, other := range k {
		if id != one {
			kind, n = other, n+1
		}
	}
	return kind, n
}

// oddBeside returns what is wrong with a row. in has the digital download of each known
// attachment, and of has the kinds of the attachments in the row's own.
func oddBeside(
	a *lyceum.DownloadAttachment, in map[lyceum.DownloadAttachmentID]lyceum.DigitalDownloadID, of attachmentKinds,
) (field, wrong string) {
	if other, there := in[a.ID]; there && other != a.DigitalDownloadID {
		return "id", fmt.Sprintf("%d is an attachment of digital download %d", a.ID, other)
	}
	if field, wrong = a.Odd(); wrong != "" {
		return field, wrong
	}
	kind, n := of.but(a.ID)
	return "kind", besides(a, kind, n)
}
