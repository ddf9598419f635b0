-- +goose Up
-- Each row that refers to a user has SQLite look for that user. It takes the index for it that
-- was made last; users themselves are so wide that few fit in its memory.
CREATE UNIQUE INDEX users_ids ON users (school_id, user_id);
-- A user has few payments, and buyers come in no order: the narrower the entries, the fewer
-- pages a change writes.
DROP INDEX transactions_user;
CREATE INDEX transactions_user ON transactions (school_id, user_id);
