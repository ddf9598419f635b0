-- +goose Up
-- What version 2 shows of a purchase.
ALTER TABLE sales ADD COLUMN purchased_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sales ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sales ADD COLUMN payment_method TEXT;
ALTER TABLE sales ADD COLUMN payment_gateway TEXT;
UPDATE sales SET updated_at = created_at, purchased_at = COALESCE((SELECT t.purchased_at FROM transactions t
	WHERE t.school_id = sales.school_id AND t.sale_id = sales.sale_id
	ORDER BY t.created_at, t.transaction_id LIMIT 1), created_at);
UPDATE sales SET updated_at = ended_at WHERE ended_at > updated_at;
UPDATE sales SET updated_at = failed_at WHERE failed_at > updated_at;
CREATE INDEX sales_purchased ON sales (school_id, purchased_at, sale_id);
INSERT INTO counters (school_id, name, value) SELECT school_id, 'sales', count(*) FROM sales GROUP BY school_id;
