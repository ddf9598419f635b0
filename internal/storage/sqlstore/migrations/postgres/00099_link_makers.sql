-- +goose Up
-- Who on the staff made a one-time link for somebody else: it ends when they may no longer make it.
ALTER TABLE links ADD COLUMN made_by INTEGER;
