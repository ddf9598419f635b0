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
		if err := n.send(ctx, school, email, what); err != nil {
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
