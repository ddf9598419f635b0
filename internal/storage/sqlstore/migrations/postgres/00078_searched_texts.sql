-- +goose Up
-- How far the texts that others wrote have been searched for a person.
ALTER TABLE erasures ADD COLUMN searched_text INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN searched_key TEXT NOT NULL DEFAULT '';
