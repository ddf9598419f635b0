-- +goose Up
-- Who sells in a school. Each row is a version, which receipts name.
CREATE TABLE sellers (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	seller_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	address TEXT NOT NULL,
	tax_number TEXT NOT NULL,
	prefix TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (school_id, seller_id)
) STRICT, WITHOUT ROWID;

-- What buyers paid, and what they were refunded. The id is the number, without gaps.
CREATE TABLE receipts (
	school_id INTEGER NOT NULL,
	receipt_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	movement_id INTEGER,
	user_id INTEGER NOT NULL,
	seller_id INTEGER NOT NULL,
	issued_at INTEGER NOT NULL,
	paid_at INTEGER NOT NULL,
	item TEXT NOT NULL,
	currency TEXT NOT NULL,
	price INTEGER NOT NULL,
	tax INTEGER NOT NULL,
	PRIMARY KEY (school_id, receipt_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id),
	FOREIGN KEY (school_id, seller_id) REFERENCES sellers (school_id, seller_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_transaction ON receipts (school_id, transaction_id, receipt_id);
CREATE INDEX receipts_user ON receipts (school_id, user_id, receipt_id);
