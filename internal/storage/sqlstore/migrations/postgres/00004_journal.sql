-- +goose Up
ALTER TABLE journal ADD COLUMN event TEXT;
ALTER TABLE journal ADD COLUMN detail TEXT;
CREATE INDEX journal_events ON journal (school_id, number) WHERE event IS NOT NULL;

ALTER TABLE schools ADD COLUMN on_refund TEXT NOT NULL DEFAULT 'unenroll';
ALTER TABLE schools ADD COLUMN on_chargeback TEXT NOT NULL DEFAULT 'unenroll';
ALTER TABLE schools ADD COLUMN on_cancellation TEXT NOT NULL DEFAULT 'at_period_end';
ALTER TABLE schools ADD COLUMN abandon_after BIGINT NOT NULL DEFAULT 60;

CREATE INDEX transactions_sale ON transactions (school_id, sale_id, created_at, transaction_id);

ALTER TABLE sales ADD COLUMN user_id INTEGER;
ALTER TABLE sales ADD COLUMN pricing_plan_id INTEGER;
ALTER TABLE sales ADD COLUMN coupon_id INTEGER;
ALTER TABLE sales ADD COLUMN affiliate_id INTEGER;
ALTER TABLE sales ADD COLUMN author_id INTEGER;
ALTER TABLE sales ADD COLUMN final_price BIGINT;
ALTER TABLE sales ADD COLUMN currency TEXT;
ALTER TABLE sales ADD COLUMN paid_until BIGINT;
ALTER TABLE sales ADD COLUMN ended_at BIGINT;
ALTER TABLE sales ADD COLUMN end_reason TEXT;
UPDATE sales SET (user_id, pricing_plan_id, coupon_id, affiliate_id, author_id, final_price, currency) =
	(SELECT t.user_id, t.pricing_plan_id, t.coupon_id, t.affiliate_id, t.author_id, t.final_price, t.currency FROM transactions t
	WHERE t.school_id = sales.school_id AND t.sale_id = sales.sale_id ORDER BY t.created_at, t.transaction_id LIMIT 1);

ALTER TABLE enrollments ADD COLUMN sale_id INTEGER;
CREATE INDEX enrollments_due ON enrollments (school_id, expires_at) WHERE ended_at IS NULL AND expires_at IS NOT NULL;

-- What was paid outside, under the name it has there.
CREATE TABLE charge_references (
	school_id INTEGER NOT NULL,
	reference TEXT NOT NULL,
	transaction_id INTEGER NOT NULL,
	PRIMARY KEY (school_id, reference),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
);
CREATE INDEX charge_references_transaction ON charge_references (school_id, transaction_id);

CREATE TABLE movements (
	school_id INTEGER NOT NULL,
	movement_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	amount BIGINT NOT NULL,
	refunded BIGINT NOT NULL,
	at BIGINT NOT NULL,
	reason TEXT,
	reference TEXT,
	PRIMARY KEY (school_id, movement_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
);
CREATE INDEX movements_transaction ON movements (school_id, transaction_id, movement_id);
CREATE INDEX movements_sale ON movements (school_id, sale_id, movement_id);

CREATE TABLE orders (
	school_id INTEGER NOT NULL,
	order_id INTEGER NOT NULL,
	email TEXT NOT NULL,
	name TEXT,
	user_id INTEGER,
	pricing_plan_id INTEGER NOT NULL,
	coupon_id INTEGER,
	affiliate_id INTEGER,
	final_price BIGINT NOT NULL,
	currency TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	abandons_at BIGINT NOT NULL,
	closed_at BIGINT,
	sale_id INTEGER,
	PRIMARY KEY (school_id, order_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
);
CREATE INDEX orders_open ON orders (school_id, abandons_at) WHERE state = 'open';

CREATE TABLE answers (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	request BYTEA NOT NULL,
	created_at BIGINT NOT NULL,
	body TEXT,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);
CREATE INDEX answers_created ON answers (school_id, created_at);
