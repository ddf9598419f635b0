package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) productCollections() []wire.Operation {
	const all, each = "/lyceum/v1/product_collections", "/lyceum/v1/product_collections/{product_collection_id}"
	const name, inside = "product_collection", each + "/products"
	c, products := f.Learning.ProductCollections(), f.Learning.CollectionProducts()
	kinds := lyceum.CollectionKinds()
	bindNew := created(lyceum.ProductCollection{IsListed: true}, bindProductCollection)
	bindChange := changed(byCollection, bindProductCollection)
	return []wire.Operation{
		wire.Many("listProductCollections", all, perPage, bindProducts, c.List, "product_collections", productCollection),
		one("createProductCollection", wire.Create, all, bindNew, c.Create, name, productCollection).Long(),
		one("showProductCollection", wire.Get, each, byCollection, c.Get, name, productCollection),
		one("updateProductCollection", wire.Patch, each, bindChange, c.Update, name, productCollection).Long(),
		one(
			"archiveProductCollection", wire.Run, each+"/archive",
			wire.NoBody(byCollection), c.Archive, name, productCollection,
		),
		wire.Many("listCollectionProducts", inside, perPage, byCollection, products.List, "products", includedProduct),
		one(
			"addCollectionProduct", wire.Run, inside,
			bindProductIn(byCollection, kinds), products.Add, "product", includedProduct,
		),
		previewed(
			wire.None(
				"removeCollectionProduct", wire.Delete, inside+"/{product_type}/{product_id}",
				collectionRemoval, products.Remove,
			),
			collectionRemoval, products.PreviewRemove, accessPreview,
		),
	}
}

var byCollection = wire.ByID[lyceum.ProductCollectionID]("product_collection_id")

func bindProductCollection(in *wire.Input, name wire.Field) func(*lyceum.ProductCollection) {
	named, description, image := name.Text(1, maxName), bindText(in, "description", maxDescription), bindImage(in)
	published, listed := in.Body("is_published").Bool(), in.Body("is_listed").Bool()
	return func(c *lyceum.ProductCollection) {
		set(&c.Name, named)
		set(&c.Description, description)
		set(&c.ImageURL, image)
		set(&c.IsPublished, published)
		set(&c.IsListed, listed)
	}
}

func productCollection(c lyceum.ProductCollection) gen.ProductCollection {
	return gen.ProductCollection{
		ID: int32(c.ID), Name: c.Name, Description: wire.Optional(c.Description), ImageURL: wire.Optional(c.ImageURL),
		IsPublished: c.IsPublished, IsListed: c.IsListed, CreatedAt: wire.Moment(c.CreatedAt),
		UpdatedAt: wire.Moment(c.UpdatedAt), ArchivedAt: wire.OptMoment(c.ArchivedAt),
	}
}

// collectionRemoval binds the removal of a product from a collection.
func collectionRemoval(in *wire.Input) learning.Removal[lyceum.ProductCollectionID] {
	return learning.Removal[lyceum.ProductCollectionID]{
		ProductIn: byProductIn(byCollection, lyceum.CollectionKinds())(in), EndAccess: in.Query("end_access").Bool().Value,
	}
}
