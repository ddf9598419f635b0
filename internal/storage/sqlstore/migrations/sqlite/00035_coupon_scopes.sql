-- +goose Up
-- Coupons are listed by what they are for.
CREATE INDEX coupons_plan ON coupons (school_id, pricing_plan_id) WHERE pricing_plan_id IS NOT NULL;
CREATE INDEX coupons_product ON coupons (school_id, product_type, product_id) WHERE product_type IS NOT NULL;
CREATE INDEX coupons_kinds ON coupons (school_id, coupon_id) WHERE scope_type IS NOT NULL;
