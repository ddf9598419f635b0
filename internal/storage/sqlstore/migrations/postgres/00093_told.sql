-- +goose Up
-- Events are read from where their reader stopped, which needs no index of them all: it took
-- an entry for nearly each one of the journal. What an event says besides its object is
-- looked for when a person is erased, and few events say something.
DROP INDEX journal_events;
CREATE INDEX journal_details ON journal (school_id, event, object_id) WHERE event IS NOT NULL AND detail IS NOT NULL;
