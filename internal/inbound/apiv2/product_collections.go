package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) productCollections() []wire.Operation {
	const all, each = "/v2/products/product-collections", "/v2/products/product-collections/{product_collection_id}"
	const inside = each + "/products"
	const gone = inside + "/{product_type}/{product_id}"
	c := f.learning.ProductCollections().Current().Counted(lyceum.CollectionKind)
	p := f.learning.CurrentCollectionProducts()
	return []wire.Operation{
		many("listProductCollections", all, perPage, bindCollections, c.List, productCollection),
		one("createProductCollection", wire.Create, all, bindNewCollection, c.Create, productCollection).Long(),
		one("showProductCollection", wire.Get, each, byCollection, c.Get, productCollection),
		one("updateProductCollection", wire.Patch, each, bindCollectionChange, c.Update, productCollection).Long(),
		one("putProductCollection", wire.Put, each, bindCollectionChange, c.Update, productCollection).Long(),
		wire.None("deleteProductCollection", wire.Delete, each, byCollection, c.Archive),
		wire.New("listProductCollectionProducts", wire.Get, inside, wire.Serve(
			bindCollectionProducts, wire.Rendered(wire.Paged(p.Find), wire.Page(data, collectionProduct)),
		)),
		whole("addProductCollectionProducts", wire.Run, inside, bindAddedProducts, p.AddAll, collectionProduct),
		wire.None("removeProductCollectionProduct", wire.Delete, gone, bindRemovedProduct, p.Remove),
	}
}

// maxAdded is how many products a request can add (contract/v2/product_collections.yaml).
const maxAdded = 100

var byCollection = wire.ByID[lyceum.ProductCollectionID]("product_collection_id")

func bindCollections(in *wire.Input) lyceum.ProductFilter {
	return lyceum.ProductFilter{IsArchived: lyceum.Some(false), Order: bindOrder(in, "created_at", "updated_at")}
}

func bindNewCollection(in *wire.Input) lyceum.ProductCollection {
	return lyceum.ProductCollection{
		Name:        in.Body("name").Required().Text(1, maxTitle).Value,
		Description: in.Body("description").Text(0, maxDescription),
		ImageURL:    in.Body("image_url").URL(maxURL),
		IsPublished: in.Body("is_published").Bool().Value,
		IsListed:    in.Body("is_listed").Bool().Else(true),
	}
}

func bindCollectionChange(in *wire.Input) learning.Edit[lyceum.ProductCollectionID, lyceum.ProductCollection] {
	id, name := byCollection(in), in.Body("name").Text(1, maxTitle)
	description := bindText(in, "description", maxDescription)
	image := wire.Nullable(in.Body("image_url"), in.Body("image_url").URL(maxURL))
	published, listed := in.Body("is_published").Bool(), in.Body("is_listed").Bool()
	return learning.Edit[lyceum.ProductCollectionID, lyceum.ProductCollection]{
		ID: id, Apply: func(c *lyceum.ProductCollection) {
			c.Name = name.Else(c.Name)
			c.Description = description.Else(c.Description)
			c.ImageURL = image.Else(c.ImageURL)
			c.IsPublished = published.Else(c.IsPublished)
			c.IsListed = listed.Else(c.IsListed)
		},
	}
}

func productCollection(p learning.CountedProduct[lyceum.ProductCollection]) gen.ProductCollection {
	c, status := p.Row, "draft"
	if c.IsPublished {
		status = "published"
	}
	return gen.ProductCollection{
		ID: int32(c.ID), Name: c.Name, Description: wire.Optional(c.Description), IsPublished: c.IsPublished,
		Href:     hrefOf(lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(c.ID)}),
		ImageURL: wire.Optional(c.ImageURL), SafeImageURL: c.ImageURL.Value, IsListed: c.IsListed, Status: status,
		Enrolled: int32(p.Counts.Holders), TotalSales: int32(p.Counts.Sales), TotalProducts: int32(p.Counts.Products),
		CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt),
	}
}

type collectionProducts = lyceum.InclusionFilter[lyceum.ProductCollectionID]

func bindCollectionProducts(in *wire.Input) wire.PageRequest[collectionProducts] {
	number, size := wire.Amount[int32](in.Query("page"), 1), wire.Int[int32](in.Query("limit"), 1, 100)
	return wire.PageRequest[collectionProducts]{
		Filter: collectionProducts{
			In: lyceum.Some(byCollection(in)), Kind: wire.OneOf(in.Query("type"), inCollections()...), Newest: true,
		},
		Page: lyceum.Page{Number: number.Else(1), Size: size.Else(perPage)},
	}
}

// inCollections lists the kinds of products that a collection can contain, in the order of
// the contract.
func inCollections() []lyceum.ProductKind {
	return []lyceum.ProductKind{lyceum.CourseKind, lyceum.CoachingKind, lyceum.DownloadKind}
}

// bindAddedProducts binds the products to add. Other members of a product are validated and
// ignored.
func bindAddedProducts(in *wire.Input) []learning.ProductIn[lyceum.ProductCollectionID] {
	id, added := byCollection(in), []learning.ProductIn[lyceum.ProductCollectionID]{}
	for _, member := range in.Body("data").Required().Objects(maxAdded) {
		p := lyceum.Product{
			ID:   wire.ID[int32](member("id").Required()).Value,
			Kind: wire.OneOf(member("type").Required(), inCollections()...).Value,
		}
		member("name").Text(0, maxTitle)
		member("href").Text(0, maxURL)
		member("created_at").Time()
		member("updated_at").Time()
		added = append(added, learning.ProductIn[lyceum.ProductCollectionID]{In: id, Product: p})
	}
	return added
}

func bindRemovedProduct(in *wire.Input) learning.Removal[lyceum.ProductCollectionID] {
	return learning.Removal[lyceum.ProductCollectionID]{ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{
		In: byCollection(in), Product: lyceum.Product{
			Kind: wire.PathWord(in, "product_type", inCollections()...), ID: wire.PathID[int32](in, "product_id"),
		},
	}}
}

func collectionProduct(p learning.IncludedProduct) gen.CollectionProduct {
	return gen.CollectionProduct{
		ID: p.Product.ID, Type: string(p.Product.Kind), Name: p.Name, Href: hrefOf(p.Product),
		CreatedAt: wire.Moment(p.AddedAt), UpdatedAt: wire.Moment(p.AddedAt),
	}
}
