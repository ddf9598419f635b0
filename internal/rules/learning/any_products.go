package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// AnyProducts lists products of all kinds.
func (s *Service) AnyProducts(
	ctx context.Context, by lyceum.By, f lyceum.AnyProductFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.AnyProduct], error) {
	return s.store.In(ctx, by.School).ListProducts(f, p)
}
