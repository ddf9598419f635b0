-- +goose Up
ALTER TABLE users ADD COLUMN disabled_at BIGINT;

ALTER TABLE oauth_apps ADD COLUMN require_pkce SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE oauth_apps ADD COLUMN rotate_refresh_tokens SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE oauth_apps ADD COLUMN old_secret_hash BYTEA;
ALTER TABLE oauth_apps ADD COLUMN old_secret_until BIGINT;
ALTER TABLE oauth_apps ADD COLUMN last_used_at BIGINT;
ALTER TABLE oauth_apps ADD COLUMN disabled_at BIGINT;
ALTER TABLE oauth_apps ADD COLUMN deleted_at BIGINT;

CREATE TABLE grants (
	school_id INTEGER NOT NULL,
	grant_id INTEGER NOT NULL,
	oauth_app_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	last_used_at BIGINT,
	revoked_at BIGINT,
	PRIMARY KEY (school_id, grant_id),
	FOREIGN KEY (school_id, oauth_app_id) REFERENCES oauth_apps (school_id, oauth_app_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE INDEX grants_user ON grants (school_id, user_id, oauth_app_id);
CREATE INDEX grants_app ON grants (school_id, oauth_app_id);

CREATE TABLE authorization_codes (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	grant_id INTEGER NOT NULL,
	redirect_url TEXT NOT NULL,
	challenge TEXT,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	used_at BIGINT,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
);
CREATE INDEX authorization_codes_expires ON authorization_codes (school_id, expires_at);

CREATE TABLE access_tokens (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	grant_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
);
CREATE INDEX access_tokens_expires ON access_tokens (school_id, expires_at);

CREATE TABLE refresh_tokens (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	grant_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	replaced_at BIGINT,
	replaced_by BYTEA,
	family BIGINT NOT NULL,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
);
CREATE INDEX refresh_tokens_used ON refresh_tokens (school_id, used_at);

CREATE TABLE sessions (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	user_id INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE INDEX sessions_user ON sessions (school_id, user_id);

CREATE TABLE links (
	school_id INTEGER NOT NULL,
	hash BYTEA NOT NULL,
	user_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	used_at BIGINT,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE INDEX refresh_tokens_family ON refresh_tokens (school_id, family);
CREATE INDEX sessions_seen ON sessions (school_id, seen_at);
CREATE INDEX sessions_created ON sessions (school_id, created_at);
CREATE INDEX links_expires ON links (school_id, expires_at);
