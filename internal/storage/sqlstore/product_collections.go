package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.ProductCollections, noun[lyceum.ProductCollectionID, lyceum.ProductCollection,
	lyceum.ProductFilter]{
	table:   table[lyceum.ProductCollection]{name: "product_collections", lasting: true},
	entries: "product_collection",
	key: idKey("product_collection_id", func(p *lyceum.ProductCollection) *lyceum.ProductCollectionID {
		return &p.ID
	}),
	rest: []column[lyceum.ProductCollection]{
		textColumn("name", func(p *lyceum.ProductCollection) *string { return &p.Name }),
		optTextColumn("description", func(p *lyceum.ProductCollection) *lyceum.Opt[string] { return &p.Description }),
		optTextColumn("image_url", func(p *lyceum.ProductCollection) *lyceum.Opt[string] { return &p.ImageURL }),
		boolColumn("is_published", func(p *lyceum.ProductCollection) *bool { return &p.IsPublished }),
		boolColumn("is_listed", func(p *lyceum.ProductCollection) *bool { return &p.IsListed }),
		timeColumn("created_at", func(p *lyceum.ProductCollection) *time.Time { return &p.CreatedAt }),
		timeColumn("updated_at", func(p *lyceum.ProductCollection) *time.Time { return &p.UpdatedAt }),
		optTimeColumn("archived_at", func(p *lyceum.ProductCollection) *lyceum.Opt[time.Time] { return &p.ArchivedAt }),
	},
	narrow:  narrowProducts,
	order:   func(f lyceum.ProductFilter) string { return ordered(f.Order, "product_collection_id") },
	largest: 256 << 10,
})

func narrowProducts(w *where, f lyceum.ProductFilter) {
	w.part(f.Name, "name")
	w.truth("is_published", f.IsPublished)
	w.archived(f.IsArchived)
}
