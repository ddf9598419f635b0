-- +goose Up
-- A user has few payments, and buyers come in no order: the narrower the entries, the fewer
-- pages a change writes.
DROP INDEX transactions_user;
CREATE INDEX transactions_user ON transactions (school_id, user_id);
