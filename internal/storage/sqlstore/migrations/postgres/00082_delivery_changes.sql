-- +goose Up
-- Which deliveries the last changes were about, for the indexes of lists in memory. A note is
-- the id of a webhook event times four, with what was done: 0 made, 1 moved or deleted,
-- 2 settled. Each is a varint of its difference to the one before.
CREATE TABLE delivery_changes (
	school_id INTEGER NOT NULL,
	number bigint NOT NULL,
	at bigint NOT NULL,
	notes bytea NOT NULL,
	PRIMARY KEY (school_id, number)
);
