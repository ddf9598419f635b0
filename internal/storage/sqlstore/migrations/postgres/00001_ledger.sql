-- +goose Up
CREATE TABLE schools (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id)
);

CREATE TABLE counters (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (school_id, name)
);

CREATE TABLE journal (
	school_id INTEGER NOT NULL,
	number BIGINT NOT NULL,
	at BIGINT NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	PRIMARY KEY (school_id, number)
);

CREATE TABLE api_keys (
	school_id INTEGER NOT NULL,
	api_key_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	permissions SMALLINT NOT NULL,
	hash BYTEA NOT NULL,
	last_four TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	last_used_at BIGINT,
	revoked_at BIGINT,
	PRIMARY KEY (school_id, api_key_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (school_id, hash);

CREATE TABLE oauth_apps (
	school_id INTEGER NOT NULL,
	oauth_app_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	version SMALLINT NOT NULL,
	redirect_url TEXT NOT NULL,
	client_id TEXT COLLATE "C" NOT NULL,
	secret_hash BYTEA NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, oauth_app_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (school_id, client_id);

CREATE TABLE rate_windows (
	school_id INTEGER NOT NULL,
	start BIGINT NOT NULL,
	used BIGINT NOT NULL,
	PRIMARY KEY (school_id)
);

CREATE TABLE users (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	email TEXT NOT NULL,
	email_key TEXT COLLATE "C" NOT NULL,
	name TEXT,
	role TEXT NOT NULL,
	src TEXT,
	password_hash TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);
CREATE UNIQUE INDEX users_email_key ON users (school_id, email_key);

CREATE TABLE courses (
	school_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	heading TEXT,
	description TEXT,
	is_published SMALLINT NOT NULL,
	image_url TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, course_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE pricing_plans (
	school_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	course_id INTEGER,
	name TEXT NOT NULL,
	price BIGINT NOT NULL,
	currency TEXT NOT NULL,
	frequency TEXT NOT NULL,
	billing_interval TEXT,
	billing_interval_count INTEGER,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, pricing_plan_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
);
CREATE INDEX pricing_plans_course ON pricing_plans (school_id, course_id, pricing_plan_id);

CREATE TABLE coupons (
	school_id INTEGER NOT NULL,
	coupon_id INTEGER NOT NULL,
	code TEXT,
	PRIMARY KEY (school_id, coupon_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE affiliates (
	school_id INTEGER NOT NULL,
	affiliate_id INTEGER NOT NULL,
	name TEXT,
	PRIMARY KEY (school_id, affiliate_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE authors (
	school_id INTEGER NOT NULL,
	author_id INTEGER NOT NULL,
	name TEXT,
	PRIMARY KEY (school_id, author_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE sales (
	school_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, sale_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE transactions (
	school_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	purchased_at BIGINT NOT NULL,
	charge BIGINT NOT NULL,
	final_price BIGINT NOT NULL,
	currency TEXT NOT NULL,
	tax_charge BIGINT NOT NULL,
	revenue BIGINT NOT NULL,
	paid SMALLINT NOT NULL,
	has_chargeback SMALLINT,
	chargeback_fee BIGINT,
	affiliate_id INTEGER,
	affiliate_fees BIGINT NOT NULL,
	author_id INTEGER,
	author_fees BIGINT NOT NULL,
	coupon_id INTEGER,
	refunded_at BIGINT,
	amount_refunded BIGINT NOT NULL,
	PRIMARY KEY (school_id, transaction_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
);
CREATE INDEX transactions_created ON transactions (school_id, created_at, transaction_id);
CREATE INDEX transactions_user ON transactions (school_id, user_id, created_at, transaction_id);
CREATE INDEX transactions_plan ON transactions (school_id, pricing_plan_id, created_at, transaction_id);
CREATE INDEX transactions_affiliate ON transactions (school_id, affiliate_id, created_at, transaction_id) WHERE affiliate_id IS NOT NULL;
CREATE INDEX transactions_refunded ON transactions (school_id, created_at, transaction_id) WHERE amount_refunded > 0 AND amount_refunded >= final_price;
CREATE INDEX transactions_chargeback ON transactions (school_id, created_at, transaction_id) WHERE has_chargeback = 1;
