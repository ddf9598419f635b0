-- +goose Up
-- The enrollments of a product by when they began, those of a course also by when
-- it was completed.
CREATE INDEX entitlements_enrolled ON entitlements (school_id, product_type, product_id, starts_at, entitlement_id,
	user_id, ended_at, ends_at);
CREATE INDEX progress_completed ON progress (school_id, course_id, completed_at, user_id) WHERE completed_at IS NOT NULL;

-- How many entitlements there are to each product, whatever became of them.
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'held:' || product_type || ':' || product_id, count(*) FROM entitlements
GROUP BY school_id, product_type, product_id;
