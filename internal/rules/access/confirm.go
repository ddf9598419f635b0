package access

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// OfferEmail stores, within a transaction, that a user wants another email address, and returns
// the secret of the link that confirms it. It fails with RateLimited if too many links were
// created recently.
func (a *Accounts) OfferEmail(tx lyceum.Tx, user lyceum.UserID, email string, now time.Time) (string, error) {
	made, err := lyceum.All(tx.Links, tx, lyceum.LinkFilter{
		User: lyceum.Some(user), Purpose: lyceum.Some(lyceum.ConfirmEmail),
	})
	if err != nil {
		return "", err
	}
	if len(made) >= maxOpenLinks && now.Sub(made[maxOpenLinks-1].CreatedAt) < time.Hour {
		return "", lyceum.Errorf(lyceum.RateLimited, "too many links that confirm an email address were "+
			"sent within an hour; wait and try again")
	}
	for _, link := range made { // they are counted, but only the newest stays valid
		if link.UsedAt.Present {
			continue
		}
		link.UsedAt, link.Email = lyceum.Some(now), lyceum.None[string]()
		if err := tx.Links.Update(tx, link); err != nil {
			return "", err
		}
	}
	text := secretText(linkPrefix, tx.School(), a.entropy())
	return text, makeLink(tx, lyceum.Link{
		Hash: HashSecret(text), User: user, Purpose: lyceum.ConfirmEmail, CreatedAt: now,
		ExpiresAt: now.Add(LinkLifetime), Email: lyceum.Some(email),
	})
}

// EmailLink returns the address that a link confirms, without spending the link. The link only
// works for the user who requested the address, and only the newest one does, so that anyone
// else who reads it cannot take over the account.
func (a *Accounts) EmailLink(
	ctx context.Context, school lyceum.SchoolID, text string, user lyceum.UserID,
) (string, error) {
	if from, ok := schoolOf(linkPrefix, text); !ok || from != school {
		return "", errLink
	}
	v := a.store.In(ctx, school)
	return emailOf(v.Tables, v, HashSecret(text), user, a.clock())
}

func emailOf(
	t *lyceum.Tables, from lyceum.Source, hash lyceum.KeyHash, user lyceum.UserID, now time.Time,
) (string, error) {
	link, err := t.Links.Get(from, hash)
	switch {
	case lyceum.KindOf(err) == lyceum.NotFound && err != nil:
		return "", errLink
	case err != nil:
		return "", err
	case link.User != user || link.Purpose != lyceum.ConfirmEmail || link.UsedAt.Present || !now.Before(link.ExpiresAt):
		return "", errLink
	}
	return link.Email.Value, nil
}

// Readdress changes a user's email address within a transaction and returns the user as they
// were before.
type Readdress func(tx lyceum.Tx, user lyceum.UserID, email string) (lyceum.User, error)

// ConfirmEmail spends a link and makes the address that it confirms the user's. It ends the
// user's sessions and links, and returns the address.
func (a *Accounts) ConfirmEmail(
	ctx context.Context, school lyceum.SchoolID, text string, user lyceum.UserID, readdress Readdress,
) (email string, err error) {
	if _, err := a.EmailLink(ctx, school, text, user); err != nil {
		return "", err
	}
	var before string
	now, hash := a.clock(), HashSecret(text)
	err = a.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: userActor(user)}, func(tx lyceum.Tx) error {
		if email, err = emailOf(tx.Tables, tx, hash, user, now); err != nil {
			return err
		}
		if err := spendLink(tx, hash, now); err != nil {
			return err
		}
		old, err := readdress(tx, user, email)
		if err != nil {
			return err
		}
		before = old.Email
		return lyceum.EndStays(tx, user)
	})
	a.oauth.forgetAll()
	if err == nil {
		a.clearTries(ctx, school, before, email)
	}
	return email, err
}
