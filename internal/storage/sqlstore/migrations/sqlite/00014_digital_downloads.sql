-- +goose Up
CREATE TABLE digital_downloads (
	school_id INTEGER NOT NULL,
	digital_download_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	category TEXT,
	is_published INTEGER NOT NULL,
	is_listed INTEGER NOT NULL,
	image_url TEXT,
	author_id INTEGER,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, digital_download_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, author_id) REFERENCES authors (school_id, author_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX digital_downloads_created ON digital_downloads (school_id, created_at, digital_download_id);
