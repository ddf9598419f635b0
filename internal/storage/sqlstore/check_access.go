package sqlstore

// accessInvariants are the conditions on which enrollments and the entitlements behind them
// must agree.
func accessInvariants() []invariant {
	const never = "9223372036854775807"
	// Enrollments catch up later with what was added to collections and tiers, or removed from
	// them.
	const settled = ` AND NOT EXISTS (SELECT 1 FROM collection_products i WHERE i.school_id = $1 AND i.settled IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM tier_products i WHERE i.school_id = $1 AND i.settled IS NOT NULL)`
	return []invariant{
		{
			`SELECT count(*) FROM (SELECT 'held:' || product_type || ':' || product_id AS name, count(*) AS n
				FROM entitlements WHERE school_id = $1 GROUP BY product_type, product_id) e
			LEFT JOIN counters c ON c.school_id = $1 AND c.name = e.name WHERE COALESCE(c.value, 0) <> e.n`,
			"the entitlements to %d products are not as many as their counters say",
		},
		{
			`SELECT count(*) FROM enrollments e LEFT JOIN (
				SELECT t.user_id, t.product_id, max(COALESCE(t.ends_at, ` + never + `)) AS until
				FROM reaching t WHERE t.school_id = $1 AND t.product_type = 'course' AND t.ended_at IS NULL
				GROUP BY t.user_id, t.product_id) r ON r.user_id = e.user_id AND r.product_id = e.course_id
			WHERE e.school_id = $1 AND e.ended_at IS NULL
			AND (r.until IS NULL OR r.until < COALESCE(e.expires_at, ` + never + `))` + settled,
			"%d enrollments are open without an entitlement, or longer than their entitlements",
		},
		{
			`SELECT count(*) FROM reaching t LEFT JOIN enrollments e ON e.school_id = t.school_id AND e.user_id = t.user_id
				AND e.course_id = t.product_id AND e.ended_at IS NULL AND e.expires_at IS NULL
			WHERE t.school_id = $1 AND t.product_type = 'course' AND t.ended_at IS NULL AND t.ends_at IS NULL
			AND e.enrollment_id IS NULL AND ` + unblocked("t") + settled,
			"%d entitlements are open without an enrollment, or longer than it",
		},
		{
			`SELECT count(*) FROM entitlements t JOIN sales s ON s.school_id = t.school_id AND s.sale_id = t.sale_id
			WHERE t.school_id = $1 AND t.ended_at IS NULL AND t.ends_at IS NULL
			AND s.end_reason IN ('refunded', 'charged_back', 'voided', 'changed', 'lapsed')`,
			"%d entitlements are open although their sale was paid back, voided or changed, or lapsed",
		},
		{
			`SELECT count(*) FROM entitlements WHERE school_id = $1 AND (ended_at IS NULL) <> (end_reason IS NULL)`,
			"%d entitlements ended without a reason, or have one but have not ended",
		},
		{
			`SELECT count(*) FROM admissions a LEFT JOIN (
				SELECT t.user_id, t.product_id, max(COALESCE(t.ends_at, ` + never + `)) AS until
				FROM reaching t WHERE t.school_id = $1 AND t.product_type = 'coaching' AND t.ended_at IS NULL
				GROUP BY t.user_id, t.product_id) r ON r.user_id = a.user_id AND r.product_id = a.coaching_id
			WHERE a.school_id = $1 AND a.ended_at IS NULL
			AND (r.until IS NULL OR r.until < COALESCE(a.expires_at, ` + never + `))` + settled,
			"%d admissions are open without an entitlement, or longer than their entitlements",
		},
		{
			`SELECT count(*) FROM reaching t LEFT JOIN admissions a ON a.school_id = t.school_id AND a.user_id = t.user_id
				AND a.coaching_id = t.product_id AND a.ended_at IS NULL AND a.expires_at IS NULL
			WHERE t.school_id = $1 AND t.product_type = 'coaching' AND t.ended_at IS NULL AND t.ends_at IS NULL
			AND a.admission_id IS NULL AND ` + unblocked("t") + settled,
			"%d entitlements to coaching are open without an admission, or longer than it",
		},
	}
}
