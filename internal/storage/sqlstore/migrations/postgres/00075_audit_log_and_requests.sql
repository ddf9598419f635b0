-- +goose Up
-- The audit log finds scarce entries of the journal, and those of one person, wherever
-- they are.
CREATE INDEX journal_scarce ON journal (school_id, type, number) WHERE type IN ('user.signed_in', 'user.sign_in_failed', 'user.sign_in_locked', 'school.sign_ins_refused', 'user.signed_out', 'user.session_ended', 'user.link_created', 'user.second_factor_set', 'user.second_factor_removed', 'user.recovery_code_used', 'user.recovery_codes_made', 'school.created', 'school.updated', 'school.restored', 'school.upgraded', 'email_template.updated', 'email_template.deleted', 'template_secret.created', 'template_secret.updated', 'template_secret.deleted', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.target_refused', 'api_key.created', 'api_key.revoked', 'oauth_app.created', 'oauth_app.updated', 'grant.created', 'grant.revoked', 'grant.code_replayed', 'grant.token_reused', 'staff_member.created', 'staff_member.updated', 'staff_member.deleted');
CREATE INDEX journal_users ON journal (school_id, actor, number) WHERE substr(actor, 1, 5) = 'user:';

-- Requests that failed, for a week, without what was sent.
CREATE TABLE failed_requests (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	failed_request_id INTEGER NOT NULL,
	request_id TEXT NOT NULL,
	at BIGINT NOT NULL,
	method TEXT NOT NULL,
	path TEXT NOT NULL,
	status INTEGER NOT NULL,
	took BIGINT NOT NULL,
	actor TEXT NOT NULL,
	user_id INTEGER,
	message TEXT NOT NULL,
	PRIMARY KEY (school_id, failed_request_id)
);
CREATE INDEX failed_requests_id ON failed_requests (school_id, request_id);
