package apiv2

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

func (f *Face) myself() []wire.Operation {
	const path = "/v2/current_user/me"
	return []wire.Operation{
		wire.New("getCurrentUser", wire.Get, path, wire.Mine(wire.As("", me))),
		wire.New("updateCurrentUser", wire.Patch, path, f.updateMe),
	}
}

func me(m access.Me) gen.CurrentUser {
	return gen.CurrentUser{
		ID: int32(m.ID), Name: wire.Optional(m.Name), Email: m.Email.Value, Role: string(m.Role),
	}
}

// updateMe changes the learner's profile and returns what the app's scopes allow it to
// see.
func (f *Face) updateMe(ctx context.Context, who wire.Principal, r *http.Request) (wire.Body, error) {
	reads := who.Learner.Scopes.Has("profile:read")
	change := func(ctx context.Context, by lyceum.By, c people.OwnChange) (changedMe, error) {
		user, err := f.people.ChangeOwn(ctx, by, c, f.doors)
		return showChanged(&user, &c, reads), err
	}
	return wire.Serve(wire.OptBody(bindOwnChange), change)(ctx, who, r)
}

func bindOwnChange(in *wire.Input) people.OwnChange {
	var c people.OwnChange
	b := in.Body
	b("password").Never("cannot be changed by an app; the learner changes it on the school's sign-in page")
	c.Name = wire.Nullable(b("name"), b("name").Text(0, people.MaxUserText))
	c.Phone = wire.Nullable(b("phone_number"), b("phone_number").Text(0, lyceum.MaxPhoneNumber))
	c.Marketing, c.Email = b("allow_marketing_emails").Bool(), b("email").Text(0, people.MaxEmail)
	return c
}

// changedMe are the members of a profile that an app may see, in the order of the
// contract.
type changedMe []changedField

type changedField struct {
	name  string
	value any
}

func (c changedMe) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	for i, field := range c {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(field.value)
		if err != nil {
			return b, err
		}
		b = append(append(wire.AppendString(b, field.name), ':'), value...)
	}
	return append(b, '}'), nil
}

func showChanged(user *lyceum.User, c *people.OwnChange, reads bool) changedMe {
	shown := changedMe{}
	show := func(name string, sent bool, value any) {
		if sent || reads {
			shown = append(shown, changedField{name, value})
		}
	}
	show("id", false, user.ID)
	show("name", c.Name.Present, wire.Optional(user.Name))
	show("email", false, user.Email)
	show("role", false, user.Role)
	show("phone_number", c.Phone.Present, wire.Optional(user.PhoneNumber))
	show("allow_marketing_emails", c.Marketing.Present, wire.Optional(user.Marketing))
	if c.Email.Present && (!reads || c.Email.Value != user.Email) {
		shown = append(shown, changedField{"pending_email", c.Email.Value})
	}
	return shown
}
