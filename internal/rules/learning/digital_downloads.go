package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// DigitalDownloads lists the digital downloads of a school.
func (s *Service) DigitalDownloads(
	ctx context.Context, by lyceum.By, f lyceum.DigitalDownloadFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.DigitalDownload], error) {
	v := s.store.In(ctx, by.School)
	return v.DigitalDownloads.List(v, f, p)
}

// DigitalDownload returns a digital download. It fails with NotFound.
func (s *Service) DigitalDownload(
	ctx context.Context, by lyceum.By, id lyceum.DigitalDownloadID,
) (lyceum.DigitalDownload, error) {
	v := s.store.In(ctx, by.School)
	return v.DigitalDownloads.Get(v, id)
}

// CreateDigitalDownload creates a digital download, which is listed as soon as
// it is published. It fails with Invalid for an unknown author.
func (s *Service) CreateDigitalDownload(
	ctx context.Context, by lyceum.By, d lyceum.DigitalDownload,
) (lyceum.DigitalDownload, error) {
	now := lyceum.Second(s.clock())
	d.IsListed, d.CreatedAt, d.UpdatedAt = true, now, now
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (_ lyceum.DigitalDownload, err error) {
		known, err := tx.Authors.Find(tx, d.AuthorID.Value)
		if err != nil {
			return d, err
		}
		if len(known) == 0 {
			return d, lyceum.InvalidFields(lyceum.FieldError{
				Field:   "author_bio_id",
				Message: "must be the id of an author of the school",
			})
		}
		if d.ID, err = tx.DigitalDownloads.NextID(tx); err != nil {
			return d, err
		}
		return d, tx.DigitalDownloads.Insert(tx, d)
	})
}

// DigitalDownloadChange is what to change of a digital download; an absent part
// stays as it is.
type DigitalDownloadChange struct {
	ID          lyceum.DigitalDownloadID
	Name        lyceum.Opt[string]
	Description lyceum.Opt[lyceum.Opt[string]]
	Category    lyceum.Opt[lyceum.Opt[string]]
	IsPublished lyceum.Opt[bool]
	ImageURL    lyceum.Opt[lyceum.Opt[string]]
}

// UpdateDigitalDownload changes a digital download. It fails with NotFound.
func (s *Service) UpdateDigitalDownload(
	ctx context.Context, by lyceum.By, c DigitalDownloadChange,
) (lyceum.DigitalDownload, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.DigitalDownload, error) {
		d, err := tx.DigitalDownloads.Get(tx, c.ID)
		if err != nil {
			return d, err
		}
		before := d
		d.Name = c.Name.Else(d.Name)
		d.Description = c.Description.Else(d.Description)
		d.Category = c.Category.Else(d.Category)
		d.IsPublished = c.IsPublished.Else(d.IsPublished)
		d.ImageURL = c.ImageURL.Else(d.ImageURL)
		if d == before {
			return d, nil
		}
		d.UpdatedAt = now
		_, err = tx.DigitalDownloads.Save(tx, d)
		return d, err
	})
}

// DeleteDigitalDownload deletes a digital download for good. It fails with
// NotFound.
func (s *Service) DeleteDigitalDownload(ctx context.Context, by lyceum.By, id lyceum.DigitalDownloadID) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		return tx.DigitalDownloads.Delete(tx, id)
	})
}

// ImportDigitalDownloads begins an import of digital downloads.
func (s *Service) ImportDigitalDownloads(by lyceum.By) *Rows[lyceum.DigitalDownload] {
	type row = lyceum.DigitalDownload
	return &Rows[row]{s, by, shape[row]{
		what: "digital downloads",
		names: []reference[row]{{
			"author_bio_id", "author", lyceum.AuthorSequence, func(d *row) int32 { return int32(d.AuthorID.Value) },
		}},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.DigitalDownloads.Save(tx, rows...)
		},
	}}
}
