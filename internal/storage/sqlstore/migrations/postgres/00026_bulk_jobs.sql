-- +goose Up
-- A bulk job does one action for each user of a list. Its counts say which row it
-- has reached; they are kept in the change that processes the rows.
CREATE TABLE bulk_jobs (
	school_id INTEGER NOT NULL,
	bulk_job_id INTEGER NOT NULL,
	action TEXT NOT NULL,
	product_type TEXT,
	product_id INTEGER,
	ends_at BIGINT,
	tags TEXT NOT NULL,
	state TEXT NOT NULL,
	actor TEXT NOT NULL,
	row_count INTEGER NOT NULL,
	expected_done INTEGER NOT NULL,
	expected_unchanged INTEGER NOT NULL,
	expected_failed INTEGER NOT NULL,
	expected_sales INTEGER NOT NULL,
	losing INTEGER NOT NULL,
	keeping INTEGER NOT NULL,
	gaining INTEGER NOT NULL,
	done INTEGER NOT NULL,
	unchanged INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	sales INTEGER NOT NULL,
	problem TEXT,
	created_at BIGINT NOT NULL,
	started_at BIGINT,
	ended_at BIGINT,
	PRIMARY KEY (school_id, bulk_job_id)
);
CREATE INDEX bulk_jobs_active ON bulk_jobs (school_id, bulk_job_id) WHERE state IN ('preparing', 'running');

CREATE TABLE bulk_parts (
	school_id INTEGER NOT NULL,
	bulk_part_id INTEGER NOT NULL,
	bulk_job_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	part_rows TEXT NOT NULL,
	PRIMARY KEY (school_id, bulk_part_id),
	FOREIGN KEY (school_id, bulk_job_id) REFERENCES bulk_jobs (school_id, bulk_job_id)
);
CREATE UNIQUE INDEX bulk_parts_number ON bulk_parts (school_id, bulk_job_id, number);
