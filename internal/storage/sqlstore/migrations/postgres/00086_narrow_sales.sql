-- +goose Up
-- A sale has few payments: the narrower the entries, the less is compared and written for each.
DROP INDEX transactions_sale;
CREATE INDEX transactions_sale ON transactions (school_id, sale_id);
