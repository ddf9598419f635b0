-- +goose Up
-- Who works for a school and does not own it, and the keys that they made. Owners
-- are users with the role owner, as before; the keys that are there are the school's.
CREATE TABLE staff_members (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	role TEXT NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);

ALTER TABLE api_keys ADD COLUMN user_id INTEGER;
