-- +goose Up
-- Their rows have moved.
DROP TABLE plain_payloads;
DROP TABLE plain_attempts;
