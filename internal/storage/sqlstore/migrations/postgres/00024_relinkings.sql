-- +goose Up
-- Pricing plans whose product changed, until the imported enrollments of all
-- their buyers are linked to sales again.
CREATE TABLE relinkings (
	school_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	after_at BIGINT NOT NULL,
	after_id INTEGER NOT NULL,
	PRIMARY KEY (school_id, pricing_plan_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
);
