-- +goose Up
-- A sale that was recorded for somebody after they were erased left access open that nobody
-- has. Such a sale gives none any more.
UPDATE entitlements SET ended_at = starts_at, end_reason = 'unenrolled'
	FROM users u WHERE u.school_id = entitlements.school_id AND u.user_id = entitlements.user_id
	AND u.erased_at IS NOT NULL AND entitlements.ended_at IS NULL
	AND NOT EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = entitlements.school_id
		AND e.user_id = entitlements.user_id AND e.ended_at IS NULL);
