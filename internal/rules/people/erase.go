package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Erased is the result of erasing a person.
type Erased struct {
	User    lyceum.UserID
	Backups []lyceum.Backup // older ones that contain the person, by path
}

// Erase erases a person: everything that is stored about them, except that they existed and what
// they bought. Their access ends, and their address can be used again. It fails with NotFound,
// and with Invalid for an owner or a member of the staff, and for a user with an active
// subscription.
func (s *Service) Erase(ctx context.Context, by lyceum.By, id lyceum.UserID, d Doors) (Erased, error) {
	e, err := s.eraseIf(ctx, by, id, d, func(lyceum.Tx) error { return nil })
	if err != nil {
		return Erased{}, err
	}
	s.eraseNow(ctx, by.Stamp(s.clock()), id, e.Called)
	left := Erased{User: id}
	left.Backups, err = d.backups(ctx, by, id)
	return left, err
}

// eraseIf is Erase, unless allowed fails in the transaction. It leaves the texts that name the
// person to the passes.
func (s *Service) eraseIf(
	ctx context.Context, by lyceum.By, id lyceum.UserID, d Doors, allowed func(lyceum.Tx) error,
) (e lyceum.Erasure, err error) {
	now := s.clock()
	var before lyceum.User
	err = s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		if err := allowed(tx); err != nil {
			return err
		}
		if before, err = s.EraseFrom(tx, now, id, d); err != nil {
			return err
		}
		e, err = tx.Erasures.Get(tx, id)
		return err
	})
	if err == nil {
		d.Left(by.School, before.Email)
	}
	return e, err
}

func (d *Doors) backups(ctx context.Context, by lyceum.By, id lyceum.UserID) ([]lyceum.Backup, error) {
	if d.Backups == nil {
		return nil, nil
	}
	return d.Backups(ctx, by.School, id)
}

// EraseFrom is Erase as part of a larger change. It returns the user as they were.
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
	if err := errors.Join(eraseRows(tx, &before, now), lyceum.EndAccess(tx, id, now)); err != nil {
		return before, err
	}
	if err := tx.EraseTraces(id); err != nil {
		return before, err
	}
	if err := errors.Join(lyceum.DropSecondFactor(tx, id), dropPlan(tx, id, "")); err != nil {
		return before, err
	}
	tx.Note(lyceum.UserErased, int32(id))
	return before, tx.Erasures.Insert(tx, lyceum.Erasure{User: id, RequestedAt: lyceum.Second(now), Called: called})
}

// searchesNow is the maximum number of searches that Erase waits for. They cover every kind of
// text, but only the newest 10,000 webhook messages and as many responses to them.
const searchesNow = 100

// eraseNow erases a person from the texts that searchesNow searches find, in half of the time
// that ctx has left. The passes search all texts again.
func (s *Service) eraseNow(ctx context.Context, stamp lyceum.Stamp, user lyceum.UserID, called lyceum.Called) {
	if until, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(until)/2)
		defer cancel()
	}
	_ = s.eraseTexts(ctx, stamp, user, called, searchesNow)
}

// eraseTexts erases a person from the texts that name them, by up to a number of searches, or by
// all of them if that is 0. Other writes continue during the searches, and only a few texts are
// erased at a time.
func (s *Service) eraseTexts(
	ctx context.Context, stamp lyceum.Stamp, user lyceum.UserID, called lyceum.Called, searches int,
) error {
	var from lyceum.Searched
	more := true
	for n := 0; more && (n < searches || searches == 0); n++ {
		var found lyceum.FoundTexts
		var err error
		if found, from, more, err = s.store.In(ctx, stamp.School).FindTexts(user, called, from); err != nil {
			return err
		}
		if len(found.Keys) == 0 {
			continue
		}
		err = s.store.Write(ctx, stamp, func(tx lyceum.Tx) error { return tx.EraseTexts(user, called, found) })
		if err != nil {
			return err
		}
	}
	return nil
}

