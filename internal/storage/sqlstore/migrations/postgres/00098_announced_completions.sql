-- +goose Up
-- Whether webhooks receive who completes a course because its lectures changed.
ALTER TABLE recountings ADD COLUMN announces SMALLINT NOT NULL DEFAULT 0;
