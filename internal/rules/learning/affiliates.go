package learning

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Affiliates lists the affiliates of a school.
func (s *Service) Affiliates(
	ctx context.Context, by lyceum.By, f lyceum.PartnerFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.AffiliatePartner], error) {
	v := s.store.In(ctx, by.School)
	return v.Affiliates.List(v, f, p)
}

// Affiliate returns an affiliate. It fails with NotFound.
func (s *Service) Affiliate(
	ctx context.Context, by lyceum.By, id lyceum.AffiliateID,
) (lyceum.AffiliatePartner, error) {
	v := s.store.In(ctx, by.School)
	return v.Affiliates.Get(v, id)
}

// AffiliateChange is a change to an affiliate. Absent fields stay unchanged.
type AffiliateChange struct {
	ID         lyceum.AffiliateID
	Name       lyceum.Opt[string]
	UserID     lyceum.Opt[lyceum.Opt[lyceum.UserID]]
	Share      lyceum.Opt[lyceum.Opt[float64]]
	CookieDays lyceum.Opt[lyceum.Opt[int32]]
}

func (c *AffiliateChange) apply(to *lyceum.AffiliatePartner) {
	if c.Name.Present {
		to.Name = c.Name
	}
	to.UserID, to.Share = c.UserID.Else(to.UserID), c.Share.Else(to.Share)
	to.CookieDays = c.CookieDays.Else(to.CookieDays)
}

// CreateAffiliate creates an affiliate. It fails with Conflict if the user is already an
// affiliate.
func (s *Service) CreateAffiliate(
	ctx context.Context, by lyceum.By, params AffiliateChange,
) (lyceum.AffiliatePartner, error) {
	return lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (a lyceum.AffiliatePartner, err error) {
		params.apply(&a)
		if err := checkAffiliate(tx, &a); err != nil {
			return a, err
		}
		if a.ID, err = tx.Affiliates.NextID(tx); err != nil {
			return a, err
		}
		return a, tx.Affiliates.Insert(tx, a)
	})
}

// UpdateAffiliate changes an affiliate. It fails with NotFound, and with Conflict if the user is
// already another affiliate.
func (s *Service) UpdateAffiliate(
	ctx context.Context, by lyceum.By, params AffiliateChange,
) (lyceum.AffiliatePartner, error) {
	return lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (lyceum.AffiliatePartner, error) {
		a, err := tx.Affiliates.Get(tx, params.ID)
		if err != nil {
			return a, err
		}
		params.apply(&a)
		if err := checkAffiliate(tx, &a); err != nil {
			return a, err
		}
		_, err = tx.Affiliates.Save(tx, a)
		return a, err
	})
}

// ArchiveAffiliate archives an affiliate. It fails with NotFound.
func (s *Service) ArchiveAffiliate(
	ctx context.Context, by lyceum.By, id lyceum.AffiliateID,
) (lyceum.AffiliatePartner, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.AffiliatePartner, error) {
		a, err := tx.Affiliates.Get(tx, id)
		if err != nil || a.ArchivedAt.Present {
			return a, err
		}
		a.ArchivedAt = lyceum.Some(now)
		return a, tx.Affiliates.Update(tx, a)
	})
}

func checkAffiliate(tx lyceum.Tx, a *lyceum.AffiliatePartner) error {
	if !a.UserID.Present {
		return nil
	}
	if err := checkUser(tx, a.UserID.Value); err != nil || a.ArchivedAt.Present {
		return err
	}
	same, err := lyceum.All(tx.Affiliates, tx, lyceum.PartnerFilter{UserID: a.UserID, IsArchived: lyceum.Some(false)})
	for i := range same {
		if same[i].ID != a.ID {
			return conflict("affiliate_exists", "user %d is already affiliate %d", a.UserID.Value, same[i].ID)
		}
	}
	return err
}

func checkUser(tx lyceum.Tx, user lyceum.UserID) error {
	known, err := tx.Known(lyceum.UserSequence, []int32{int32(user)})
	if err == nil && len(known) == 0 {
		err = lyceum.InvalidFields(noSuch("user_id", "user", int32(user)))
	}
	return err
}

func conflict(code, format string, args ...any) error {
	return &lyceum.Error{Kind: lyceum.Conflict, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// ImportAffiliates begins an import of affiliates.
func (s *Service) ImportAffiliates(by lyceum.By) *Rows[lyceum.AffiliatePartner] {
	type row = lyceum.AffiliatePartner
	return &Rows[row]{s, by, shape[row]{
		what: "affiliates",
		names: []reference[row]{
			{"user_id", "user", lyceum.UserSequence, func(a *row) int32 { return int32(a.UserID.Value) }},
		},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			return aboutErased(tx, rows, "empty", affiliateOf)
		},
		save: func(tx lyceum.Tx, rows []row, _ time.Time) (lyceum.Saved, error) {
			return tx.Affiliates.Save(tx, rows...)
		},
	}}
}
