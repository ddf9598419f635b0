-- +goose Up
-- Whether learners are told at once which of their answers to a quiz are right.
ALTER TABLE attachments ADD COLUMN instant_feedback INTEGER;
