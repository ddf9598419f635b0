-- +goose Up
-- A product that is leaving still comes with entitlements up to an id; holders up
-- to the settled one have been brought in line with what was added or removed.
ALTER TABLE collection_products ADD COLUMN leaving INTEGER;
ALTER TABLE collection_products ADD COLUMN left_at INTEGER;
ALTER TABLE collection_products ADD COLUMN settled INTEGER;
ALTER TABLE tier_products ADD COLUMN leaving INTEGER;
ALTER TABLE tier_products ADD COLUMN left_at INTEGER;
ALTER TABLE tier_products ADD COLUMN settled INTEGER;
-- The entitlement to a collection that a product was kept from when it left.
ALTER TABLE entitlements ADD COLUMN kept_from INTEGER;
DROP INDEX entitlements_holders;
CREATE INDEX entitlements_holders ON entitlements (school_id, product_type, product_id, entitlement_id)
	WHERE product_type IN ('product_collection', 'membership_tier');
CREATE INDEX collection_products_unsettled ON collection_products (school_id, collection_product_id) WHERE settled IS NOT NULL;
CREATE INDEX tier_products_unsettled ON tier_products (school_id, tier_product_id) WHERE settled IS NOT NULL;

-- What each entitlement reaches: its product, and what comes with that. Without
-- statistics SQLite would read all entitlements of the school.
CREATE VIEW reaching AS
SELECT e.school_id, e.entitlement_id, e.user_id, e.product_type, e.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason
FROM entitlements e INDEXED BY entitlements_user
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN collection_products i INDEXED BY collection_products_once ON i.school_id = e.school_id AND i.product_collection_id = e.product_id
WHERE e.product_type = 'product_collection' AND (i.leaving IS NULL OR e.entitlement_id <= i.leaving AND NOT EXISTS (
	SELECT 1 FROM entitlements k INDEXED BY entitlements_user WHERE k.school_id = e.school_id AND k.user_id = e.user_id
	AND k.product_type = i.product_type AND k.product_id = i.product_id AND k.kept_from = e.entitlement_id
	AND k.entitlement_id > i.leaving))
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN tier_products i INDEXED BY tier_products_once ON i.school_id = e.school_id AND i.membership_tier_id = e.product_id
WHERE e.product_type = 'membership_tier' AND i.leaving IS NULL
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN tier_products o INDEXED BY tier_products_once ON o.school_id = e.school_id AND o.membership_tier_id = e.product_id
CROSS JOIN collection_products i INDEXED BY collection_products_once ON i.school_id = o.school_id AND i.product_collection_id = o.product_id
WHERE e.product_type = 'membership_tier' AND o.product_type = 'product_collection' AND o.leaving IS NULL
AND i.leaving IS NULL;
