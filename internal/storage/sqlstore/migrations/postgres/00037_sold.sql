-- +goose Up
-- How many sales each pricing plan has, whatever became of them.
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'sold:' || pricing_plan_id, count(*) FROM sales WHERE pricing_plan_id IS NOT NULL
GROUP BY school_id, pricing_plan_id;
