-- +goose Up
-- Courses whose lectures changed, until the progress of all their learners is
-- counted again.
CREATE TABLE recountings (
	school_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	after_user INTEGER NOT NULL,
	PRIMARY KEY (school_id, course_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
