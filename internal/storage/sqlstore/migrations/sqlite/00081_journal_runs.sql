-- +goose Up
-- Entries of one moment that say the same of many objects, such as those of an import, are
-- one row: the numbers of the first and the last, and the objects' ids, each as a varint
-- of its difference to the one before.
CREATE TABLE journal_runs (
	school_id INTEGER NOT NULL,
	last INTEGER NOT NULL,
	number INTEGER NOT NULL,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_ids BLOB NOT NULL,
	PRIMARY KEY (school_id, last)
) STRICT;
