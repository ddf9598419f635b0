-- +goose Up
-- Events and answers to them are packed. The rows move in Go, and the next migration
-- drops the older tables.
ALTER TABLE event_payloads RENAME TO plain_payloads;
ALTER TABLE webhook_attempts RENAME TO plain_attempts;
ALTER INDEX event_payloads_pkey RENAME TO plain_payloads_pkey;
ALTER INDEX webhook_attempts_pkey RENAME TO plain_attempts_pkey;

CREATE TABLE event_payloads (
	school_id INTEGER NOT NULL,
	number BIGINT NOT NULL,
	event TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	at BIGINT NOT NULL,
	object BYTEA NOT NULL,
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
	exchange BYTEA NOT NULL,
	is_kept SMALLINT NOT NULL,
	PRIMARY KEY (school_id, webhook_event_id, attempt),
	FOREIGN KEY (school_id, webhook_event_id) REFERENCES webhook_events (school_id, webhook_event_id)
);

-- How far a pass over events and answers has come.
ALTER TABLE erasures ADD COLUMN searched_payload BIGINT NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN searched_delivery INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN searched_attempt INTEGER NOT NULL DEFAULT 0;
