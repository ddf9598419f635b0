-- +goose Up
-- Days that a school keeps what its books do not need; 0 is for good. Schools that
-- are there keep events and attempts until they choose otherwise.
ALTER TABLE schools ADD COLUMN keep_events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schools ADD COLUMN keep_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schools ADD COLUMN keep_answers INTEGER NOT NULL DEFAULT 2;
ALTER TABLE schools ADD COLUMN keep_sessions INTEGER NOT NULL DEFAULT 1;
ALTER TABLE schools ADD COLUMN keep_links INTEGER NOT NULL DEFAULT 1;

-- Events that deliveries wait for are not swept.
CREATE INDEX webhook_events_waiting ON webhook_events (school_id, number) WHERE next_attempt_at IS NOT NULL;
