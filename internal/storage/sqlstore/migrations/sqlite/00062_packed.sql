-- +goose Up
-- Events and answers to them are packed: a row of one of the older tables took a
-- page at least. The rows move in Go, and the next migration drops those tables.
ALTER TABLE event_payloads RENAME TO plain_payloads;
ALTER TABLE webhook_attempts RENAME TO plain_attempts;

CREATE TABLE event_payloads (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	event TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	object BLOB NOT NULL,
	PRIMARY KEY (school_id, number),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT;

CREATE TABLE webhook_attempts (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	at INTEGER NOT NULL,
	took INTEGER NOT NULL,
	status INTEGER,
	problem TEXT,
	exchange BLOB NOT NULL,
	is_kept INTEGER NOT NULL,
	PRIMARY KEY (school_id, webhook_event_id, attempt),
	FOREIGN KEY (school_id, webhook_event_id) REFERENCES webhook_events (school_id, webhook_event_id)
) STRICT;

-- How far a pass over events and answers has come.
ALTER TABLE erasures ADD COLUMN searched_payload INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN searched_delivery INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN searched_attempt INTEGER NOT NULL DEFAULT 0;
