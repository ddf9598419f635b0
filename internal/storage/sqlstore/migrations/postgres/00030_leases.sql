-- +goose Up
-- Which server does what one of them does for all, and until when. Servers read
-- the time from the database.
CREATE TABLE leases (
	name TEXT NOT NULL PRIMARY KEY,
	holder TEXT NOT NULL,
	until BIGINT NOT NULL
);
INSERT INTO leases (name, holder, until) VALUES ('scheduler', '', 0);