// mayErase rejects a person who owns or works for the school, or who is still charged.
func mayErase(tx lyceum.Tx, user *lyceum.User) error {
	if user.Role == lyceum.Owner {
		return lyceum.InvalidFields(lyceum.FieldError{
			Field: "user_id", Message: fmt.Sprintf("%d is an owner of the school; give them another role first", user.ID),
		})
	}
	role, err := lyceum.StaffRoleOf(tx.Tables, tx, user)
	if err != nil {
		return err
	}
	if role != "" {
		return lyceum.InvalidFields(lyceum.FieldError{
			Field: "user_id", Message: fmt.Sprintf("%d works for the school; remove them from the staff first", user.ID),
		})
	}
	of := lyceum.SaleFilter{Purchases: lyceum.Some(lyceum.PurchaseFilter{
		User: lyceum.Some(user.ID), Active: lyceum.Some(true), Recurring: lyceum.Some(true),
	})}
	return tx.Sales.Each(tx, of, func(sale *lyceum.Sale) error {
		if sale.PaidInFull {
			return nil
		}
		return lyceum.InvalidFields(lyceum.FieldError{
			Field: "user_id", Message: fmt.Sprintf("%d has an active subscription, sale %d; cancel it first", user.ID, sale.ID),
		})
	})
}

// closeAll ends a user's access to everything that they were given. The end of a collection may
// leave them a product that left it, which is ended next.
func closeAll(tx lyceum.Tx, now time.Time, user lyceum.UserID, d Doors) error {
	closed := map[lyceum.Product]bool{}
	for more := true; more; {
		open, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{User: lyceum.Some(user), Open: true})
		if err != nil {
			return err
		}
		more = false
		for i := range open {
			p := open[i].Product
			if closed[p] {
				continue
			}
			if err := d.Close(tx, now, user, p); err != nil {
				return err
			}
			closed[p], more = true, true
		}
	}
	return nil
}

// calledOf returns the names and addresses that a person has and had.
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

// eraseRows erases the row of a person, their tags and queued emails, and their profiles as an
// author or an affiliate.
func eraseRows(tx lyceum.Tx, user *lyceum.User, now time.Time) error {
	erased := lyceum.User{
		ID: user.ID, Email: lyceum.ErasedEmail(user.ID), Role: user.Role, CreatedAt: user.CreatedAt,
		DisabledAt: user.DisabledAt, ErasedAt: lyceum.Some(lyceum.Second(now)),
	}
	if _, err := tx.SetTags(user.ID, nil); err != nil {
		return err
	}
	if _, err := tx.Emails.Clear(tx, lyceum.EmailFilter{User: lyceum.Some(user.ID)}); err != nil {
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

// passes is how often the stored texts are searched after a person was erased. What was still
// being written then is visible to the last pass.
const passes = 2

// searchesAtOnce is the maximum number of searches for one person in a call of FinishErasures.
const searchesAtOnce = 50

// FinishErasures does a pass, or the next part of one, for each person who is being erased, in
// every school, and reports whether a pass has more to do. After the last pass, it deletes the
// names and addresses of the person and cleans the database files; only then does it delete the
// erasure itself.
func (s *Service) FinishErasures(ctx context.Context) (more bool, err error) {
	pending, err := s.store.FindErasures(ctx)
	if err != nil || len(pending) == 0 {
		return false, err
	}
	var done []lyceum.SchoolErasure
	for i := range pending {
		if pending[i].Passes >= passes {
			done = append(done, pending[i])
			continue
		}
		again, failed := s.pass(ctx, &pending[i])
		more, err = more || again, errors.Join(err, failed)
	}
	if len(done) == 0 {
		return more, err
	}
	if clean, failed := s.store.CleanErased(ctx); failed != nil || !clean {
		return more, errors.Join(err, failed) // the next call tries again
	}
	for i := range done {
		stamp := lyceum.Stamp{School: done[i].School, At: s.clock(), Actor: "clock"}
		err = errors.Join(err, s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			return unlessFinished(tx.Erasures.Delete(tx, done[i].User))
		}))
	}
	return more, err
}

