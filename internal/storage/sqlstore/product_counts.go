package sqlstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// soldPrefix is the prefix of the counters of the sales of pricing plans.
const soldPrefix = "sold:"

// productCount is a query that returns a count, and possibly a string, for each of some products
// of a kind. $1 is the school.
type productCount struct {
	text string
	set  func(of *lyceum.ProductCounts, n int64, text string)
}

// productCounts returns the queries for products of a kind; list has the placeholders of their
// ids, and at is that of the time.
func productCounts(kind lyceum.ProductKind, list, at string) []productCount {
	counts := []productCount{
		{
			"x.product_id, CAST(sum(c.value) AS BIGINT), NULL FROM pricing_plans x " +
				"JOIN counters c ON c.school_id = x.school_id AND c.name = '" + soldPrefix + "' || x.pricing_plan_id " +
				"WHERE x.school_id = $1 AND x.product_type = '" + string(kind) + "' AND x.product_id IN " + list,
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Sales = n },
		},
		{
			"h.product_id, count(DISTINCT h.user_id), NULL FROM (" + holders(kind, list, at) + ") h WHERE " + unblocked("h"),
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Holders = n },
		},
	}
	switch kind {
	case lyceum.CollectionKind:
		counts = append(counts, productCount{
			"x.product_collection_id, count(*), NULL FROM collection_products x WHERE x.school_id = $1 AND x.leaving IS NULL " +
				"AND x.product_collection_id IN " + list,
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Products = n },
		})
	case lyceum.DownloadKind:
		counts = append(counts, productCount{
			"x.digital_download_id, count(*), max(x.kind) FROM download_attachments x WHERE x.school_id = $1 " +
				"AND x.digital_download_id IN " + list,
			func(of *lyceum.ProductCounts, n int64, kind string) {
				of.Attachments, of.AttachmentKind = n, lyceum.Some(lyceum.DownloadAttachmentKind(kind))
			},
		})
	}
	return counts
}

// holders returns the query for the open entitlements that reach products of a kind, with the
// columns of the view reaching that unblocked needs. The view is read by user; this begins with
// the products.
func holders(kind lyceum.ProductKind, list, at string) string {
	type way struct{ from, through, collection string }
	tier, collection := string(lyceum.TierKind), string(lyceum.CollectionKind)
	ways := []way{{
		"tier_products i CROSS JOIN entitlements e", "i.leaving IS NULL AND e.product_type = '" + tier +
			"' AND e.product_id = i.membership_tier_id", "CAST(NULL AS INTEGER)",
	}}
	if kind != lyceum.CollectionKind {
		ways = append(ways, way{
			"collection_products i CROSS JOIN entitlements e", "e.product_type = '" + collection + "' AND e.product_id = " +
				"i.product_collection_id AND (i.leaving IS NULL OR e.entitlement_id <= i.leaving AND NOT EXISTS (" +
				"SELECT 1 FROM entitlements k WHERE k.school_id = e.school_id AND k.user_id = e.user_id AND " +
				"k.product_type = i.product_type AND k.product_id = i.product_id AND k.kept_from = e.entitlement_id " +
				"AND k.entitlement_id > i.leaving))", "i.product_collection_id",
		}, way{
			"collection_products i CROSS JOIN tier_products o CROSS JOIN entitlements e", "i.leaving IS NULL " +
				"AND o.school_id = i.school_id AND o.product_type = '" + collection + "' AND o.product_id = " +
				"i.product_collection_id AND o.leaving IS NULL AND e.product_type = '" + tier + "' AND e.product_id = " +
				"o.membership_tier_id", "i.product_collection_id",
		})
	}
	open := " AND e.ended_at IS NULL AND (e.ends_at IS NULL OR e.ends_at > " + at + ")"
	text := "SELECT e.school_id, e.user_id, e.product_type, e.product_id, CAST(NULL AS INTEGER) AS collection_id" +
		" FROM entitlements e WHERE e.school_id = $1 AND e.product_type = '" + string(kind) + "' AND e.product_id IN " +
		list + open
	for _, w := range ways {
		text += " UNION ALL SELECT e.school_id, e.user_id, i.product_type, i.product_id, " + w.collection +
			" FROM " + w.from + " WHERE i.school_id = $1 AND i.product_type = '" + string(kind) +
			"' AND i.product_id IN " + list + " AND e.school_id = i.school_id AND " + w.through + open
	}
	return text
}

// CountProducts counts the sales of a product by the counters of its pricing plans. All counts
// are read in one statement.
func (v *view) CountProducts(
	kind lyceum.ProductKind, ids []int32, at time.Time,
) (map[int32]lyceum.ProductCounts, error) {
	counts := make(map[int32]lyceum.ProductCounts, len(ids))
	var part, id int32
	var n int64
	var more string
	dest := append([]any{scanInt(&part), scanInt(&id), scanInt(&n)}, optional([]any{scanText(&more)})...)
	err := eachChunk(v.school, int32Args(ids), func(list string, args []any) error {
		parts := productCounts(kind, list, fmt.Sprintf("$%d", len(args)+1))
		texts := make([]string, len(parts))
		for i := range parts {
			texts[i] = fmt.Sprintf("SELECT %d, %s GROUP BY 2", i, parts[i].text)
		}
		return v.q.each(strings.Join(texts, " UNION ALL "), append(args, micros(at)), dest, func() error {
			of := counts[id]
			parts[part].set(&of, n, more)
			counts[id] = of
			return nil
		})
	})
	if err != nil {
		return nil, v.public(fmt.Errorf("count products: %w", err))
	}
	return counts, nil
}
