-- +goose Up
-- What people sign in with after their password, and when a session last showed who
-- it is of. Sessions that are there have shown it never.
CREATE TABLE second_factors (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	sealed TEXT NOT NULL,
	step INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_user ON recovery_codes (school_id, user_id);

ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schools ADD COLUMN owners_second_factor INTEGER NOT NULL DEFAULT 0;
