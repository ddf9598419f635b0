package oauth

import (
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// Notices notify users by email of changes to their accounts: each email is queued together
// with the change.
type Notices struct {
	Emails *templates.Service // if it cannot send, nobody is notified
	Site   web.Site
}

// NotifyChange notifies a user, at their previous address, that their account was changed.
func (n *Notices) NotifyChange(tx lyceum.Tx, user lyceum.UserID, email string, what people.Changed) error {
	changed := "password"
	switch {
	case what.Email && what.Password:
		changed = "email address and password"
	case what.Email:
		changed = "email address"
	}
	return n.queue(tx, templates.AccountChanged, user, email, templates.Values{"changed": changed})
}

// SendConfirmation sends the link that confirms a new email address to that address.
func (n *Notices) SendConfirmation(tx lyceum.Tx, user lyceum.UserID, email, link string) error {
	return n.queue(tx, templates.ConfirmEmail, user, email, n.link(tx, "confirm_email", link))
}

// forgotten sends the link for a new password to a user who forgot theirs.
func (n *Notices) forgotten(tx lyceum.Tx, user lyceum.User, link string) error {
	return n.queue(tx, templates.SetPassword, user.ID, user.Email, n.link(tx, "set_password", link))
}

// readdressed notifies a user at their old address that it was changed.
func (n *Notices) readdressed(tx lyceum.Tx, user lyceum.UserID, before string) error {
	return n.queue(tx, templates.EmailChanged, user, before, nil)
}

// link returns the URL of a page of the school as the value of the template variable link.
func (n *Notices) link(tx lyceum.Tx, page, link string) templates.Values {
	v := visit{School: lyceum.School{ID: tx.School()}}
	return templates.Values{"link": n.Site.AuthURL + v.path(page+"/"+link)}
}

func (n *Notices) queue(
	tx lyceum.Tx, name templates.EmailName, user lyceum.UserID, to string, values templates.Values,
) error {
	return n.Emails.Queue(tx, templates.Outgoing{
		Name: name, User: lyceum.Some(user), To: lyceum.Some(to), Values: values,
	})
}
