-- +goose Up
-- A user is looked for in each part of the index: the older the school, the more months there
-- are. The pages of a year still stay in the cache; see byYear.
DROP INDEX transactions_user;
CREATE INDEX transactions_user ON transactions (school_id, created_at / 31536000000000, user_id);
