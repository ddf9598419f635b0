-- +goose Up
-- What webhooks were sent is searched for a person like other texts, after them.
ALTER TABLE erasures DROP COLUMN searched_payload;
ALTER TABLE erasures DROP COLUMN searched_delivery;
ALTER TABLE erasures DROP COLUMN searched_attempt;
