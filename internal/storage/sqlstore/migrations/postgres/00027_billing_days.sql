-- +goose Up
-- The day on which a sale that is paid for again and again is billed. Of sales of
-- before it follows from their payments, and is kept with the next one.
ALTER TABLE sales ADD COLUMN billing_anchor BIGINT;
ALTER TABLE sales ADD COLUMN paid_in_full SMALLINT NOT NULL DEFAULT 0;

-- Nothing more is due of a payment plan whose payments were all made.
UPDATE sales SET paid_in_full = 1, paid_until = NULL, next_plan_id = NULL
WHERE ended_at IS NULL AND paid_until IS NOT NULL AND EXISTS (SELECT 1 FROM pricing_plans p
	WHERE p.school_id = sales.school_id AND p.pricing_plan_id = sales.pricing_plan_id
	AND p.frequency IN ('subscription', 'payment_plan') AND p.num_payments_required <= (SELECT count(*) FROM transactions t
		WHERE t.school_id = sales.school_id AND t.sale_id = sales.sale_id AND t.paid = 1
		AND NOT (t.amount_refunded > 0 AND t.amount_refunded >= t.final_price) AND COALESCE(t.has_chargeback, 0) <> 1
		AND NOT (t.final_price = 0 AND p.free_trial_length IS NOT NULL)));
INSERT INTO journal (school_id, number, at, actor, type, object_id)
SELECT s.school_id, c.value + ROW_NUMBER() OVER (PARTITION BY s.school_id ORDER BY s.sale_id),
	(SELECT max(j.at) FROM journal j WHERE j.school_id = s.school_id), 'update', 'sale.updated', s.sale_id
FROM sales s JOIN counters c ON c.school_id = s.school_id AND c.name = 'journal' WHERE s.paid_in_full = 1;
UPDATE counters SET value = value + (SELECT count(*) FROM sales s WHERE s.school_id = counters.school_id
	AND s.paid_in_full = 1) WHERE name = 'journal';
