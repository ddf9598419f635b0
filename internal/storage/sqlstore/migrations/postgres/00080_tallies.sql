-- +goose Up
-- Counts that all servers of the database share: requests of the running minute, and
-- what may be tried only so often. Rows are of no school where school_id is 0, and
-- are rewritten in place.
CREATE TABLE tallies (
	school_id INTEGER NOT NULL,
	topic BYTEA NOT NULL,
	name BYTEA NOT NULL,
	length BIGINT NOT NULL,
	begin BIGINT NOT NULL,
	used BIGINT NOT NULL,
	given BIGINT NOT NULL,
	PRIMARY KEY (school_id, topic, name, length)
) WITH (fillfactor = 50);
