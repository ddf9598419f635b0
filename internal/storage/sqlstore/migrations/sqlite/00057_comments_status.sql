-- +goose Up
-- What finds the comments of a school that have a status, to moderate them.
CREATE INDEX comments_status ON comments (school_id, status, comment_id);
