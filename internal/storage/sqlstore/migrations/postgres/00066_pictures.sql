-- +goose Up
-- Pictures are found by what is in them.
CREATE INDEX uploads_checksum ON uploads (school_id, checksum) WHERE checksum IS NOT NULL;

-- Seconds that an uploaded file plays, and an attachment that is no video.
ALTER TABLE uploads ADD COLUMN duration INTEGER;
ALTER TABLE attachments ADD COLUMN duration INTEGER;
