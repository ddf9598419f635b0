-- +goose Up
-- The secret keys that a webhook's secrets are made of; '' is the oldest key.
ALTER TABLE webhooks ADD COLUMN secret_key TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN old_secret_key TEXT NOT NULL DEFAULT '';

-- What its owner recognises a session by.
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';

-- The refresh token that this one replaced, so that its siblings are found.
ALTER TABLE refresh_tokens ADD COLUMN parent BYTEA;
CREATE INDEX refresh_tokens_parent ON refresh_tokens (school_id, parent) WHERE parent IS NOT NULL;

-- A spent code is remembered as long as the tokens it gave can live: a year.
UPDATE authorization_codes SET expires_at = used_at + 31536000000000 WHERE used_at IS NOT NULL;
