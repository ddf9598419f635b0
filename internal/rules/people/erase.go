package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Erased is what is left of a person who was erased.
type Erased struct {
	User    lyceum.UserID
	Backups []lyceum.Backup // from before, by path
}

// Erase erases a person: what is stored of them, except that there was somebody, and
// what was bought. Their access ends, and their address can be used again. It fails
// with NotFound, and with Invalid for an owner and for somebody with an active
// subscription.
func (s *Service) Erase(ctx context.Context, by lyceum.By, id lyceum.UserID, d Doors) (Erased, error) {
	now := s.clock()
	var before lyceum.User
	err := s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		before, err = s.EraseFrom(tx, now, id, d)
		return err
	})
	if err != nil {
		return Erased{}, err
	}
	d.Left(by.School, before.Email)
	left := Erased{User: id}
	left.Backups, err = d.backups(ctx, by, id)
	return left, err
}

func (d *Doors) backups(ctx context.Context, by lyceum.By, id lyceum.UserID) ([]lyceum.Backup, error) {
	if d.Backups == nil {
		return nil, nil
	}
	return d.Backups(ctx, by.School, id)
}

// EraseFrom is Erase in a change that others are part of. It returns the user as
// they were.
func (s *Service) EraseFrom(tx lyceum.Tx, now time.Time, id lyceum.UserID, d Doors) (before lyceum.User, err error) {
	if before, err = tx.Users.Get(tx, id); err != nil {
		return before, err
	}
	if err := mayErase(tx, &before); err != nil {
		return before, err
	}
	if err := closeAll(tx, now, id, d); err != nil {
		return before, err
	}
	called, err := calledOf(tx, &before)
	if err != nil {
		return before, err
	}
	if err := errors.Join(eraseRows(tx, &before, now), d.Leave(tx, id, now)); err != nil {
		return before, err
	}
	if err := tx.EraseTraces(id, called); err != nil {
		return before, err
	}
	return before, tx.Erasures.Insert(tx, lyceum.Erasure{User: id, RequestedAt: lyceum.Second(now), Called: called})
}

// mayErase refuses whoever is needed, or is still charged.
func mayErase(tx lyceum.Tx, user *lyceum.User) error {
	if user.Role == lyceum.Owner {
		return lyceum.InvalidFields(lyceum.FieldError{
			Field: "user_id", Message: fmt.Sprintf("%d is an owner of the school; give them another role first", user.ID),
		})
	}
	sale, found, err := tx.Sales.First(tx, lyceum.SaleFilter{Purchases: lyceum.Some(lyceum.PurchaseFilter{
		User: lyceum.Some(user.ID), Active: lyceum.Some(true), Recurring: lyceum.Some(true),
	})})
	if err != nil || !found {
		return err
	}
	return lyceum.InvalidFields(lyceum.FieldError{
		Field: "user_id", Message: fmt.Sprintf("%d has an active subscription, sale %d; cancel it first", user.ID, sale.ID),
	})
}

// closeAll ends the access of a user to whatever they were given.
func closeAll(tx lyceum.Tx, now time.Time, user lyceum.UserID, d Doors) error {
	open, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{User: lyceum.Some(user), Open: true})
	if err != nil {
		return err
	}
	var products []lyceum.Product
	for i := range open {
		if !slices.Contains(products, open[i].Product) {
			products = append(products, open[i].Product)
		}
	}
	for _, p := range products {
		if err := d.Close(tx, now, user, p); err != nil {
			return err
		}
	}
	return nil
}

// calledOf returns what a person is and was called.
func calledOf(tx lyceum.Tx, user *lyceum.User) (lyceum.Called, error) {
	called, err := tx.FindCalled(user.ID)
	if err != nil {
		return called, err
	}
	called.Emails = append(called.Emails, user.Email)
	if user.Name.Present {
		called.Names = append(called.Names, user.Name.Value)
	}
	slices.Sort(called.Emails)
	slices.Sort(called.Names)
	called.Emails, called.Names = slices.Compact(called.Emails), slices.Compact(called.Names)
	return called, nil
}

