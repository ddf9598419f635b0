-- +goose Up
-- An import that brought the end of an enrollment also ended the access behind an older one of the
-- same learner and course whose time was over. That had ended when its time was.
UPDATE entitlements SET ends_at = e.expires_at, ended_at = NULL, end_reason = NULL
	FROM enrollments e WHERE e.school_id = entitlements.school_id AND e.user_id = entitlements.user_id
	AND e.course_id = entitlements.product_id AND entitlements.product_type = 'course'
	AND e.enrolled_at = entitlements.starts_at AND e.ended_at IS NULL AND e.expires_at < entitlements.ended_at
	AND entitlements.imported = 1 AND entitlements.end_reason = 'imported';
