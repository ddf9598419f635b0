-- +goose Up
-- What the terms of a pricing plan were before they changed; its older sales keep them.
ALTER TABLE pricing_plans ADD COLUMN earlier_terms TEXT;
