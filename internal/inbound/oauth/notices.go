package oauth

import (
	"context"
	"log/slog"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

// Notices tell people by email what was done to their accounts.
type Notices struct {
	School func(context.Context, lyceum.SchoolID) (lyceum.School, error)
	Mail   func(ctx context.Context, to, subject, text string) error // nil: nobody is told
	Site   web.Site
	Log    *slog.Logger

	mailing chan struct{} // as many at once as it holds
}

// NewNotices makes notices.
func NewNotices(n Notices) *Notices {
	n.mailing = make(chan struct{}, lettersAtOnce)
	return &n
}

// Tell tells somebody, at the address they had, that their account was changed. It
// does not wait for that.
func (n *Notices) Tell(ctx context.Context, school lyceum.SchoolID, email string, what people.Changed) {
	if n.Mail == nil {
		return
	}
	n.later(ctx, school, func(ctx context.Context) error { return n.send(ctx, school, email, what) })
}

// Ask sends the link that confirms a new email address to it. It does not wait for
// that.
func (n *Notices) Ask(ctx context.Context, school lyceum.SchoolID, email, link string) {
	n.later(ctx, school, func(ctx context.Context) error {
		named, err := n.School(ctx, school)
		if err != nil {
			return err
		}
		name, v := web.Plain(named.Name), visit{School: named}
		return n.Mail(ctx, email, "Your new email address at "+name, "An app that acts for you was asked to change the "+
			"email address of your account at "+name+" to this one.\nIf you want that, confirm it here within 48 hours. "+
			"You sign in "+
			"with your old address for that:\n\n"+n.Site.AuthURL+v.path("confirm_email/"+link)+"\n\n"+
			"If you do not, there is nothing to do: your address stays as it is.\n")
	})
}

// readdressed tells somebody at their old address that they have another one.
func (n *Notices) readdressed(ctx context.Context, school lyceum.School, before string) {
	if n.Mail == nil {
		return
	}
	n.later(ctx, school.ID, func(ctx context.Context) error {
		name := web.Plain(school.Name)
		return n.Mail(ctx, before, "Your account at "+name, "The email address of your account at "+name+" was changed. You "+
			"confirmed it while you were signed in.\nYou were signed out everywhere.\n\nIf that was not you, get in touch with "+
			"the school.\n")
	})
}

// later sends a letter unless too many are being sent.
func (n *Notices) later(ctx context.Context, school lyceum.SchoolID, send func(context.Context) error) {
	select {
	case n.mailing <- struct{}{}:
	default:
		n.Log.WarnContext(ctx, "too many emails are being sent: a user was not told of a change of their account",
			"school", school)
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer func() { <-n.mailing }()
		if err := send(ctx); err != nil {
			n.Log.WarnContext(ctx, "a user could not be told of a change of their account", "school", school, "err", err)
		}
	}()
}

func (n *Notices) send(ctx context.Context, id lyceum.SchoolID, email string, what people.Changed) error {
	school, err := n.School(ctx, id)
	if err != nil {
		return err
	}
	changed := "password"
	switch {
	case what.Email && what.Password:
		changed = "email address and password"
	case what.Email:
		changed = "email address"
	}
	name := web.Plain(school.Name)
	return n.Mail(ctx, email, "Your account at "+name, "The "+changed+" of your account at "+name+" was changed by the "+
		"school.\nYou were signed out everywhere.\n\nIf you did not ask for this, get in touch with the school.\n")
}