// eraseRows erases the row of a person, their tags, and their profiles as an author
// or an affiliate.
func eraseRows(tx lyceum.Tx, user *lyceum.User, now time.Time) error {
	erased := lyceum.User{
		ID: user.ID, Email: lyceum.ErasedEmail(user.ID), Role: user.Role, CreatedAt: user.CreatedAt,
		DisabledAt: user.DisabledAt, LastSignInAt: user.LastSignInAt, ErasedAt: lyceum.Some(lyceum.Second(now)),
	}
	if _, err := tx.SetTags(user.ID, nil); err != nil {
		return err
	}
	if err := tx.Users.Update(tx, erased); err != nil {
		return err
	}
	of := lyceum.PartnerFilter{UserID: lyceum.Some(user.ID)}
	authors, err := lyceum.All(tx.Authors, tx, of)
	if err != nil {
		return err
	}
	for _, a := range authors {
		a.Name, a.Bio, a.ProfileImageURL = lyceum.None[string](), lyceum.None[string](), lyceum.None[string]()
		if _, err := tx.Authors.Save(tx, a); err != nil {
			return err
		}
	}
	affiliates, err := lyceum.All(tx.Affiliates, tx, of)
	if err != nil {
		return err
	}
	for _, a := range affiliates {
		a.Name = lyceum.None[string]()
		if _, err := tx.Affiliates.Save(tx, a); err != nil {
			return err
		}
	}
	return nil
}

// passes is how often what is stored is searched after a person was erased: what was
// being written then stands there by the time of the last.
const passes = 2

// ErasingSteps is how often FinishErasures is called until nothing is left to do,
// if nobody else writes.
const ErasingSteps = passes + 1

// FinishErasures does one pass for each person who is being erased, in every school.
// After the last one it is forgotten what they were called, and the files are
// cleaned; after that, that it is to be done.
func (s *Service) FinishErasures(ctx context.Context) error {
	pending, err := s.store.FindErasures(ctx)
	if err != nil || len(pending) == 0 {
		return err
	}
	var done []lyceum.SchoolErasure
	for i := range pending {
		if pending[i].Passes >= passes {
			done = append(done, pending[i])
			continue
		}
		err = errors.Join(err, s.pass(ctx, &pending[i]))
	}
	if len(done) == 0 {
		return err
	}
	if clean, failed := s.store.CleanErased(ctx); failed != nil || !clean {
		return errors.Join(err, failed) // the next pass tries again
	}
	for i := range done {
		stamp := lyceum.Stamp{School: done[i].School, At: s.clock(), Actor: "clock"}
		err = errors.Join(err, s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			return tx.Erasures.Delete(tx, done[i].User)
		}))
	}
	return err
}

// Elsewhere is where else people are kept: the snapshots of a sandbox. ForgetIn
// forgets a person there, who was created at a time, and runs pass; nothing is kept
// there in between.
type Elsewhere interface {
	ForgetIn(ctx context.Context, e *lyceum.SchoolErasure, created time.Time, pass func() error) error
}

func (s *Service) pass(ctx context.Context, e *lyceum.SchoolErasure) error {
	if s.Elsewhere == nil {
		return s.passHere(ctx, e)
	}
	v, one := s.store.In(ctx, e.School), lyceum.UserFilter{IDs: []lyceum.UserID{e.User}, Erased: true}
	user, found, err := v.Users.First(v, one)
	if err != nil || !found {
		return err
	}
	return s.Elsewhere.ForgetIn(ctx, e, user.CreatedAt, func() error { return s.passHere(ctx, e) })
}

func (s *Service) passHere(ctx context.Context, e *lyceum.SchoolErasure) error {
	stamp := lyceum.Stamp{School: e.School, At: s.clock(), Actor: "clock"}
	return s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		if err := tx.EraseTraces(e.User, e.Called); err != nil {
			return err
		}
		next := e.Erasure
		if next.Passes++; next.Passes >= passes {
			next.Called = lyceum.Called{}
		}
		return tx.Erasures.Update(tx, next)
	})
}

// EraseCopy erases a person, who is being erased elsewhere, from another state of
// the school: whoever has one of their addresses there, or is they under another
// one. It fails with Invalid like Erase.
func (s *Service) EraseCopy(
	ctx context.Context, by lyceum.By, e *lyceum.SchoolErasure, created time.Time, d Doors,
) error {
	v := s.store.In(ctx, by.School)
	ids := map[lyceum.UserID]bool{}
	if same, err := v.Users.Get(v, e.User); err == nil {
		ids[same.ID] = same.CreatedAt.Equal(created)
	} else if lyceum.KindOf(err) != lyceum.NotFound {
		return err
	}
	err := v.Users.Each(v, lyceum.UserFilter{Emails: e.Called.Emails}, func(user *lyceum.User) error {
		ids[user.ID] = true
		return nil
	})
	if err != nil {
		return err
	}
	for id, is := range ids {
		if !is {
			continue
		}
		if _, err := s.Erase(ctx, by, id, d); err != nil {
			return err
		}
	}
	err = s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error { return tx.EraseTraces(0, e.Called) })
	for range ErasingSteps {
		err = errors.Join(err, s.FinishErasures(ctx))
	}
	if left, failed := s.store.FindErasures(ctx); err == nil && len(left) > 0 {
		err = lyceum.Errorf(lyceum.Unavailable, "a copy of the school is in use and cannot be cleaned")
	} else {
		err = errors.Join(err, failed)
	}
	return err
}
