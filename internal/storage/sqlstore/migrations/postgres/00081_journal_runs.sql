-- +goose Up
-- Entries of one moment that say the same of many objects, such as those of an import, are
-- one row: the numbers of the first and the last, and the objects' ids, each as a varint
-- of its difference to the one before.
CREATE TABLE journal_runs (
	school_id INTEGER NOT NULL,
	last bigint NOT NULL,
	number bigint NOT NULL,
	at bigint NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_ids bytea NOT NULL,
	PRIMARY KEY (school_id, last)
);
