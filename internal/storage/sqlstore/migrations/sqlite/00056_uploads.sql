-- +goose Up
-- Files that were, or may be, sent to this server.
CREATE TABLE uploads (
	school_id INTEGER NOT NULL,
	upload_id INTEGER NOT NULL,
	uuid TEXT NOT NULL,
	target_type TEXT NOT NULL,
	target_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	extension TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	received_at INTEGER,
	size_in_bytes INTEGER,
	checksum TEXT,
	stored_as TEXT,
	PRIMARY KEY (school_id, upload_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX uploads_uuid ON uploads (school_id, uuid);
