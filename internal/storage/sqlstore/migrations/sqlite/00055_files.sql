-- +goose Up
-- What digital downloads consist of.
CREATE TABLE download_attachments (
	school_id INTEGER NOT NULL,
	download_attachment_id INTEGER NOT NULL,
	digital_download_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	url TEXT NOT NULL,
	filename TEXT,
	size_in_bytes INTEGER,
	button_text TEXT,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, download_attachment_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, digital_download_id) REFERENCES digital_downloads (school_id, digital_download_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX download_attachments_download ON download_attachments (school_id, digital_download_id, download_attachment_id);
