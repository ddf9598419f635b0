-- +goose Up
-- Deleted webhooks stay, and nobody who asks for the others reads them.
CREATE INDEX webhooks_standing ON webhooks (school_id, is_live, webhook_id) WHERE deleted_at IS NULL;

-- Who looks for events by name reads this index alone to find them.
DROP INDEX journal_events;
CREATE INDEX journal_events ON journal (school_id, number, event) WHERE event IS NOT NULL;
