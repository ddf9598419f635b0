-- +goose Up
-- When users were enrolled first, without looking their enrollments up.
CREATE INDEX enrollments_first ON enrollments (school_id, user_id, enrolled_at);
