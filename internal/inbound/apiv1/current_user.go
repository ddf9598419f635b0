package apiv1

import (
	"context"

	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// GetCurrentUser serves GET /v1/current_user/me.
func (f *Face) GetCurrentUser(_ context.Context, learner *access.Learner) (wire.JSON, error) {
	me := learner.Me()
	return wire.JSON{Value: gen.CurrentUser{
		ID: int32(me.ID), Name: wire.Optional(me.Name), Email: wire.Optional(me.Email), Role: string(me.Role),
	}}, nil
}
