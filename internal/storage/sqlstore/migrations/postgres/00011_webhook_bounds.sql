-- +goose Up
-- Messages per minute that a webhook is sent at most; 0 is no limit.
ALTER TABLE webhooks ADD COLUMN rate_limit INTEGER NOT NULL DEFAULT 0;

-- Whether what was answered is kept besides its status.
ALTER TABLE webhook_attempts ADD COLUMN is_kept SMALLINT NOT NULL DEFAULT 1;

-- What counts against the bounds of a webhook: messages of a minute, and bytes of a day's answers.
CREATE TABLE webhook_usage (
	school_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	minute BIGINT NOT NULL DEFAULT 0,
	sent INTEGER NOT NULL DEFAULT 0,
	day BIGINT NOT NULL DEFAULT 0,
	bytes BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, webhook_id),
	FOREIGN KEY (school_id, webhook_id) REFERENCES webhooks (school_id, webhook_id)
);
