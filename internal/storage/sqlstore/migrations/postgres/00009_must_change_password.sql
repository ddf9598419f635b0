-- +goose Up
ALTER TABLE users ADD COLUMN must_change_password SMALLINT NOT NULL DEFAULT 0;
