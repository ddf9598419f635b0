-- +goose Up
-- Buyers come in no order, so each transaction changed another page of their index. Those of a
-- month are few pages, which stay in the cache.
DROP INDEX transactions_user;
CREATE INDEX transactions_user ON transactions (school_id, created_at / 2592000000000, user_id);
