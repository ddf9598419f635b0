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
// of a kind. $1 is the school, and a list of product ids is appended.
type productCount struct {
	text string
	set  func(of *lyceum.ProductCounts, n int64, text string)
}

// productCounts returns the queries for a kind of product; at is the placeholder of the time.
func productCounts(kind lyceum.ProductKind, at string) []productCount {
	ofKind := " WHERE x.school_id = $1 AND x.product_type = '" + string(kind) + "' AND "
	counts := []productCount{
		{
			"x.product_id, CAST(sum(c.value) AS BIGINT), NULL FROM pricing_plans x " +
				"JOIN counters c ON c.school_id = x.school_id AND c.name = '" + soldPrefix + "' || x.pricing_plan_id" +
				ofKind + "x.product_id IN ",
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Sales = n },
		},
		{
			"x.product_id, count(DISTINCT x.user_id), NULL FROM entitlements x" + ofKind + "x.product_type <> 'course' " +
				"AND x.ended_at IS NULL AND (x.ends_at IS NULL OR x.ends_at > " + at + ") AND x.product_id IN ",
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Holders = n },
		},
	}
	switch kind {
	case lyceum.CollectionKind:
		counts = append(counts, productCount{
			"x.product_collection_id, count(*), NULL FROM collection_products x WHERE x.school_id = $1 AND x.leaving IS NULL " +
				"AND x.product_collection_id IN ",
			func(of *lyceum.ProductCounts, n int64, _ string) { of.Products = n },
		})
	case lyceum.DownloadKind:
		counts = append(counts, productCount{
			"x.digital_download_id, count(*), max(x.kind) FROM download_attachments x WHERE x.school_id = $1 " +
				"AND x.digital_download_id IN ",
			func(of *lyceum.ProductCounts, n int64, kind string) {
				of.Attachments, of.AttachmentKind = n, lyceum.Some(lyceum.DownloadAttachmentKind(kind))
			},
		})
	}
	return counts
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
		parts := productCounts(kind, fmt.Sprintf("$%d", len(args)+1))
		texts := make([]string, len(parts))
		for i := range parts {
			texts[i] = fmt.Sprintf("SELECT %d, %s%s GROUP BY 2", i, parts[i].text, list)
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
