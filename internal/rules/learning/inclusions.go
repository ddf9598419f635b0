package learning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Inclusions has the rules for the products in collections or in tiers.
type Inclusions[ID, In ~int32] struct {
	service *Service
	kind    lyceum.ProductKind // of what contains the products
	rows    func(*lyceum.Tables) lyceum.Table[ID, lyceum.Inclusion[ID, In], lyceum.InclusionFilter[In]]
	there   func(*lyceum.Tables, lyceum.Source, In) error // fails with NotFound
	in      reference[lyceum.Inclusion[ID, In]]
}

// ProductIn is a product and the collection or tier that it is or will be in.
type ProductIn[In ~int32] struct {
	In      In
	Product lyceum.Product
}

// IncludedProduct is a product and when it was added to a collection or tier.
type IncludedProduct struct {
	lyceum.ProductInfo

	AddedAt time.Time
}

// List returns a page of the products in a collection or tier, in the order in which they were
// added. It fails with NotFound.
func (i Inclusions[ID, In]) List(
	ctx context.Context, by lyceum.By, in In, p lyceum.Page,
) (lyceum.Listing[IncludedProduct], error) {
	return i.Find(ctx, by, lyceum.InclusionFilter[In]{In: lyceum.Some(in)}, p)
}

// Find returns a page of the products in the collection or tier of a filter. It fails with
// NotFound.
func (i Inclusions[ID, In]) Find(
	ctx context.Context, by lyceum.By, f lyceum.InclusionFilter[In], p lyceum.Page,
) (listing lyceum.Listing[IncludedProduct], err error) {
	err = i.service.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if err := i.there(v.Tables, v, f.In.Value); err != nil {
			return err
		}
		kept, err := i.rows(v.Tables).List(v, f, p)
		if err != nil {
			return err
		}
		products := make([]lyceum.Product, len(kept.Rows))
		for n := range kept.Rows {
			products[n] = kept.Rows[n].Product
		}
		found, err := lyceum.FindProducts(v.Tables, v, products...)
		listing = lyceum.Listing[IncludedProduct]{Page: kept.Page, Total: kept.Total, More: kept.More}
		for n := range kept.Rows {
			listing.Rows = append(listing.Rows, IncludedProduct{found[products[n]], kept.Rows[n].CreatedAt})
		}
		return err
	})
	return listing, err
}

// Add adds a product to a collection or tier, unless it is in already. It fails with NotFound
// for an unknown collection or tier, with Invalid for an unknown or archived product, and with
// Conflict if there are lyceum.MaxIncluded products, or if the product is leaving and too many
// users have yet to be given it to keep.
func (i Inclusions[ID, In]) Add(ctx context.Context, by lyceum.By, q ProductIn[In]) (IncludedProduct, error) {
	return finishing(ctx, i, by, []ProductIn[In]{q}, func(tx lyceum.Tx, now time.Time) (IncludedProduct, error) {
		p, err := i.placesOf(tx, q.In, q.Product)
		if err != nil {
			return IncludedProduct{}, err
		}
		return i.include(tx, now, q, p)
	})
}

// finishing runs a change that adds products. If one of them is still leaving, it settles the
// users who keep it, and runs the change again.
func finishing[ID, In ~int32, T any](
	ctx context.Context, i Inclusions[ID, In], by lyceum.By, qs []ProductIn[In],
	do func(lyceum.Tx, time.Time) (T, error),
) (T, error) {
	try := func() (T, error) {
		now := i.service.clock()
		return lyceum.Change(ctx, i.service.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) { return do(tx, now) })
	}
	done, err := try()
	if e, is := errors.AsType[*lyceum.Error](err); !is || e.Code != productLeaving {
		return done, err
	}
	for _, q := range qs {
		if err := i.finishLeaving(ctx, by, q); err != nil {
			return done, err
		}
	}
	return try()
}

const productLeaving = "product_leaving"

