-- +goose Up
-- Sales follow each other when a plan is changed: now, or when what was paid for
-- is used up.
ALTER TABLE sales ADD COLUMN replaces INTEGER;
ALTER TABLE sales ADD COLUMN replaced_by INTEGER;
ALTER TABLE sales ADD COLUMN next_plan_id INTEGER;
-- 2: it was announced that the sale stopped; 1: it will be when what was paid for
-- is used up. What was cancelled before was announced at once.
ALTER TABLE sales ADD COLUMN stop INTEGER NOT NULL DEFAULT 0;
UPDATE sales SET stop = 2 WHERE end_reason = 'canceled';
CREATE INDEX sales_due ON sales (school_id, COALESCE(paid_until, 0), sale_id) WHERE stop = 1 OR next_plan_id IS NOT NULL;

-- Who has access to coaching.
CREATE TABLE admissions (
	school_id INTEGER NOT NULL,
	admission_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	coaching_id INTEGER NOT NULL,
	sale_id INTEGER,
	admitted_at INTEGER NOT NULL,
	expires_at INTEGER,
	ended_at INTEGER,
	PRIMARY KEY (school_id, admission_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX admissions_once ON admissions (school_id, user_id, coaching_id) WHERE ended_at IS NULL;
INSERT INTO admissions (school_id, admission_id, user_id, coaching_id, sale_id, admitted_at, expires_at)
SELECT r.school_id, ROW_NUMBER() OVER (PARTITION BY r.school_id ORDER BY r.user_id, r.product_id), r.user_id, r.product_id,
	min(r.opened_by), min(r.starts_at), CASE WHEN count(r.ends_at) = count(*) THEN max(r.ends_at) END
FROM (SELECT x.*, first_value(x.sale_id) OVER (PARTITION BY x.school_id, x.user_id, x.product_type, x.product_id
	ORDER BY x.starts_at, x.entitlement_id) AS opened_by FROM reaching x
	WHERE x.product_type = 'coaching' AND x.ended_at IS NULL) r
WHERE r.product_type = 'coaching' AND r.ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM blocks b
	WHERE b.school_id = r.school_id AND b.user_id = r.user_id AND b.product_type = r.product_type
	AND b.product_id = r.product_id)
GROUP BY r.school_id, r.user_id, r.product_id;
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'admission_id', max(admission_id) FROM admissions GROUP BY school_id;
INSERT INTO journal (school_id, number, at, actor, type, object_id)
SELECT a.school_id, c.value + a.admission_id, (SELECT max(j.at) FROM journal j WHERE j.school_id = a.school_id), 'update',
	'admission.created', a.admission_id
FROM admissions a JOIN counters c ON c.school_id = a.school_id AND c.name = 'journal';
UPDATE counters SET value = value + (SELECT count(*) FROM admissions a WHERE a.school_id = counters.school_id)
WHERE name = 'journal';
