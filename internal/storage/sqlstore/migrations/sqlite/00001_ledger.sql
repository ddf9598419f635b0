-- +goose Up
CREATE TABLE schools (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (school_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	PRIMARY KEY (school_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
	school_id INTEGER NOT NULL,
	api_key_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	permissions INTEGER NOT NULL,
	hash BLOB NOT NULL,
	last_four TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER,
	revoked_at INTEGER,
	PRIMARY KEY (school_id, api_key_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX api_keys_hash ON api_keys (school_id, hash);

CREATE TABLE oauth_apps (
	school_id INTEGER NOT NULL,
	oauth_app_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	version INTEGER NOT NULL,
	redirect_url TEXT NOT NULL,
	client_id TEXT NOT NULL,
	secret_hash BLOB NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, oauth_app_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (school_id, client_id);

CREATE TABLE rate_windows (
	school_id INTEGER NOT NULL,
	start INTEGER NOT NULL,
	used INTEGER NOT NULL,
	PRIMARY KEY (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	email TEXT NOT NULL,
	email_key TEXT NOT NULL,
	name TEXT,
	role TEXT NOT NULL,
	src TEXT,
	password_hash TEXT,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX users_email_key ON users (school_id, email_key);

CREATE TABLE courses (
	school_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	heading TEXT,
	description TEXT,
	is_published INTEGER NOT NULL,
	image_url TEXT,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, course_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pricing_plans (
	school_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	course_id INTEGER,
	name TEXT NOT NULL,
	price INTEGER NOT NULL,
	currency TEXT NOT NULL,
	frequency TEXT NOT NULL,
	billing_interval TEXT,
	billing_interval_count INTEGER,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, pricing_plan_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pricing_plans_course ON pricing_plans (school_id, course_id, pricing_plan_id);

CREATE TABLE coupons (
	school_id INTEGER NOT NULL,
	coupon_id INTEGER NOT NULL,
	code TEXT,
	PRIMARY KEY (school_id, coupon_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE affiliates (
	school_id INTEGER NOT NULL,
	affiliate_id INTEGER NOT NULL,
	name TEXT,
	PRIMARY KEY (school_id, affiliate_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE authors (
	school_id INTEGER NOT NULL,
	author_id INTEGER NOT NULL,
	name TEXT,
	PRIMARY KEY (school_id, author_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sales (
	school_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, sale_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

-- With a rowid, so that an index leads to a row by one integer, and a page deep
-- in a list is skipped to without touching the rows before it.
CREATE TABLE transactions (
	school_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	purchased_at INTEGER NOT NULL,
	charge INTEGER NOT NULL,
	final_price INTEGER NOT NULL,
	currency TEXT NOT NULL,
	tax_charge INTEGER NOT NULL,
	revenue INTEGER NOT NULL,
	paid INTEGER NOT NULL,
	has_chargeback INTEGER,
	chargeback_fee INTEGER,
	affiliate_id INTEGER,
	affiliate_fees INTEGER NOT NULL,
	author_id INTEGER,
	author_fees INTEGER NOT NULL,
	coupon_id INTEGER,
	refunded_at INTEGER,
	amount_refunded INTEGER NOT NULL,
	PRIMARY KEY (school_id, transaction_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
) STRICT;
CREATE INDEX transactions_created ON transactions (school_id, created_at, transaction_id);
CREATE INDEX transactions_user ON transactions (school_id, user_id, created_at, transaction_id);
CREATE INDEX transactions_plan ON transactions (school_id, pricing_plan_id, created_at, transaction_id);
CREATE INDEX transactions_affiliate ON transactions (school_id, affiliate_id, created_at, transaction_id) WHERE affiliate_id IS NOT NULL;
CREATE INDEX transactions_refunded ON transactions (school_id, created_at, transaction_id) WHERE amount_refunded > 0 AND amount_refunded >= final_price;
CREATE INDEX transactions_chargeback ON transactions (school_id, created_at, transaction_id) WHERE has_chargeback = 1;
