package learning

import "github.com/lyceum-school/lyceum"

// ProductCollections returns the rules for product collections.
func (s *Service) ProductCollections() Products[
	lyceum.ProductCollectionID, lyceum.ProductCollection, lyceum.ProductFilter,
] {
	type row = lyceum.ProductCollection
	return Products[lyceum.ProductCollectionID, row, lyceum.ProductFilter]{
		service: s, what: "product collection",
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.ProductCollectionID, row, lyceum.ProductFilter] {
			return t.ProductCollections
		},
		parts: func(c *row) productParts[lyceum.ProductCollectionID] {
			return productParts[lyceum.ProductCollectionID]{&c.ID, &c.CreatedAt, &c.UpdatedAt, &c.ArchivedAt, nil, &c.ImageURL}
		},
	}
}

// CollectionProducts returns the rules for the products in collections.
func (s *Service) CollectionProducts() Inclusions[lyceum.CollectionProductID, lyceum.ProductCollectionID] {
	type row = lyceum.CollectionProduct
	type filter = lyceum.InclusionFilter[lyceum.ProductCollectionID]
	return Inclusions[lyceum.CollectionProductID, lyceum.ProductCollectionID]{
		service: s, kind: lyceum.CollectionKind,
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.CollectionProductID, row, filter] {
			return t.CollectionProducts
		},
		there: func(t *lyceum.Tables, from lyceum.Source, id lyceum.ProductCollectionID) error {
			_, err := t.ProductCollections.Get(from, id)
			return err
		},
		in: reference[row]{
			"product_collection_id", "product collection", lyceum.ProductCollectionSequence,
			func(i *row) int32 { return int32(i.In) },
		},
	}
}

// CurrentCollectionProducts returns the rules for the products in collections that are not
// archived.
func (s *Service) CurrentCollectionProducts() Inclusions[lyceum.CollectionProductID, lyceum.ProductCollectionID] {
	inside, current := s.CollectionProducts(), s.ProductCollections().Current()
	inside.there = func(t *lyceum.Tables, from lyceum.Source, id lyceum.ProductCollectionID) error {
		_, err := current.get(t, from, id)
		return err
	}
	return inside
}
