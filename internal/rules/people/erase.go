package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Erase erases a person: what is stored of them, except that there was somebody, and
// what was bought. Their access ends, and their address can be used again. It fails
// with NotFound, and with Invalid for an owner and for somebody with an active
// subscription.
func (s *Service) Erase(ctx context.Context, by lyceum.By, id lyceum.UserID, d Doors) error {
	now := s.clock()
	var before lyceum.User
	err := s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		before, err = s.EraseFrom(tx, now, id, d)
		return err
	})
	if err == nil {
		d.Left(by.School, before.Email)
	}
	return err
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

func (s *Service) pass(ctx context.Context, e *lyceum.SchoolErasure) error {
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
