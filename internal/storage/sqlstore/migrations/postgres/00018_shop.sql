-- +goose Up
-- What a coupon takes off, and where.
ALTER TABLE coupons ADD COLUMN code_key TEXT COLLATE "C";
ALTER TABLE coupons ADD COLUMN name TEXT;
ALTER TABLE coupons ADD COLUMN discount_percent DOUBLE PRECISION;
ALTER TABLE coupons ADD COLUMN discount_amount BIGINT;
ALTER TABLE coupons ADD COLUMN discount_currency TEXT;
ALTER TABLE coupons ADD COLUMN duration_kind TEXT;
ALTER TABLE coupons ADD COLUMN discount_in_months INTEGER;
ALTER TABLE coupons ADD COLUMN number_available INTEGER;
ALTER TABLE coupons ADD COLUMN expires_at BIGINT;
ALTER TABLE coupons ADD COLUMN scope_type TEXT;
ALTER TABLE coupons ADD COLUMN product_type TEXT;
ALTER TABLE coupons ADD COLUMN product_id INTEGER;
ALTER TABLE coupons ADD COLUMN pricing_plan_id INTEGER;
ALTER TABLE coupons ADD COLUMN cap_visible SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE coupons ADD COLUMN display_priority TEXT;
ALTER TABLE coupons ADD COLUMN friendly_url TEXT;
ALTER TABLE coupons ADD COLUMN created_at BIGINT;
ALTER TABLE coupons ADD COLUMN updated_at BIGINT;
ALTER TABLE coupons ADD COLUMN archived_at BIGINT;
UPDATE coupons SET code_key = lower(code) WHERE code IS NOT NULL;
CREATE INDEX coupons_code_key ON coupons (school_id, code_key) WHERE code_key IS NOT NULL;

ALTER TABLE affiliates ADD COLUMN user_id INTEGER;
ALTER TABLE affiliates ADD COLUMN share DOUBLE PRECISION;
ALTER TABLE affiliates ADD COLUMN cookie_days INTEGER;
ALTER TABLE affiliates ADD COLUMN archived_at BIGINT;

ALTER TABLE authors ADD COLUMN share DOUBLE PRECISION;
ALTER TABLE authors ADD COLUMN archived_at BIGINT;

ALTER TABLE pricing_plans ADD COLUMN num_payments_required INTEGER;
ALTER TABLE pricing_plans ADD COLUMN is_published SMALLINT;
ALTER TABLE pricing_plans ADD COLUMN position INTEGER;
ALTER TABLE pricing_plans ADD COLUMN detailed_description TEXT;
ALTER TABLE pricing_plans ADD COLUMN cc_statement_description TEXT;
ALTER TABLE pricing_plans ADD COLUMN enrollment_cap_expires_at BIGINT;
ALTER TABLE pricing_plans ADD COLUMN enrollment_cap_display_priority TEXT;
ALTER TABLE pricing_plans ADD COLUMN enrollment_cap_visible SMALLINT;
ALTER TABLE pricing_plans ADD COLUMN author_revenue_share DOUBLE PRECISION;

-- What sales and open orders take of plans and coupons.
ALTER TABLE sales ADD COLUMN released SMALLINT NOT NULL DEFAULT 0;
UPDATE sales AS s SET released = 1 WHERE EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = s.school_id
	AND t.sale_id = s.sale_id AND t.paid = 1) AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.school_id = s.school_id
	AND t.sale_id = s.sale_id AND t.paid = 1 AND (t.amount_refunded <= 0 OR t.amount_refunded < t.final_price));
INSERT INTO counters (school_id, name, value)
SELECT h.school_id, 'seats:' || h.pricing_plan_id, count(*) FROM (
	SELECT school_id, pricing_plan_id FROM sales WHERE pricing_plan_id IS NOT NULL AND ended_at IS NULL AND released = 0
	UNION ALL SELECT school_id, pricing_plan_id FROM orders WHERE state = 'open'
) h GROUP BY h.school_id, h.pricing_plan_id;
INSERT INTO counters (school_id, name, value)
SELECT h.school_id, 'uses:' || h.coupon_id, count(*) FROM (
	SELECT school_id, coupon_id FROM sales WHERE coupon_id IS NOT NULL AND released = 0
	UNION ALL SELECT school_id, coupon_id FROM orders WHERE coupon_id IS NOT NULL AND state = 'open'
) h GROUP BY h.school_id, h.coupon_id;

-- What did not fit of sales that were recorded.
CREATE TABLE sale_warnings (
	school_id INTEGER NOT NULL,
	sale_warning_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	message TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, sale_warning_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
);
CREATE INDEX sale_warnings_sale ON sale_warnings (school_id, sale_id);
