-- +goose Up
-- A school has few owners among many users.
CREATE INDEX users_owners ON users (school_id, user_id) WHERE role = 'owner';
