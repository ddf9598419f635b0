package access

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// maxOpenLinks is the most unused links of one purpose that a user can have. Creating another
// one deletes the oldest.
const maxOpenLinks = 5

// NewPasswordLink creates a one-time link with which a user can set a password. Earlier ones
// stay valid until one is used. The returned text is a secret that only the user may see.
func (a *Accounts) NewPasswordLink(ctx context.Context, by lyceum.By, user lyceum.UserID) (string, error) {
	return a.newLink(ctx, by, user, lyceum.SetPassword, func(lyceum.Tx, lyceum.User, string) error { return nil })
}

// newLink creates a link and passes it on in the same transaction.
func (a *Accounts) newLink(
	ctx context.Context, by lyceum.By, user lyceum.UserID, purpose lyceum.LinkPurpose, pass PassLink,
) (string, error) {
	now := a.clock()
	text := secretText(linkPrefix, by.School, a.entropy())
	return lyceum.Change(ctx, a.store, by.Stamp(now), func(tx lyceum.Tx) (string, error) {
		kept, err := tx.Users.Get(tx, user)
		if err != nil {
			return "", err
		}
		if err := by.PermitOver(tx.Tables, tx, &kept); err != nil {
			return "", err
		}
		if kept.DisabledAt.Present {
			return "", lyceum.Errorf(lyceum.Conflict, "This user is disabled and cannot sign in with any password.")
		}
		if err := trimLinks(tx, user, purpose, maxOpenLinks-1); err != nil {
			return "", err
		}
		err = makeLink(tx, lyceum.Link{
			Hash: HashSecret(text), User: user, Purpose: purpose, CreatedAt: now, ExpiresAt: now.Add(LinkLifetime),
			MadeBy: handed(by),
		})
		if err != nil {
			return "", err
		}
		return text, pass(tx, kept, text)
	})
}

// makeLink stores a link, with a journal entry about the user, because the link lets anyone who
// has it sign in.
func makeLink(tx lyceum.Tx, link lyceum.Link) error {
	tx.Note(lyceum.LinkCreated, int32(link.User))
	return tx.Links.Insert(tx, link)
}

// handed returns the member of staff who passes on a link, if a person makes it.
func handed(by lyceum.By) lyceum.Opt[lyceum.UserID] {
	return lyceum.Opt[lyceum.UserID]{Value: by.Person, Present: by.Person != 0}
}

// endHanded ends the links that a member of staff made for others and may still know.
func endHanded(tx lyceum.Tx, by lyceum.UserID) error {
	_, err := tx.Links.Clear(tx, lyceum.LinkFilter{MadeBy: lyceum.Some(by), Unspent: true})
	return err
}

// trimLinks deletes a user's unspent links for one purpose, except the newest.
func trimLinks(tx lyceum.Tx, user lyceum.UserID, purpose lyceum.LinkPurpose, newest int) error {
	open, err := lyceum.All(tx.Links, tx, lyceum.LinkFilter{
		User: lyceum.Some(user), Purpose: lyceum.Some(purpose),
		Unspent: true,
	})
	if err != nil {
		return err
	}
	for _, link := range open[min(newest, len(open)):] {
		if err := tx.Links.Delete(tx, link.Hash); err != nil {
			return err
		}
	}
	return nil
}

var errLink = lyceum.Errorf(lyceum.NotFound, "This link is no longer valid: it was used, or it is too old. If you "+
	"have set your password with it, sign in; if not, ask for a new one.")

// Link returns the user a one-time link belongs to, without spending it.
func (a *Accounts) Link(ctx context.Context, school lyceum.SchoolID, text string) (lyceum.User, error) {
	if from, ok := schoolOf(linkPrefix, text); !ok || from != school {
		return lyceum.User{}, errLink
	}
	v := a.store.In(ctx, school)
	link, err := v.Links.Get(v, HashSecret(text))
	if lyceum.KindOf(err) == lyceum.NotFound {
		return lyceum.User{}, errLink
	}
	if err != nil {
		return lyceum.User{}, err
	}
	sets := link.Purpose == lyceum.SetPassword || link.Purpose == lyceum.ForgotPassword
	if !sets || link.UsedAt.Present || !a.clock().Before(link.ExpiresAt) {
		return lyceum.User{}, errLink
	}
	return v.Users.Get(v, link.User)
}

// SetPassword spends a one-time link to set a new password. It ends the user's other links,
// their sessions and what they granted to apps (RFC 9700, section 4.14.2).
func (a *Accounts) SetPassword(
	ctx context.Context, school lyceum.SchoolID, text, password string,
) (lyceum.User, error) {
	user, err := a.Link(ctx, school, text)
	if err != nil {
		return lyceum.User{}, err
	}
	if err := passwordTaken(password, user); err != nil {
		return lyceum.User{}, err
	}
	hash, err := a.Hash(ctx, password)
	if err != nil {
		return lyceum.User{}, err
	}
	now := a.clock()
	var changed lyceum.User
	err = a.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: userActor(user.ID)}, func(tx lyceum.Tx) error {
		if err := spendLink(tx, HashSecret(text), now); err != nil {
			return err
		}
		if changed, err = tx.Users.Get(tx, user.ID); err != nil {
			return err
		}
		if changed.DisabledAt.Present {
			return errLink
		}
		changed.PasswordHash, changed.MustChangePassword = hash, false
		if err := tx.Users.Update(tx, changed); err != nil {
			return err
		}
		return lyceum.EndAccess(tx, user.ID, now)
	})
	a.oauth.forgetAll()
	if err == nil {
		a.clearTries(ctx, school, changed.Email)
	}
	return changed, err
}

// spendLink records that a link was used, after which it is no longer valid.
func spendLink(tx lyceum.Tx, hash lyceum.KeyHash, now time.Time) error {
	link, err := tx.Links.Get(tx, hash)
	if lyceum.KindOf(err) == lyceum.NotFound || err == nil && link.UsedAt.Present {
		return errLink
	}
	if err != nil {
		return err
	}
	link.UsedAt, link.Email = lyceum.Some(now), lyceum.None[string]()
	return tx.Links.Update(tx, link)
}
