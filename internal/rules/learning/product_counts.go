package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// CountedProduct is a product with counts of what belongs to it.
type CountedProduct[T any] struct {
	Row    T
	Counts lyceum.ProductCounts
}

// CountedProducts has the same rules as Products, and returns each product with its counts.
type CountedProducts[ID ~int32, T comparable, F any] struct {
	products Products[ID, T, F]
	kind     lyceum.ProductKind
}

// Counted returns the rules for products of a kind that return counts.
func (p Products[ID, T, F]) Counted(kind lyceum.ProductKind) CountedProducts[ID, T, F] {
	return CountedProducts[ID, T, F]{p, kind}
}

// List returns a page of the products that pass a filter.
func (c CountedProducts[ID, T, F]) List(
	ctx context.Context, by lyceum.By, f F, page lyceum.Page,
) (lyceum.Listing[CountedProduct[T]], error) {
	found, err := c.products.List(ctx, by, f, page)
	if err != nil {
		return lyceum.Listing[CountedProduct[T]]{}, err
	}
	counted, err := c.count(ctx, by, found.Rows...)
	return lyceum.Listing[CountedProduct[T]]{
		Page: found.Page, Total: found.Total, More: found.More, Rows: counted,
	}, err
}

// Get returns a product. It fails with NotFound.
func (c CountedProducts[ID, T, F]) Get(ctx context.Context, by lyceum.By, id ID) (CountedProduct[T], error) {
	return counting(c, ctx, by, id, c.products.Get)
}

// Create creates a product.
func (c CountedProducts[ID, T, F]) Create(ctx context.Context, by lyceum.By, row T) (CountedProduct[T], error) {
	return counting(c, ctx, by, row, c.products.Create)
}

// Update changes a product. It fails with NotFound.
func (c CountedProducts[ID, T, F]) Update(
	ctx context.Context, by lyceum.By, e Edit[ID, T],
) (CountedProduct[T], error) {
	return counting(c, ctx, by, e, c.products.Update)
}

// Archive archives a product, so that it cannot be sold. It fails with NotFound.
func (c CountedProducts[ID, T, F]) Archive(ctx context.Context, by lyceum.By, id ID) error {
	_, err := c.products.Archive(ctx, by, id)
	return err
}

func counting[ID ~int32, T comparable, F, P any](
	c CountedProducts[ID, T, F], ctx context.Context, by lyceum.By, q P,
	rule func(context.Context, lyceum.By, P) (T, error),
) (CountedProduct[T], error) {
	row, err := rule(ctx, by, q)
	if err != nil {
		return CountedProduct[T]{}, err
	}
	counted, err := c.count(ctx, by, row)
	if err != nil {
		return CountedProduct[T]{}, err
	}
	return counted[0], nil
}

func (c CountedProducts[ID, T, F]) count(ctx context.Context, by lyceum.By, rows ...T) ([]CountedProduct[T], error) {
	ids := make([]int32, len(rows))
	for i := range rows {
		ids[i] = int32(*c.products.parts(&rows[i]).id)
	}
	counts, err := c.products.service.store.In(ctx, by.School).CountProducts(c.kind, ids, c.products.service.clock())
	counted := make([]CountedProduct[T], len(rows))
	for i := range rows {
		counted[i] = CountedProduct[T]{rows[i], counts[ids[i]]}
	}
	return counted, err
}
