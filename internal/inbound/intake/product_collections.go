package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// ProductCollections returns the kind of bundles of products. A file must have id, name,
// is_published and is_listed; description and image_url may be null.
func ProductCollections() Kind[lyceum.ProductCollection] {
	type row = lyceum.ProductCollection
	return Kind[row]{
		name: "product-collections", list: "product_collections",
		id: func(c *row) int32 { return int32(c.ID) },
		columns: []column[row]{
			idColumn("id", func(c *row) *lyceum.ProductCollectionID { return &c.ID }),
			textColumn("name", func(c *row) *string { return &c.Name }),
			optTextColumn("description", func(c *row) *lyceum.Opt[string] { return &c.Description }).always().long(),
			optTextColumn("image_url", func(c *row) *lyceum.Opt[string] { return &c.ImageURL }).always(),
			booleanColumn("is_published", func(c *row) *bool { return &c.IsPublished }),
			booleanColumn("is_listed", func(c *row) *bool { return &c.IsListed }),
			timeColumn("created_at", func(c *row) *time.Time { return &c.CreatedAt }).optional(),
			timeColumn("updated_at", func(c *row) *time.Time { return &c.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(c *row) *lyceum.Opt[time.Time] { return &c.ArchivedAt }),
		},
	}
}

// CollectionProducts returns the kind of the products in collections.
func CollectionProducts() Kind[lyceum.CollectionProduct] {
	return inclusions[lyceum.CollectionProductID, lyceum.ProductCollectionID](
		"collection-products", "product_collection_id", lyceum.CollectionKinds(),
	)
}

// inclusions returns the kind of the products in collections or tiers, whose ids are in the column
// in. A file must have every column but id and created_at.
func inclusions[ID, In ~int32](name, in string, kinds []lyceum.ProductKind) Kind[lyceum.Inclusion[ID, In]] {
	type row = lyceum.Inclusion[ID, In]
	type place struct {
		in      In
		product lyceum.Product
	}
	return Kind[row]{
		name: name,
		id:   func(i *row) int32 { return int32(i.ID) },
		keys: []key[row]{hashed(identity(in+", product_type and product_id"), func(i *row) (place, bool) {
			return place{i.In, i.Product}, true
		})},
		columns: []column[row]{
			idColumn("id", func(i *row) *ID { return &i.ID }).optional(),
			idColumn(in, func(i *row) *In { return &i.In }),
			wordColumn("product_type", kinds, func(i *row) *lyceum.ProductKind { return &i.Product.Kind }),
			idColumn("product_id", func(i *row) *int32 { return &i.Product.ID }),
			timeColumn("created_at", func(i *row) *time.Time { return &i.CreatedAt }).optional(),
		},
	}
}
