-- +goose Up
-- One-time links also confirm a new email address.
ALTER TABLE links ADD COLUMN email TEXT;
