-- +goose Up
-- Attempts to charge a subscription or a payment plan that failed.
CREATE TABLE payment_failures (
	school_id INTEGER NOT NULL,
	payment_failure_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	occurred_at BIGINT NOT NULL,
	reason TEXT,
	next_attempt_at BIGINT,
	reference TEXT,
	reference_key TEXT,
	PRIMARY KEY (school_id, payment_failure_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
);
CREATE INDEX payment_failures_sale ON payment_failures (school_id, sale_id, payment_failure_id);
CREATE INDEX payment_failures_reference ON payment_failures (school_id, reference_key, payment_failure_id)
WHERE reference_key IS NOT NULL;

-- When an attempt to charge a sale last failed.
ALTER TABLE sales ADD COLUMN failed_at BIGINT;
