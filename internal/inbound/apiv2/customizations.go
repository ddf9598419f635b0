package apiv2

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// customizations returns the operation whose data is always null: the pages of a school cannot
// be customized.
func customizations() []wire.Operation {
	none := func(context.Context, lyceum.By, struct{}) (struct{}, error) { return struct{}{}, nil }
	show := func(struct{}) *gen.Customizations { return nil }
	return []wire.Operation{
		one("showCustomizations", wire.Get, "/v2/customizations", wire.Anything, none, show),
	}
}
