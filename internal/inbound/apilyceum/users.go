package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/people"
)

func (f *Face) users() []wire.Operation {
	const each = "/lyceum/v1/users/{user_id}"
	return []wire.Operation{
		one("setUserTags", wire.Put, each+"/tags", bindUserTags, f.People.SetTags, "", userTags),
		one("disableUser", wire.Run, each+"/disable", wire.NoBody(bindUser), f.Accounts.SwitchOff, "user", userState),
		one("enableUser", wire.Run, each+"/enable", wire.NoBody(bindUser), f.Accounts.SwitchOn, "user", userState),
	}
}

func bindUser(in *wire.Input) lyceum.UserID { return wire.PathID[lyceum.UserID](in, "user_id") }

func bindUserTags(in *wire.Input) lyceum.UserTags {
	return lyceum.UserTags{User: bindUser(in), Tags: wire.Sequence[string](in.Body("tags").Required(), "strings")}
}

func userTags(d people.Detail) gen.UserTags {
	return gen.UserTags{Tags: append([]string{}, d.Tags...)}
}

func userState(u lyceum.User) gen.UserState {
	return gen.UserState{ID: int32(u.ID), DisabledAt: wire.OptMoment(u.DisabledAt)}
}
