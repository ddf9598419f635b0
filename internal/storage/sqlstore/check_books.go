package sqlstore

// bookInvariants are the conditions on which the books of sales must agree
// (docs/own-interface.md, "Books").
func bookInvariants() []invariant {
	const last = ` AND NOT EXISTS (SELECT 1 FROM movements n WHERE n.school_id = m.school_id
		AND n.transaction_id = m.transaction_id AND n.movement_id > m.movement_id)`
	const of = ` FROM movements m JOIN transactions t ON t.school_id = m.school_id
		AND t.transaction_id = m.transaction_id WHERE m.school_id = $1`
	return []invariant{
		{
			`SELECT count(*)` + of + ` AND m.refunded <> t.amount_refunded` + last,
			"%d transactions have a different refund than their last movement says",
		},
		{
			`SELECT count(*) FROM movements m JOIN transactions t ON t.school_id = m.school_id
			AND t.transaction_id = m.transaction_id LEFT JOIN (SELECT d.transaction_id, sum(d.amount) AS amount
				FROM disputes d WHERE d.school_id = $1 AND d.state <> 'won' GROUP BY d.transaction_id) held
				ON held.transaction_id = m.transaction_id WHERE m.school_id = $1
			AND t.amount_refunded + m.tax_refunded + COALESCE(held.amount, 0) > t.final_price + t.tax_charge` + last,
			"%d transactions are refunded and disputed above what was charged",
		},
		{`SELECT count(*)` + of + ` AND m.sale_id <> t.sale_id`, "%d movements name another sale than their transaction"},
		{
			`SELECT count(*) FROM (SELECT m.transaction_id, max(m.refunded) - min(m.refunded - CASE m.kind WHEN 'refund'
				THEN m.amount ELSE 0 END) AS grown,
			sum(CASE m.kind WHEN 'refund' THEN m.amount ELSE 0 END) AS paid, max(m.tax_refunded) AS taxed, sum(m.tax) AS tax
			FROM movements m WHERE m.school_id = $1
			GROUP BY m.transaction_id) b WHERE b.grown <> b.paid OR b.taxed <> b.tax`,
			"the refunds of %d transactions do not add up",
		},
		{
			`SELECT count(*) FROM disputes d JOIN transactions t ON t.school_id = d.school_id
			AND t.transaction_id = d.transaction_id WHERE d.school_id = $1 AND d.state <> 'won'
			AND (t.has_chargeback IS NULL OR t.has_chargeback <> 1)`,
			"%d open or lost disputes are not marked on their transaction",
		},
		{
			`SELECT count(*) FROM disputes d LEFT JOIN (SELECT s.dispute_id, max(s.movement_id) AS movement_id
				FROM movements s WHERE s.school_id = $1 AND s.dispute_id IS NOT NULL GROUP BY s.dispute_id) latest
				ON latest.dispute_id = d.dispute_id
			LEFT JOIN movements m ON m.school_id = d.school_id AND m.movement_id = latest.movement_id
			WHERE d.school_id = $1 AND d.state <> CASE m.kind WHEN 'chargeback_opened' THEN 'open'
				WHEN 'chargeback_won' THEN 'won' WHEN 'chargeback_lost' THEN 'lost' ELSE '' END`,
			"%d disputes are in a different state than their last movement says",
		},
		{
			`SELECT count(*) FROM movements m WHERE m.school_id = $1 AND (m.kind = 'refund') <> (m.dispute_id IS NULL)`,
			"%d movements are a refund of a dispute, or a step of none",
		},
		{
			`SELECT count(*) FROM (SELECT t.transaction_id FROM disputes d CROSS JOIN transactions t
			WHERE d.school_id = $1 AND t.school_id = d.school_id AND t.transaction_id = d.transaction_id
			GROUP BY t.transaction_id, t.chargeback_fee
			HAVING sum(CASE d.fee_returned WHEN 0 THEN d.fee ELSE 0 END) > COALESCE(t.chargeback_fee, 0)) b`,
			"%d transactions have a smaller chargeback fee than their disputes",
		},
		{
			`SELECT count(*) FROM sales WHERE school_id = $1 AND (ended_at IS NULL) <> (end_reason IS NULL)`,
			"%d sales ended without a reason, or have one but have not ended",
		},
		{
			`SELECT count(*) FROM sales s LEFT JOIN sales n ON n.school_id = s.school_id AND n.sale_id = s.replaced_by
			WHERE s.school_id = $1 AND (COALESCE(s.end_reason, '') = 'changed') <> (COALESCE(n.replaces, 0) = s.sale_id)`,
			"%d sales ended by a change of plan without a sale that followed, or vice versa",
		},
		{
			`SELECT count(*) FROM enrollments e WHERE e.school_id = $1 AND e.sale_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.school_id = e.school_id AND s.sale_id = e.sale_id)`,
			"%d enrollments came with a sale that does not exist",
		},
		{
			`SELECT count(*) FROM orders o WHERE o.school_id = $1 AND (o.state = 'completed') <> (o.sale_id IS NOT NULL)`,
			"%d orders are completed without a sale, or vice versa",
		},
	}
}
