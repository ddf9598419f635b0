package access

import (
	"context"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// forgottenBounds are those of the links that are sent to one account.
var forgottenBounds = Bounds{Hour: 3}

// Forgotten makes a one-time link for a person who forgot the password. The
// link is empty where there is nobody to send it to, and when too many were
// asked for; whoever asks must not be told which.
func (a *Accounts) Forgotten(
	ctx context.Context, school lyceum.SchoolID, email string,
) (link string, user lyceum.User, err error) {
	v := a.store.In(ctx, school)
	user, found, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
	if err != nil || !found || user.DisabledAt.Present {
		return "", lyceum.User{}, err
	}
	// Names that nobody has take no room from the counts of accounts.
	if !a.forgotten.Take(school, strings.ToLower(email)) {
		return "", lyceum.User{}, nil
	}
	link, err = a.newLink(ctx, lyceum.By{School: school, Actor: userActor(user.ID)}, user.ID, lyceum.ForgotPassword)
	return link, user, err
}

// SchoolOfApp gives the school that a client id leads to, without asking
// whether there is such an app.
func SchoolOfApp(clientID string) (lyceum.SchoolID, bool) { return schoolOf(appPrefix, clientID) }
