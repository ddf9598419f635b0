-- +goose Up
-- What a plan sells that sells no course.
ALTER TABLE pricing_plans ADD COLUMN product_type TEXT;
ALTER TABLE pricing_plans ADD COLUMN product_id INTEGER;
CREATE INDEX pricing_plans_product ON pricing_plans (school_id, product_type, product_id) WHERE product_type IS NOT NULL;
