-- +goose Up
-- A sale has few payments: the narrower the entries, the fewer pages a change writes.
DROP INDEX transactions_sale;
CREATE INDEX transactions_sale ON transactions (school_id, sale_id);
