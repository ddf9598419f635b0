-- +goose Up
-- Which emails a school sends of those it may send or not, a bit each, and what they
-- are about.
ALTER TABLE schools ADD COLUMN emails_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE emails ADD COLUMN about INTEGER;

-- Where somebody can continue an order.
ALTER TABLE orders ADD COLUMN return_url TEXT;
