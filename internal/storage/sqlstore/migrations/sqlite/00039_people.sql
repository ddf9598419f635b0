-- +goose Up
-- What version 2 shows, sorts and finds of a user.
ALTER TABLE users ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN phone_number TEXT;
ALTER TABLE users ADD COLUMN marketing INTEGER;
ALTER TABLE users ADD COLUMN notes TEXT;
ALTER TABLE users ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN erased_at INTEGER;
UPDATE users SET name_key = LOWER(COALESCE(name, '')), updated_at = created_at;
CREATE INDEX users_name ON users (school_id, name_key, user_id);
CREATE INDEX users_created ON users (school_id, created_at, user_id);
CREATE INDEX users_updated ON users (school_id, updated_at, user_id);
CREATE INDEX users_signed_in ON users (school_id, COALESCE(last_sign_in_at, 0), user_id);
CREATE INDEX users_roles ON users (school_id, role, user_id) WHERE role <> 'student';
CREATE INDEX users_custom ON users (school_id, user_id) WHERE role NOT IN ('student', 'owner', 'author', 'affiliate');
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'users:' || role, count(*) FROM users WHERE role IN ('student', 'owner', 'author', 'affiliate')
GROUP BY school_id, role;
INSERT INTO counters (school_id, name, value)
SELECT school_id, 'users:custom', count(*) FROM users WHERE role NOT IN ('student', 'owner', 'author', 'affiliate')
GROUP BY school_id;

-- Authors and affiliates are found by who they are.
CREATE INDEX authors_user ON authors (school_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX affiliates_user ON affiliates (school_id, user_id) WHERE user_id IS NOT NULL;
