-- +goose Up
CREATE TABLE digital_downloads (
	school_id INTEGER NOT NULL,
	digital_download_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	category TEXT,
	is_published SMALLINT NOT NULL,
	is_listed SMALLINT NOT NULL,
	image_url TEXT,
	author_id INTEGER,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, digital_download_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, author_id) REFERENCES authors (school_id, author_id)
);
CREATE INDEX digital_downloads_created ON digital_downloads (school_id, created_at, digital_download_id);
