-- +goose Up
-- One index by user in place of two. It has the course: where a user has many enrollments, PostgreSQL
-- otherwise read all of them to find that of a course. For the first of them, all their entries are read.
DROP INDEX enrollments_user;
DROP INDEX enrollments_first;
CREATE INDEX enrollments_user ON enrollments (school_id, user_id, course_id, enrolled_at);
