-- +goose Up
-- What courses ask of their learners. Those from before ask for nothing new, and
-- issue the certificates that they have.
ALTER TABLE courses ADD COLUMN videos_required INTEGER;
ALTER TABLE courses ADD COLUMN quizzes_required INTEGER;
ALTER TABLE courses ADD COLUMN quiz_score REAL;
ALTER TABLE courses ADD COLUMN quiz_retakes INTEGER;
ALTER TABLE courses ADD COLUMN issues_certificates INTEGER;
