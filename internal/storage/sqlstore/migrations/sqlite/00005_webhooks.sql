-- +goose Up
CREATE TABLE cursors (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	number INTEGER NOT NULL,
	PRIMARY KEY (school_id, name),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE webhooks ADD COLUMN is_live INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN as_array INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN schedule TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN secret_generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN old_secret_until INTEGER;
ALTER TABLE webhooks ADD COLUMN failed_at INTEGER;
ALTER TABLE webhooks ADD COLUMN deleted_at INTEGER;

ALTER TABLE webhook_events ADD COLUMN number INTEGER;
ALTER TABLE webhook_events ADD COLUMN next_attempt_at INTEGER;
ALTER TABLE webhook_events ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX webhook_events_due ON webhook_events (school_id, webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE event_payloads (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	event TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	object TEXT NOT NULL,
	PRIMARY KEY (school_id, number),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_attempts (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	at INTEGER NOT NULL,
	took INTEGER NOT NULL,
	status INTEGER,
	problem TEXT,
	request_header TEXT NOT NULL,
	response_header TEXT NOT NULL,
	response_body TEXT NOT NULL,
	PRIMARY KEY (school_id, webhook_event_id, attempt),
	FOREIGN KEY (school_id, webhook_event_id) REFERENCES webhook_events (school_id, webhook_event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE comments (
	school_id INTEGER NOT NULL,
	comment_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	body TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, comment_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_lecture ON comments (school_id, lecture_id, comment_id);
