-- +goose Up
-- People who are being erased: what they were called, until it is nowhere else.
CREATE TABLE erasures (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	requested_at BIGINT NOT NULL,
	called TEXT NOT NULL,
	passes INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
