package access

import (
	"context"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// forgottenBounds are those of the links that are sent to one account.
var forgottenBounds = Bounds{Hour: 3}

// PassLink passes a one-time link on to its user, in the change that makes it.
type PassLink func(tx lyceum.Tx, user lyceum.User, link string) error

// Forgotten makes a one-time link for a person who forgot the password, and passes it
// on. It makes none where there is nobody to send it to, and when too many were asked
// for; whoever asks must not be told which.
func (a *Accounts) Forgotten(ctx context.Context, school lyceum.SchoolID, email string, pass PassLink) error {
	v := a.store.In(ctx, school)
	user, found, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
	if err != nil || !found || user.DisabledAt.Present {
		return err
	}
	// Names that nobody has take no room from the counts of accounts.
	_, err = a.forgotten.try(ctx, school, strings.ToLower(email), errNoTries)
	if err == errNoTries { //nolint:errorlint // this very one
		return nil
	}
	if err != nil {
		return err
	}
	by := lyceum.By{School: school, Actor: userActor(user.ID)}
	_, err = a.newLink(ctx, by, user.ID, lyceum.ForgotPassword, pass)
	return err
}

// SchoolOfApp gives the school that a client id leads to, without asking
// whether there is such an app.
func SchoolOfApp(clientID string) (lyceum.SchoolID, bool) { return schoolOf(appPrefix, clientID) }