// unlessFinished returns the error of reading or deleting an erasure, unless it says that another
// process has finished the erasure meanwhile.
func unlessFinished(err error) error {
	if lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	return err
}

// EraseAll does everything that FinishErasures has to do, and reports whether all erasures are
// complete. Some may not be while others read the database.
func (s *Service) EraseAll(ctx context.Context) (done bool, err error) {
	for range passes + 1 {
		for more := true; more; {
			if more, err = s.FinishErasures(ctx); err != nil {
				return false, err
			}
		}
	}
	left, err := s.store.FindErasures(ctx)
	return len(left) == 0, err
}

// Elsewhere is another place where people are stored: the snapshots of a sandbox. ForgetIn
// erases a person there, who was created at the given time, and runs pass; nothing is stored
// there in between.
type Elsewhere interface {
	ForgetIn(ctx context.Context, e *lyceum.SchoolErasure, created time.Time, pass func() error) error
}

func (s *Service) pass(ctx context.Context, e *lyceum.SchoolErasure) (more bool, err error) {
	if s.Elsewhere == nil {
		return s.passHere(ctx, e)
	}
	v, one := s.store.In(ctx, e.School), lyceum.UserFilter{IDs: []lyceum.UserID{e.User}, Erased: true}
	user, found, err := v.Users.First(v, one)
	if err != nil || !found {
		return false, err
	}
	err = s.Elsewhere.ForgetIn(ctx, e, user.CreatedAt, func() (err error) {
		more, err = s.passHere(ctx, e)
		return err
	})
	return more, err
}

// passHere continues a pass until it has found and erased some texts.
func (s *Service) passHere(ctx context.Context, e *lyceum.SchoolErasure) (more bool, err error) {
	v := s.store.In(ctx, e.School)
	at, err := v.Erasures.Get(v, e.User)
	if err != nil || at.Passes >= passes {
		return false, unlessFinished(err)
	}
	var found lyceum.FoundTexts
	next, more := at.Searched, true
	for n := 0; more && len(found.Keys) == 0 && n < searchesAtOnce; n++ {
		if found, next, more, err = v.FindTexts(e.User, at.Called, next); err != nil {
			return false, err
		}
	}
	stamp := lyceum.Stamp{School: e.School, At: s.clock(), Actor: "clock"}
	err = s.store.Write(ctx, stamp, func(tx lyceum.Tx) error { return textsPart(tx, &at, found, next, more) })
	return more, err
}

// textsPart erases what was found by a part of a pass, unless another process has continued from
// there meanwhile, and ends the pass after its last part.
func textsPart(
	tx lyceum.Tx, at *lyceum.Erasure, found lyceum.FoundTexts, next lyceum.Searched, more bool,
) error {
	e, err := tx.Erasures.Get(tx, at.User)
	if err != nil || e.Passes != at.Passes || e.Searched != at.Searched {
		return unlessFinished(err)
	}
	if err := tx.EraseTexts(e.User, e.Called, found); err != nil {
		return err
	}
	e.Searched = next
	if more {
		return tx.Erasures.Update(tx, e)
	}
	if err := tx.EraseTraces(e.User); err != nil {
		return err
	}
	e.Searched = lyceum.Searched{}
	if e.Passes++; e.Passes >= passes {
		e.Called = lyceum.Called{}
	}
	return tx.Erasures.Update(tx, e)
}

// EraseCopy erases a person, who is being erased elsewhere, from a copy of the school: everyone
// there who has one of their addresses, and the same user if they have another address there. It
// fails with Invalid like Erase.
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
	if err := s.eraseTexts(ctx, by.Stamp(s.clock()), 0, e.Called, 0); err != nil {
		return err
	}
	done, err := s.EraseAll(ctx)
	if err == nil && !done {
		err = lyceum.Errorf(lyceum.Unavailable, "a copy of the school is in use and cannot be cleaned")
	}
	return err
}
