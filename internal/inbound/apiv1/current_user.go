package apiv1

import (
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func myself() []wire.Operation {
	return []wire.Operation{
		wire.New("getCurrentUser", wire.Get, "/v1/current_user/me", wire.Mine(wire.As("", me))),
	}
}

func me(m access.Me) gen.CurrentUser {
	return gen.CurrentUser{
		ID: int32(m.ID), Name: wire.Optional(m.Name), Email: wire.Optional(m.Email), Role: string(m.Role),
	}
}
