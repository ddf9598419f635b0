package lyceum

import "time"

// ProductCollectionID identifies a product collection.
type ProductCollectionID int32

// ProductCollectionSequence numbers product collections.
const ProductCollectionSequence Sequence = "product_collection_id"

var _ = product("product_collection")

// ProductCollection is a bundle of products that is sold as one.
type ProductCollection struct {
	ID          ProductCollectionID
	Name        string
	Description Opt[string]
	ImageURL    Opt[string]
	IsPublished bool
	IsListed    bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time]
}

// CollectionProductID identifies the inclusion of a product in a collection.
type CollectionProductID int32

var _ = product("collection_product")

// CollectionProduct is a product in a collection.
type CollectionProduct = Inclusion[CollectionProductID, ProductCollectionID]
