-- +goose Up
-- Emails that are to be sent, and for a time those that were.
CREATE TABLE emails (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	email_id INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	user_id INTEGER,
	address TEXT,
	shown TEXT NOT NULL,
	message_id TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	tries INTEGER NOT NULL,
	next_attempt_at INTEGER,
	closed_at INTEGER,
	problem TEXT,
	PRIMARY KEY (school_id, email_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX emails_waiting ON emails (school_id, next_attempt_at, email_id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX emails_users ON emails (school_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX emails_states ON emails (school_id, state, email_id);

ALTER TABLE schools ADD COLUMN keep_emails INTEGER NOT NULL DEFAULT 30;
