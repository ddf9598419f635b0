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
	var called lyceum.Called
	err := s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
		if before, err = s.EraseFrom(tx, now, id, d); err != nil {
			return err
		}
		e, err := tx.Erasures.Get(tx, id)
		called = e.Called
		return err
	})
	if err != nil {
		return Erased{}, err
	}
	d.Left(by.School, before.Email)
	s.eraseNow(ctx, by.Stamp(now), id, called)
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
	if err := tx.EraseTraces(id); err != nil {
		return before, err
	}
	if err := errors.Join(lyceum.DropSecondFactor(tx, id), dropPlan(tx, id, "")); err != nil {
		return before, err
	}
	return before, tx.Erasures.Insert(tx, lyceum.Erasure{User: id, RequestedAt: lyceum.Second(now), Called: called})
}

// searchesNow is how many searches Erase waits for at most: of every kind of text, and
// of the newest 10,000 messages of webhooks and as many answers to them.
const searchesNow = 100

// eraseNow erases from texts what it finds by searchesNow searches, in half of the time
// that ctx has left. The passes look at all of them again.
func (s *Service) eraseNow(ctx context.Context, stamp lyceum.Stamp, user lyceum.UserID, called lyceum.Called) {
	if until, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(until)/2)
		defer cancel()
	}
	_ = s.eraseTexts(ctx, stamp, user, called, searchesNow)
}

// eraseTexts erases a person from what names them, by up to a number of searches, or by
// all of them with 0. It is searched while others write, and erased a few texts at a
// time.
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

// mayErase refuses whoever is needed, or is still charged.
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

// passes is how often what is stored is searched after a person was erased: what was
// being written then stands there by the time of the last.
const passes = 2

// searchesAtOnce is how many searches of one person a call of FinishErasures does at most.
const searchesAtOnce = 50

// FinishErasures does a pass for each person who is being erased, in every school,
// or the next parts of one, and reports whether there is more to do of it. After the
// last pass it is forgotten what they were called, and the files are cleaned; after
// that, that it is to be done.
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
		return more, errors.Join(err, failed) // the next pass tries again
	}
	for i := range done {
		stamp := lyceum.Stamp{School: done[i].School, At: s.clock(), Actor: "clock"}
		err = errors.Join(err, s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			return tx.Erasures.Delete(tx, done[i].User)
		}))
	}
	return more, err
}

// EraseAll does all that FinishErasures has to do, and reports whether nobody is
// being erased any more. While others read the database, somebody may be.
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

// Elsewhere is where else people are kept: the snapshots of a sandbox. ForgetIn
// forgets a person there, who was created at a time, and runs pass; nothing is kept
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

// passHere goes on with a pass, until texts were found and are erased.
func (s *Service) passHere(ctx context.Context, e *lyceum.SchoolErasure) (more bool, err error) {
	v := s.store.In(ctx, e.School)
	at, err := v.Erasures.Get(v, e.User)
	if err != nil || at.Passes >= passes {
		return false, err
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

// textsPart erases what was found at a place of a pass, unless somebody else has gone
// on from there meanwhile, and ends the pass after the last place.
func textsPart(
	tx lyceum.Tx, at *lyceum.Erasure, found lyceum.FoundTexts, next lyceum.Searched, more bool,
) error {
	e, err := tx.Erasures.Get(tx, at.User)
	if err != nil || e.Passes != at.Passes || e.Searched != at.Searched {
		return err
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
	if err := s.eraseTexts(ctx, by.Stamp(s.clock()), 0, e.Called, 0); err != nil {
		return err
	}
	done, err := s.EraseAll(ctx)
	if err == nil && !done {
		err = lyceum.Errorf(lyceum.Unavailable, "a copy of the school is in use and cannot be cleaned")
	}
	return err
}
