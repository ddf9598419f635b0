package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) products() []wire.Operation {
	return []wire.Operation{
		many("listProducts", "/v2/products", perPage, bindProducts, f.learning.AnyProducts, anyProduct),
	}
}

func bindProducts(in *wire.Input) lyceum.AnyProductFilter {
	return lyceum.AnyProductFilter{
		Name:        in.Query("name").Text(1, wire.Unbounded),
		Search:      in.Query("search").Text(1, wire.Unbounded),
		IsPublished: in.Query("is_published").Bool(),
		AuthorID:    wire.AnyInt[lyceum.AuthorID](in.Query("author_bio_id")),
		Created:     wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:       bindOrder(in, "created_at", "updated_at"),
	}
}

func anyProduct(p lyceum.AnyProduct) gen.Product {
	href := hrefOf(p.Product)
	return gen.Product{
		ID: p.Product.ID, Type: string(p.Product.Kind), Name: p.Name, Description: wire.Optional(p.Description),
		IsPublished: p.IsPublished, IsListed: p.IsListed, Href: href, ImageURL: wire.Optional(p.ImageURL),
		AuthorBioID: wire.Number(p.AuthorID), AuthorName: wire.Optional(p.AuthorName),
		CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt),
	}
}
