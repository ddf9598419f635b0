-- +goose Up
-- When a sale that ended stops being active: with the access that it gave. Before,
-- that was when what was paid for it is used up.
DROP INDEX sales_due;
ALTER TABLE sales ADD COLUMN stops_at BIGINT;
ALTER TABLE sales RENAME COLUMN stop TO stopped;
UPDATE sales SET stopped = 0, stops_at = COALESCE((SELECT max(e.ends_at) FROM entitlements e
	WHERE e.school_id = sales.school_id AND e.user_id = sales.user_id AND e.sale_id = sales.sale_id
	AND e.ended_at IS NULL), paid_until, created_at) WHERE stopped = 1;
UPDATE sales SET stopped = 1 WHERE stopped = 2;

-- When something is to happen to a sale by itself: it changes its plan, or stops.
ALTER TABLE sales ADD COLUMN due_at BIGINT;
UPDATE sales SET due_at = CASE WHEN next_plan_id IS NULL THEN stops_at ELSE COALESCE(paid_until, created_at) END
WHERE next_plan_id IS NOT NULL OR stops_at IS NOT NULL;
CREATE INDEX sales_due ON sales (school_id, due_at, sale_id) WHERE due_at IS NOT NULL;

-- Since when the charging of a sale is to be stopped at the payment system, until
-- it is confirmed. What ended before was told of when it ended.
ALTER TABLE sales ADD COLUMN to_stop_at BIGINT;
CREATE INDEX sales_to_stop ON sales (school_id, to_stop_at, sale_id) WHERE to_stop_at IS NOT NULL;
