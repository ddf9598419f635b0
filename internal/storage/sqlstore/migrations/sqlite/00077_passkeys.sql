-- +goose Up
-- Keys that people sign in with after their password or in place of it.
CREATE TABLE passkeys (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	credential TEXT NOT NULL,
	public_key TEXT NOT NULL,
	uses INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_user ON passkeys (school_id, user_id);

-- The audit log finds the entries of passkeys like those of other second factors.
DROP INDEX journal_scarce;
CREATE INDEX journal_scarce ON journal (school_id, type, number) WHERE type IN ('user.signed_in', 'user.sign_in_failed', 'user.sign_in_locked', 'school.sign_ins_refused', 'user.signed_out', 'user.session_ended', 'user.link_created', 'user.second_factor_set', 'user.second_factor_removed', 'user.recovery_code_used', 'user.recovery_codes_made', 'user.passkey_added', 'user.passkey_removed', 'school.created', 'school.updated', 'school.restored', 'school.upgraded', 'email_template.updated', 'email_template.deleted', 'template_secret.created', 'template_secret.updated', 'template_secret.deleted', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.target_refused', 'api_key.created', 'api_key.revoked', 'oauth_app.created', 'oauth_app.updated', 'grant.created', 'grant.revoked', 'grant.code_replayed', 'grant.token_reused', 'staff_member.created', 'staff_member.updated', 'staff_member.deleted');
