package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var collectionProducts = define(
	&tables.CollectionProducts, inclusions[lyceum.CollectionProductID, lyceum.ProductCollectionID](
		"collection_products", "collection_product", "product_collection_id",
	))

var tierProducts = define(&tables.TierProducts, inclusions[lyceum.TierProductID, lyceum.MembershipTierID](
	"tier_products", "tier_product", "membership_tier_id",
))

// inclusions is the noun of the products in a collection or a tier; in is the column with its
// id.
func inclusions[ID, In ~int32](
	name, entries, in string,
) noun[ID, lyceum.Inclusion[ID, In], lyceum.InclusionFilter[In]] {
	type row = lyceum.Inclusion[ID, In]
	return noun[ID, row, lyceum.InclusionFilter[In]]{
		table:   table[row]{name: name, lasting: true},
		entries: entries,
		key:     idKey(entries+"_id", func(i *row) *ID { return &i.ID }),
		rest: []column[row]{
			intColumn(in, func(i *row) *In { return &i.In }),
			textColumn("product_type", func(i *row) *lyceum.ProductKind { return &i.Product.Kind }),
			intColumn("product_id", func(i *row) *int32 { return &i.Product.ID }),
			timeColumn("created_at", func(i *row) *time.Time { return &i.CreatedAt }),
			optIntColumn("leaving", func(i *row) *lyceum.Opt[lyceum.EntitlementID] { return &i.Leaving }),
			optTimeColumn("left_at", func(i *row) *lyceum.Opt[time.Time] { return &i.LeftAt }),
			optIntColumn("settled", func(i *row) *lyceum.Opt[lyceum.EntitlementID] { return &i.Settled }),
		},
		narrow: func(w *where, f lyceum.InclusionFilter[In]) {
			is(w, in, f.In)
			if p := f.Product; p.Present {
				w.equal("product_type", string(p.Value.Kind))
				w.equal("product_id", int64(p.Value.ID))
			}
			anyProduct(w, f.Products)
			if f.Kind.Present {
				w.equal("product_type", string(f.Kind.Value))
			}
			if !f.Leaving {
				w.absent("leaving")
			}
			if f.Unsettled {
				w.and("settled IS NOT NULL")
			}
		},
		order: func(f lyceum.InclusionFilter[In]) string {
			if f.Newest {
				return "created_at DESC, " + entries + "_id DESC"
			}
			return entries + "_id"
		},
	}
}

// inclusionInvariants check that the products in collections and tiers exist, for which there
// is no foreign key.
func inclusionInvariants() (list []invariant) {
	for name, kinds := range map[string][]lyceum.ProductKind{
		"collection_products": lyceum.CollectionKinds(), "tier_products": lyceum.TierKinds(),
	} {
		for _, kind := range kinds {
			of := productTables[kind]
			list = append(list, invariant{
				`SELECT count(*) FROM ` + name + ` i WHERE i.school_id = $1 AND i.product_type = '` + string(kind) + `'
				AND NOT EXISTS (SELECT 1 FROM ` + of.name + ` p
					WHERE p.school_id = i.school_id AND p.` + of.id + ` = i.product_id)`,
				"%d rows of " + name + " refer to a " + kind.Name() + " that does not exist",
			})
		}
	}
	return list
}
