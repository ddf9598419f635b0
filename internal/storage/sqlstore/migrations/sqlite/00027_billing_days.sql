-- +goose Up
-- The day on which a sale that is paid for again and again is billed. Of sales of
-- before it follows from their payments, and is kept with the next one.
ALTER TABLE sales ADD COLUMN billing_anchor INTEGER;
ALTER TABLE sales ADD COLUMN paid_in_full INTEGER NOT NULL DEFAULT 0;
