-- +goose Up
-- Memory finds transactions by what these indexes are of. A server that has no memory for that
-- makes them itself; see filterIndexes.
DROP INDEX IF EXISTS transactions_plan;
DROP INDEX IF EXISTS transactions_affiliate;
DROP INDEX IF EXISTS transactions_author;
