package people

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// OwnChange is a change by an app to the profile of its learner. Absent fields stay unchanged.
type OwnChange struct {
	Name      lyceum.Opt[lyceum.Opt[string]]
	Phone     lyceum.Opt[lyceum.Opt[string]]
	Marketing lyceum.Opt[bool]
	Email     lyceum.Opt[string] // to be confirmed
}

// ChangeOwn changes the profile of a learner. A new email address is only sent a link that
// confirms it, so nobody learns whether another user has it. It fails with Conflict for a new
// address if the server cannot send email.
func (s *Service) ChangeOwn(ctx context.Context, by lyceum.By, c OwnChange, d Doors) (lyceum.User, error) {
	if err := c.check(); err != nil {
		return lyceum.User{}, err
	}
	now := s.clock()
	user, err := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.User, error) {
		before, err := tx.Users.Get(tx, by.Learner.Value)
		if err != nil {
			return before, err
		}
		user := before
		c.apply(&user)
		if user != before {
			if err := change(tx, &before, &user); err != nil {
				return user, err
			}
		}
		if !c.Email.Present || c.Email.Value == user.Email {
			return user, nil
		}
		if d.SendConfirmation == nil {
			return user, &lyceum.Error{
				Kind: lyceum.Conflict, Code: "email_unavailable", Detail: "This school cannot send email, so an app cannot " +
					"change the email address: there would be no link to confirm it with. Nothing was changed. Ask the " +
					"school to change it.",
			}
		}
		link, err := d.Offer(tx, user.ID, c.Email.Value, now)
		if err != nil {
			return user, err
		}
		return user, d.SendConfirmation(tx, user.ID, c.Email.Value, link)
	})
	d.Forget()
	return user, err
}

func (c *OwnChange) check() error {
	wrong := checkTexts(c.Name.Value, lyceum.None[string]())
	if message := lyceum.CheckText(c.Phone.Value.Value, 0, lyceum.MaxPhoneNumber); message != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "phone_number", Message: message})
	}
	if c.Email.Present && !IsAddress(c.Email.Value) {
		wrong = append(wrong, lyceum.FieldError{Field: "email", Message: addressTaken})
	}
	return refused(wrong)
}

func (c *OwnChange) apply(user *lyceum.User) {
	if c.Name.Present {
		user.Name = filled(c.Name.Value)
	}
	if c.Phone.Present {
		user.PhoneNumber = filled(c.Phone.Value)
	}
	if c.Marketing.Present {
		user.Marketing = c.Marketing
	}
}

// Readdress gives a user another email address as part of a change, and returns the user as they
// were. It fails with Conflict if another user has the address.
func (s *Service) Readdress(tx lyceum.Tx, id lyceum.UserID, email string) (lyceum.User, error) {
	before, err := tx.Users.Get(tx, id)
	if err != nil || before.Email == email {
		return before, err
	}
	_, found, err := tx.Users.First(tx, lyceum.UserFilter{Email: lyceum.Some(email), Except: lyceum.Some(id)})
	if err == nil && found {
		err = &lyceum.Error{
			Kind: lyceum.Conflict, Code: "email_taken", Detail: "Another account of this school has this email address, so " +
				"nothing was changed.",
		}
	}
	if err != nil {
		return before, err
	}
	user := before
	user.Email = email
	return before, change(tx, &before, &user)
}
