package sqlstore

// accessInvariants are what enrollments and the entitlements behind them must
// agree on.
func accessInvariants() []invariant {
	// Enrollments follow what was added to collections and tiers, or removed.
	const settled = ` AND NOT EXISTS (SELECT 1 FROM collection_products i WHERE i.school_id = $1 AND i.settled IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM tier_products i WHERE i.school_id = $1 AND i.settled IS NOT NULL)`
	return []invariant{
		{
			`SELECT count(*) FROM enrollments e WHERE e.school_id = $1 AND e.ended_at IS NULL AND NOT EXISTS (
				SELECT 1 FROM reaching t WHERE t.school_id = e.school_id AND t.user_id = e.user_id
				AND t.product_type = 'course' AND t.product_id = e.course_id AND t.ended_at IS NULL
				AND (t.ends_at IS NULL OR t.ends_at >= e.expires_at))` + settled,
			"%d enrollments are open without an entitlement, or longer than their entitlements",
		},
		{
			`SELECT count(*) FROM reaching t WHERE t.school_id = $1 AND t.product_type = 'course' AND t.ended_at IS NULL
			AND t.ends_at IS NULL AND NOT EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = t.school_id
				AND e.user_id = t.user_id AND e.course_id = t.product_id AND e.ended_at IS NULL AND e.expires_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.school_id = t.school_id AND b.user_id = t.user_id
				AND b.product_type = t.product_type AND b.product_id = t.product_id)` + settled,
			"%d entitlements are open without an enrollment, or longer than it",
		},
		{
			`SELECT count(*) FROM entitlements t JOIN sales s ON s.school_id = t.school_id AND s.sale_id = t.sale_id
			WHERE t.school_id = $1 AND t.ended_at IS NULL AND t.ends_at IS NULL
			AND s.end_reason IN ('refunded', 'charged_back', 'voided')`,
			"%d entitlements are open although their sale was paid back",
		},
		{
			`SELECT count(*) FROM entitlements WHERE school_id = $1 AND (ended_at IS NULL) <> (end_reason IS NULL)`,
			"%d entitlements ended without a reason, or have one but have not ended",
		},
	}
}
