-- +goose Up
CREATE TABLE cursors (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	number BIGINT NOT NULL,
	PRIMARY KEY (school_id, name),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

ALTER TABLE webhooks ADD COLUMN is_live SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN as_array SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN schedule TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN secret_generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN old_secret_until BIGINT;
ALTER TABLE webhooks ADD COLUMN failed_at BIGINT;
ALTER TABLE webhooks ADD COLUMN deleted_at BIGINT;

ALTER TABLE webhook_events ADD COLUMN number BIGINT;
ALTER TABLE webhook_events ADD COLUMN next_attempt_at BIGINT;
ALTER TABLE webhook_events ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX webhook_events_due ON webhook_events (school_id, webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE event_payloads (
	school_id INTEGER NOT NULL,
	number BIGINT NOT NULL,
	event TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	at BIGINT NOT NULL,
	object TEXT NOT NULL,
	PRIMARY KEY (school_id, number),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE webhook_attempts (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	at BIGINT NOT NULL,
	took BIGINT NOT NULL,
	status INTEGER,
	problem TEXT,
	request_header TEXT NOT NULL,
	response_header TEXT NOT NULL,
	response_body TEXT NOT NULL,
	PRIMARY KEY (school_id, webhook_event_id, attempt),
	FOREIGN KEY (school_id, webhook_event_id) REFERENCES webhook_events (school_id, webhook_event_id)
);

CREATE TABLE comments (
	school_id INTEGER NOT NULL,
	comment_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	body TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, comment_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE INDEX comments_lecture ON comments (school_id, lecture_id, comment_id);
