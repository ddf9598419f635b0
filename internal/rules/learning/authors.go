package learning

import (
	"context"
	"errors"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Authors lists the authors of a school.
func (s *Service) Authors(
	ctx context.Context, by lyceum.By, f lyceum.PartnerFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.AuthorProfile], error) {
	v := s.store.In(ctx, by.School)
	return v.Authors.List(v, f, p)
}

// Author returns an author. It fails with NotFound.
func (s *Service) Author(ctx context.Context, by lyceum.By, id lyceum.AuthorID) (lyceum.AuthorProfile, error) {
	v := s.store.In(ctx, by.School)
	return v.Authors.Get(v, id)
}

// AuthorChange is a change to an author. Absent fields stay unchanged.
type AuthorChange struct {
	ID              lyceum.AuthorID
	Name            lyceum.Opt[string]
	Bio             lyceum.Opt[lyceum.Opt[string]]
	ProfileImageURL lyceum.Opt[lyceum.Opt[string]]
	UserID          lyceum.Opt[lyceum.Opt[lyceum.UserID]]
	Share           lyceum.Opt[lyceum.Opt[float64]]
}

func (c *AuthorChange) apply(to *lyceum.AuthorProfile) {
	if c.Name.Present {
		to.Name = c.Name
	}
	to.Bio, to.ProfileImageURL = c.Bio.Else(to.Bio), c.ProfileImageURL.Else(to.ProfileImageURL)
	to.UserID, to.Share = c.UserID.Else(to.UserID), c.Share.Else(to.Share)
}

// CreateAuthor creates an author. It fails with Conflict if the user is already an author.
func (s *Service) CreateAuthor(ctx context.Context, by lyceum.By, params AuthorChange) (lyceum.AuthorProfile, error) {
	return lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (a lyceum.AuthorProfile, err error) {
		params.apply(&a)
		picture := s.namePicture(tx, "profile_image_url", &a.ProfileImageURL, nil)
		if err := errors.Join(checkAuthor(tx, &a), picture); err != nil {
			return a, err
		}
		if a.ID, err = tx.Authors.NextID(tx); err != nil {
			return a, err
		}
		return a, tx.Authors.Insert(tx, a)
	})
}

// UpdateAuthor changes an author. It fails with NotFound, and with Conflict if the user is
// already another author.
func (s *Service) UpdateAuthor(ctx context.Context, by lyceum.By, params AuthorChange) (lyceum.AuthorProfile, error) {
	return lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (lyceum.AuthorProfile, error) {
		a, err := tx.Authors.Get(tx, params.ID)
		if err != nil {
			return a, err
		}
		before := a.ProfileImageURL
		params.apply(&a)
		picture := s.namePicture(tx, "profile_image_url", &a.ProfileImageURL, &before)
		if err := errors.Join(checkAuthor(tx, &a), picture); err != nil {
			return a, err
		}
		_, err = tx.Authors.Save(tx, a)
		return a, err
	})
}

// ArchiveAuthor archives an author. It fails with NotFound.
func (s *Service) ArchiveAuthor(ctx context.Context, by lyceum.By, id lyceum.AuthorID) (lyceum.AuthorProfile, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.AuthorProfile, error) {
		a, err := tx.Authors.Get(tx, id)
		if err != nil || a.ArchivedAt.Present {
			return a, err
		}
		a.ArchivedAt = lyceum.Some(now)
		return a, tx.Authors.Update(tx, a)
	})
}

func checkAuthor(tx lyceum.Tx, a *lyceum.AuthorProfile) error {
	if !a.UserID.Present {
		return nil
	}
	if err := checkUser(tx, a.UserID.Value); err != nil || a.ArchivedAt.Present {
		return err
	}
	same, err := lyceum.All(tx.Authors, tx, lyceum.PartnerFilter{UserID: a.UserID, IsArchived: lyceum.Some(false)})
	for i := range same {
		if same[i].ID != a.ID {
			return conflict("author_exists", "user %d is already author %d", a.UserID.Value, same[i].ID)
		}
	}
	return err
}

// ImportAuthors begins an import of authors. If a file leaves out the share or the archiving
// time, the stored value stays.
func (s *Service) ImportAuthors(by lyceum.By) *Rows[lyceum.AuthorProfile] {
	type row = lyceum.AuthorProfile
	return &Rows[row]{s, by, shape[row]{
		what: "authors",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(a *row) int32 { return int32(a.UserID.Value) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			ids := make([]lyceum.AuthorID, len(rows))
			for i := range rows {
				ids[i] = rows[i].ID
			}
			kept, err := tx.Authors.Find(tx, ids...)
			if err != nil {
				return nil, err
			}
			for i := range rows {
				old := kept[rows[i].ID]
				keep(&rows[i].Share, old.Share)
				keep(&rows[i].ArchivedAt, old.ArchivedAt)
			}
			return aboutErased(tx, rows, "empty", authorOf)
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) { return tx.Authors.Save(tx, rows...) },
	}}
}
