-- +goose Up
-- Whether webhooks receive who completes a course because its lectures changed.
ALTER TABLE recountings ADD COLUMN announces INTEGER NOT NULL DEFAULT 0;
