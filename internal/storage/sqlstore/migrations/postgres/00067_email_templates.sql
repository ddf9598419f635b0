-- +goose Up
-- What schools write in place of the standard emails, and the secrets that their
-- templates sign with.
CREATE TABLE email_templates (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	kind INTEGER NOT NULL,
	subject TEXT NOT NULL,
	body TEXT NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (school_id, kind)
);

CREATE TABLE template_secrets (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	template_secret_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	sealed TEXT NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (school_id, template_secret_id)
);

CREATE UNIQUE INDEX template_secrets_name ON template_secrets (school_id, name);
