-- +goose Up
-- Who is erased when a short time is over, in which that can be undone.
CREATE TABLE planned_erasures (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	due_at bigint NOT NULL,
	actor TEXT NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);

-- The comments of one person.
CREATE INDEX comments_user ON comments (school_id, user_id, comment_id);