// AddAll adds products to a collection or tier as Add does, all of them or none, and returns
// them in the same order. It fails with NotFound for an unknown product.
func (i Inclusions[ID, In]) AddAll(ctx context.Context, by lyceum.By, qs []ProductIn[In]) ([]IncludedProduct, error) {
	products := make([]lyceum.Product, len(qs))
	for n, q := range qs {
		products[n] = q.Product
	}
	return finishing(ctx, i, by, qs, func(tx lyceum.Tx, now time.Time) (added []IncludedProduct, err error) {
		p, err := i.placesOf(tx, qs[0].In, products...)
		if err != nil {
			return nil, err
		}
		known, err := lyceum.FindProducts(tx.Tables, tx, products...)
		if err != nil {
			return nil, err
		}
		for _, q := range qs {
			if _, there := known[q.Product]; !there {
				return nil, lyceum.Errorf(lyceum.NotFound, "there is no %s", q.Product)
			}
			one, err := i.include(tx, now, q, p)
			if err != nil {
				return nil, err
			}
			added = append(added, one)
		}
		return added, nil
	})
}

// places are the rows of some products in a collection or tier.
type places[ID, In ~int32] struct {
	of    map[lyceum.Product]lyceum.Inclusion[ID, In] // those that are in, or leaving
	total int64                                       // how many products are in
}

// placesOf returns the places of products that are to be added. It fails with NotFound for an
// unknown collection or tier.
func (i Inclusions[ID, In]) placesOf(
	tx lyceum.Tx, in In, products ...lyceum.Product,
) (*places[ID, In], error) {
	rows, of := i.rows(tx.Tables), lyceum.InclusionFilter[In]{In: lyceum.Some(in), Products: products, Leaving: true}
	wanted := []lyceum.Wanted{
		{Query: func(from lyceum.Source) { _ = i.there(tx.Tables, from, in) }}, lyceum.AllOf(rows, of),
	}
	for _, p := range products {
		wanted = append(wanted, lyceum.Wanted{
			Query: func(from lyceum.Source) { _, _ = lyceum.FindProducts(tx.Tables, from, p) },
		})
	}
	if err := tx.Ahead(wanted...); err != nil {
		return nil, err
	}
	if err := i.there(tx.Tables, tx, in); err != nil {
		return nil, err
	}
	found := &places[ID, In]{of: map[lyceum.Product]lyceum.Inclusion[ID, In]{}}
	err := rows.Each(tx, of, func(row *lyceum.Inclusion[ID, In]) error {
		found.of[row.Product] = *row
		return nil
	})
	if err != nil {
		return nil, err
	}
	others, err := rows.List(tx, lyceum.InclusionFilter[In]{In: lyceum.Some(in)}, lyceum.Page{Number: 1, Size: 1})
	found.total = others.Total
	return found, err
}

// include adds a product, and records its row in places.
func (i Inclusions[ID, In]) include(
	tx lyceum.Tx, now time.Time, q ProductIn[In], places *places[ID, In],
) (added IncludedProduct, err error) {
	rows := i.rows(tx.Tables)
	kept, there := places.of[q.Product]
	info, wrong, err := lyceum.SellableProduct(tx.Tables, tx, q.Product)
	added = IncludedProduct{info, lyceum.Second(now)}
	switch {
	case err != nil:
		return added, err
	case there && !kept.Leaving.Present:
		added.AddedAt = kept.CreatedAt
		return added, nil
	case wrong != "":
		return added, lyceum.InvalidFields(lyceum.FieldError{Field: "id", Message: wrong})
	}
	if there && keeps(kept) {
		return added, &lyceum.Error{
			Kind: lyceum.Conflict, Code: productLeaving,
			Detail: fmt.Sprintf("%s was removed from %s, and some people who keep it do not have it separately yet; "+
				"try again in a minute", q.Product, i.named(q.In)),
		}
	}
	if places.total >= lyceum.MaxIncluded {
		return added, &lyceum.Error{
			Kind: lyceum.Conflict, Code: "too_many_products",
			Detail: fmt.Sprintf("%s has %d products, the most that it can have", i.named(q.In), places.total),
		}
	}
	fresh := lyceum.Inclusion[ID, In]{
		ID: kept.ID, In: q.In, Product: q.Product, CreatedAt: added.AddedAt, Settled: lyceum.Some[lyceum.EntitlementID](0),
	}
	if !there {
		if fresh.ID, err = rows.NextID(tx); err != nil {
			return added, err
		}
	}
	if unheld, err := i.unheld(tx, fresh); err != nil {
		return added, err
	} else if unheld {
		fresh.Settled = lyceum.None[lyceum.EntitlementID]()
	}
	places.total++
	places.of[q.Product] = fresh
	_, err = rows.Save(tx, fresh)
	return added, err
}

func (i Inclusions[ID, In]) named(in In) lyceum.Product {
	return lyceum.Product{Kind: i.kind, ID: int32(in)}
}
