package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// The maximum lengths of strings, in characters (contract/lyceum).
const (
	maxName        = 255
	maxDescription = 20_000
	maxURL         = 2048
)

func bindProducts(in *wire.Input) lyceum.ProductFilter {
	return lyceum.ProductFilter{
		Name:        in.Query("name").Text(1, wire.Unbounded),
		IsPublished: in.Query("is_published").Bool(),
		IsArchived:  in.Query("is_archived").Bool(),
	}
}

// created binds a new product: its name and everything that can be changed later.
func created[T any](usual T, bind func(*wire.Input, wire.Field) func(*T)) func(*wire.Input) T {
	return func(in *wire.Input) T {
		row := usual
		bind(in, in.Body("name").Required())(&row)
		return row
	}
}

// changed binds the changes of a product.
func changed[ID ~int32, T any](
	id func(*wire.Input) ID, bind func(*wire.Input, wire.Field) func(*T),
) func(*wire.Input) learning.Edit[ID, T] {
	return func(in *wire.Input) learning.Edit[ID, T] {
		return learning.Edit[ID, T]{ID: id(in), Apply: bind(in, in.Body("name"))}
	}
}

// set changes a field if the request names it.
func set[T comparable](to *T, requested lyceum.Opt[T]) { *to = requested.Else(*to) }

// bindText binds a nullable string.
func bindText(in *wire.Input, name string, most int) lyceum.Opt[lyceum.Opt[string]] {
	return wire.Nullable(in.Body(name), in.Body(name).Text(0, most))
}

func bindImage(in *wire.Input) lyceum.Opt[lyceum.Opt[string]] {
	return wire.Nullable(in.Body("image_url"), in.Body("image_url").URL(maxURL))
}

func bindAuthor(in *wire.Input) lyceum.Opt[lyceum.Opt[lyceum.AuthorID]] {
	return wire.Nullable(in.Body("author_id"), wire.ID[lyceum.AuthorID](in.Body("author_id")))
}

// bindProductIn binds a product to add to the collection or tier that id binds.
func bindProductIn[In ~int32](
	id func(*wire.Input) In, kinds []lyceum.ProductKind,
) func(*wire.Input) learning.ProductIn[In] {
	return func(in *wire.Input) learning.ProductIn[In] {
		return learning.ProductIn[In]{In: id(in), Product: lyceum.Product{
			Kind: wire.OneOf(in.Body("type").Required(), kinds...).Value,
			ID:   wire.ID[int32](in.Body("id").Required()).Value,
		}}
	}
}

// byProductIn binds a product in the path, within the collection or tier that id binds.
func byProductIn[In ~int32](
	id func(*wire.Input) In, kinds []lyceum.ProductKind,
) func(*wire.Input) learning.ProductIn[In] {
	return func(in *wire.Input) learning.ProductIn[In] {
		return learning.ProductIn[In]{In: id(in), Product: lyceum.Product{
			Kind: wire.PathWord(in, "product_type", kinds...), ID: wire.PathID[int32](in, "product_id"),
		}}
	}
}

func includedProduct(p learning.IncludedProduct) gen.IncludedProduct {
	return gen.IncludedProduct{
		Type: gen.IncludedProductType(p.Product.Kind), ID: p.Product.ID, Name: p.Name, IsPublished: p.IsPublished,
		ArchivedAt: wire.OptMoment(p.ArchivedAt), AddedAt: wire.Moment(p.AddedAt),
	}
}
