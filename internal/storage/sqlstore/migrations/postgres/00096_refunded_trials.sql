-- +goose Up
-- A payment of 0, such as that of a trial, no longer keeps a sale from being refunded in full.
-- Such sales are marked with 2 until the seats and uses that they took are given back.
UPDATE sales SET released = 2 WHERE released = 0 AND EXISTS (SELECT 1 FROM transactions t
		WHERE t.school_id = sales.school_id AND t.sale_id = sales.sale_id AND t.paid = 1
		AND t.amount_refunded > 0 AND t.amount_refunded >= t.final_price)
	AND NOT EXISTS (SELECT 1 FROM transactions t
		WHERE t.school_id = sales.school_id AND t.sale_id = sales.sale_id AND t.paid = 1
		AND t.final_price > 0 AND (t.amount_refunded <= 0 OR t.amount_refunded < t.final_price));
UPDATE counters SET value = value - h.n FROM (
		SELECT school_id, 'seats:' || pricing_plan_id AS name, count(*) AS n FROM sales
		WHERE released = 2 AND pricing_plan_id IS NOT NULL AND ended_at IS NULL GROUP BY school_id, pricing_plan_id
		UNION ALL SELECT school_id, 'uses:' || coupon_id, count(*) FROM sales
		WHERE released = 2 AND coupon_id IS NOT NULL GROUP BY school_id, coupon_id
	) h WHERE h.school_id = counters.school_id AND h.name = counters.name;
UPDATE sales SET released = 1 WHERE released = 2;
