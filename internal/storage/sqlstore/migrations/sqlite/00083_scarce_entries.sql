-- +goose Up
-- Scarce entries are marked when they are made: to compare each entry with the list of their
-- types took longer than to write it.
ALTER TABLE journal ADD COLUMN scarce INTEGER;
UPDATE journal INDEXED BY journal_scarce SET scarce = 1 WHERE type IN ('user.signed_in', 'user.sign_in_failed', 'user.sign_in_locked', 'school.sign_ins_refused', 'user.signed_out', 'user.session_ended', 'user.link_created', 'user.second_factor_set', 'user.second_factor_removed', 'user.recovery_code_used', 'user.recovery_codes_made', 'user.passkey_added', 'user.passkey_removed', 'school.created', 'school.updated', 'school.restored', 'school.upgraded', 'email_template.updated', 'email_template.deleted', 'template_secret.created', 'template_secret.updated', 'template_secret.deleted', 'webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated', 'webhook.target_refused', 'api_key.created', 'api_key.revoked', 'oauth_app.created', 'oauth_app.updated', 'grant.created', 'grant.revoked', 'grant.code_replayed', 'grant.token_reused', 'staff_member.created', 'staff_member.updated', 'staff_member.deleted');
DROP INDEX journal_scarce;
CREATE INDEX journal_scarce ON journal (school_id, type, number) WHERE scarce IS NOT NULL;
