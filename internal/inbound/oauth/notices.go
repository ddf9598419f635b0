package oauth

import (
	"context"
	"log/slog"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// Notices tell people by email what was done to their accounts.
type Notices struct {
	School func(context.Context, lyceum.SchoolID) (lyceum.School, error)
	Emails *templates.Service // one that cannot send tells nobody
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
	changed := "password"
	switch {
	case what.Email && what.Password:
		changed = "email address and password"
	case what.Email:
		changed = "email address"
	}
	n.later(ctx, school, email, templates.AccountChanged, templates.Values{"changed": changed})
}

// Ask sends the link that confirms a new email address to it. It does not wait for
// that.
func (n *Notices) Ask(ctx context.Context, school lyceum.SchoolID, email, link string) {
	v := visit{School: lyceum.School{ID: school}}
	n.later(ctx, school, email, templates.ConfirmEmail, templates.Values{
		"link": n.Site.AuthURL + v.path("confirm_email/"+link),
	})
}

// readdressed tells somebody at their old address that they have another one.
func (n *Notices) readdressed(ctx context.Context, school lyceum.SchoolID, before string) {
	n.later(ctx, school, before, templates.EmailChanged, templates.Values{})
}

// later sends an email unless too many are being sent, or the server cannot.
func (n *Notices) later(
	ctx context.Context, school lyceum.SchoolID, to string, name templates.EmailName, values templates.Values,
) {
	if !n.Emails.Sends() {
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
		if err := n.send(ctx, school, to, name, values); err != nil {
			n.Log.WarnContext(ctx, "a user could not be told of a change of their account", "school", school, "err", err)
		}
	}()
}

func (n *Notices) send(
	ctx context.Context, id lyceum.SchoolID, to string, name templates.EmailName, values templates.Values,
) error {
	school, err := n.School(ctx, id)
	if err != nil {
		return err
	}
	values["school.name"] = web.Plain(school.Name)
	return n.Emails.Post(ctx, id, to, name, values)
}
