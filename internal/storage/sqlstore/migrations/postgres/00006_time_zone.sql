-- +goose Up
ALTER TABLE schools ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
