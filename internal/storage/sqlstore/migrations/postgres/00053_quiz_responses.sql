-- +goose Up
-- What a response to a quiz holds: answers by the key of their question, and what
-- was counted when it was graded. Of those from before the percentage alone is
-- known; they were created when they were submitted, or with their user.
ALTER TABLE quiz_responses ADD COLUMN correct INTEGER;
ALTER TABLE quiz_responses ADD COLUMN answered INTEGER;
ALTER TABLE quiz_responses ADD COLUMN total INTEGER;
ALTER TABLE quiz_responses ADD COLUMN answers TEXT;
ALTER TABLE quiz_responses ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE quiz_responses ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE quiz_responses SET created_at = COALESCE(submitted_at, (SELECT u.created_at FROM users u
	WHERE u.school_id = quiz_responses.school_id AND u.user_id = quiz_responses.user_id));
UPDATE quiz_responses SET updated_at = created_at;
CREATE INDEX quiz_responses_submitted ON quiz_responses
	(school_id, user_id, COALESCE(submitted_at, 0), quiz_response_id);
CREATE INDEX quiz_responses_created ON quiz_responses (school_id, user_id, created_at, quiz_response_id);
CREATE INDEX quiz_responses_updated ON quiz_responses (school_id, user_id, updated_at, quiz_response_id);
