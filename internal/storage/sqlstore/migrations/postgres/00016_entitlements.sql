-- +goose Up
-- Why a user may use a product.
CREATE TABLE entitlements (
	school_id INTEGER NOT NULL,
	entitlement_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	sale_id INTEGER,
	imported SMALLINT NOT NULL,
	starts_at BIGINT NOT NULL,
	ends_at BIGINT,
	ended_at BIGINT,
	end_reason TEXT,
	PRIMARY KEY (school_id, entitlement_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
);
CREATE INDEX entitlements_user ON entitlements (school_id, user_id, product_type, product_id);
CREATE INDEX entitlements_ends ON entitlements (school_id, ends_at, entitlement_id)
	WHERE ended_at IS NULL AND ends_at IS NOT NULL;
CREATE INDEX entitlements_holders ON entitlements (school_id, product_type, product_id, entitlement_id)
	WHERE ended_at IS NULL AND product_type IN ('product_collection', 'membership_tier');

-- Whom an unenrollment keeps out of what comes with a collection or a tier.
CREATE TABLE blocks (
	school_id INTEGER NOT NULL,
	block_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, block_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE UNIQUE INDEX blocks_product ON blocks (school_id, user_id, product_type, product_id);

-- Who is enrolled is so by each sale with a payment that was neither refunded in
-- full nor charged back, or else by an import. Enrollments of the past stay as
-- one reason each; those whose time was over were ended by no act.
INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at,
	ends_at, ended_at, end_reason)
SELECT r.school_id, ROW_NUMBER() OVER (PARTITION BY r.school_id ORDER BY r.enrollment_id, r.sale_id), r.user_id, 'course',
	r.course_id, r.sale_id, 1, r.enrolled_at, r.expires_at, r.ended_at,
	CASE WHEN r.ended_at IS NULL THEN NULL ELSE 'unenrolled' END
FROM (
	SELECT e.school_id, e.enrollment_id, e.user_id, e.course_id, l.sale_id, e.enrolled_at, e.expires_at, CAST(NULL AS BIGINT) AS ended_at
	FROM enrollments e LEFT JOIN (
		SELECT DISTINCT t.school_id, t.user_id, p.course_id, t.sale_id
		FROM transactions t JOIN pricing_plans p ON p.school_id = t.school_id AND p.pricing_plan_id = t.pricing_plan_id
		JOIN sales s ON s.school_id = t.school_id AND s.sale_id = t.sale_id
		WHERE t.paid = 1 AND NOT (t.amount_refunded > 0 AND t.amount_refunded >= t.final_price)
		AND COALESCE(t.has_chargeback, 0) <> 1 AND p.course_id IS NOT NULL
	) l ON l.school_id = e.school_id AND l.user_id = e.user_id AND l.course_id = e.course_id
	WHERE e.ended_at IS NULL
	UNION ALL
	SELECT e.school_id, e.enrollment_id, e.user_id, e.course_id, s.sale_id, e.enrolled_at, e.expires_at,
		CASE WHEN e.expires_at <= e.ended_at THEN NULL ELSE e.ended_at END
	FROM enrollments e LEFT JOIN sales s ON s.school_id = e.school_id AND s.sale_id = e.sale_id
	WHERE e.ended_at IS NOT NULL
) r;
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'entitlement_id', max(entitlement_id) FROM entitlements GROUP BY school_id;

DROP INDEX enrollments_due;
