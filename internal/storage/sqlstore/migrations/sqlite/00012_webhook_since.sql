-- +goose Up
-- The school's last entry before a webhook was created; it is told of later ones.
ALTER TABLE webhooks ADD COLUMN since INTEGER NOT NULL DEFAULT 0;

-- Whoever was there before this column hears what nobody was told of yet.
UPDATE webhooks SET since = coalesce(
	(SELECT number FROM cursors WHERE cursors.school_id = webhooks.school_id AND cursors.name = 'webhooks'), 0);
