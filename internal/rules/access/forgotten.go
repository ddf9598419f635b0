package access

import (
	"context"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// forgottenBounds limits the links that are sent to one account.
var forgottenBounds = Bounds{Hour: 3}

// PassLink hands a one-time link to its user, in the transaction that creates it.
type PassLink func(tx lyceum.Tx, user lyceum.User, link string) error

// Forgotten creates a one-time link for a person who forgot their password, and passes it on.
// It creates none if there is nobody to send it to or too many were requested; the caller must
// not reveal which.
func (a *Accounts) Forgotten(ctx context.Context, school lyceum.SchoolID, email string, pass PassLink) error {
	v := a.store.In(ctx, school)
	user, found, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
	if err != nil || !found || user.DisabledAt.Present {
		return err
	}
	// Names that do not exist take no space from the counts of accounts.
	_, err = a.forgotten.try(ctx, school, strings.ToLower(email), errNoTries)
	if err == errNoTries { //nolint:errorlint // compared unwrapped on purpose
		return nil
	}
	if err != nil {
		return err
	}
	by := lyceum.By{School: school, Actor: userActor(user.ID)}
	_, err = a.newLink(ctx, by, user.ID, lyceum.ForgotPassword, pass)
	return err
}

// SchoolOfApp returns the school that a client id belongs to, without checking that the app
// exists.
func SchoolOfApp(clientID string) (lyceum.SchoolID, bool) { return schoolOf(appPrefix, clientID) }
