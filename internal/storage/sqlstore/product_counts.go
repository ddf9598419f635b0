package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// soldPrefix begins the names of the counters of the sales of pricing plans.
const soldPrefix = "sold:"

// CountProducts finds the sales of a product by the counters of its plans.
func (v *view) CountProducts(
	kind lyceum.ProductKind, ids []int32, at time.Time,
) (map[int32]lyceum.ProductCounts, error) {
	counts := make(map[int32]lyceum.ProductCounts, len(ids))
	ofKind := "$1 AND x.product_type = '" + string(kind) + "'"
	for _, part := range []struct {
		text string
		set  func(*lyceum.ProductCounts, int64)
	}{
		{
			"SELECT x.product_id, CAST(sum(c.value) AS BIGINT) FROM pricing_plans x " +
				"JOIN counters c ON c.school_id = x.school_id AND c.name = '" + soldPrefix + "' || x.pricing_plan_id " +
				"WHERE x.school_id = " + ofKind,
			func(c *lyceum.ProductCounts, n int64) { c.Sales = n },
		},
		{
			"SELECT x.product_id, count(DISTINCT x.user_id) FROM entitlements x WHERE x.school_id = " + ofKind +
				" AND x.product_type <> 'course' AND x.ended_at IS NULL AND (x.ends_at IS NULL OR x.ends_at > " +
				fmt.Sprint(micros(at)) + ")",
			func(c *lyceum.ProductCounts, n int64) { c.Holders = n },
		},
		{
			"SELECT x.product_id, count(*) FROM (SELECT i.school_id, 'product_collection' AS product_type, " +
				"i.product_collection_id AS product_id FROM collection_products i WHERE i.leaving IS NULL) x " +
				"WHERE x.school_id = " + ofKind,
			func(c *lyceum.ProductCounts, n int64) { c.Products = n },
		},
	} {
		var id int32
		var n int64
		err := inGroups(v.q, scope{}, part.text+" AND x.product_id IN ", " GROUP BY x.product_id", v.school, int32Args(ids),
			[]any{scanInt(&id), scanInt(&n)}, func() {
				of := counts[id]
				part.set(&of, n)
				counts[id] = of
			})
		if err != nil {
			return nil, v.public(fmt.Errorf("count products: %w", err))
		}
	}
	if kind == lyceum.DownloadKind {
		if err := v.countAttachments(counts, ids); err != nil {
			return nil, v.public(fmt.Errorf("count attachments: %w", err))
		}
	}
	return counts, nil
}

// countAttachments counts what digital downloads consist of.
func (v *view) countAttachments(counts map[int32]lyceum.ProductCounts, ids []int32) error {
	var id int32
	var n int64
	var kind string
	return inGroups(v.q, scope{}, "SELECT x.digital_download_id, count(*), max(x.kind) FROM download_attachments x "+
		"WHERE x.school_id = $1 AND x.digital_download_id IN ", " GROUP BY x.digital_download_id", v.school, int32Args(ids),
		[]any{scanInt(&id), scanInt(&n), scanText(&kind)}, func() {
			of := counts[id]
			of.Attachments, of.AttachmentKind = n, lyceum.Some(lyceum.DownloadAttachmentKind(kind))
			counts[id] = of
		})
}
