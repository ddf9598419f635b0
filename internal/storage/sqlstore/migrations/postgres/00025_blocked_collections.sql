-- +goose Up
-- Somebody had a look at what did not fit of a sale.
ALTER TABLE sale_warnings ADD COLUMN dismissed_at BIGINT;

-- What each entitlement reaches, as before, and the collection that it comes
-- with: a block of the collection also outranks what comes with it.
DROP VIEW reaching;
CREATE VIEW reaching AS
SELECT e.school_id, e.entitlement_id, e.user_id, e.product_type, e.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, CAST(NULL AS INTEGER) AS collection_id
FROM entitlements e
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, i.product_collection_id AS collection_id
FROM entitlements e JOIN collection_products i ON i.school_id = e.school_id AND i.product_collection_id = e.product_id
WHERE e.product_type = 'product_collection' AND (i.leaving IS NULL OR e.entitlement_id <= i.leaving AND NOT EXISTS (
	SELECT 1 FROM entitlements k WHERE k.school_id = e.school_id AND k.user_id = e.user_id
	AND k.product_type = i.product_type AND k.product_id = i.product_id AND k.kept_from = e.entitlement_id
	AND k.entitlement_id > i.leaving))
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, CAST(NULL AS INTEGER) AS collection_id
FROM entitlements e JOIN tier_products i ON i.school_id = e.school_id AND i.membership_tier_id = e.product_id
WHERE e.product_type = 'membership_tier' AND i.leaving IS NULL
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, i.product_collection_id AS collection_id
FROM entitlements e JOIN tier_products o ON o.school_id = e.school_id AND o.membership_tier_id = e.product_id
JOIN collection_products i ON i.school_id = o.school_id AND i.product_collection_id = o.product_id
WHERE e.product_type = 'membership_tier' AND o.product_type = 'product_collection' AND o.leaving IS NULL
AND i.leaving IS NULL;

-- Who holds a product is found by it. Enrollments say so of courses.
DROP INDEX entitlements_holders;
CREATE INDEX entitlements_holders ON entitlements (school_id, product_type, product_id, entitlement_id, user_id)
	WHERE product_type <> 'course';
