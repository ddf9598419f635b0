-- +goose Up
-- Since when a sale is billed here. For what was due before, the grace begins then.
-- Of sales from before it stays what it was.
ALTER TABLE sales ADD COLUMN billed_since BIGINT;
UPDATE sales SET billed_since = CASE WHEN paid_until < created_at THEN paid_until ELSE created_at END WHERE billed = 1;
ALTER TABLE sales DROP COLUMN billed;
