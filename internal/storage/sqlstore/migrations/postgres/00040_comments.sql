-- +goose Up
-- Comments have a status and replies. Those from before were seen by everybody, at
-- the top of a thread.
ALTER TABLE comments ADD COLUMN course_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE comments ADD COLUMN status TEXT NOT NULL DEFAULT 'approved';
ALTER TABLE comments ADD COLUMN above TEXT NOT NULL DEFAULT '';
ALTER TABLE comments ADD COLUMN thread_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE comments ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
ALTER TABLE comments ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE comments SET thread_id = comment_id, updated_at = created_at,
	course_id = (SELECT l.course_id FROM lectures l WHERE l.school_id = comments.school_id AND l.lecture_id = comments.lecture_id);
CREATE INDEX comments_lecture_created ON comments (school_id, lecture_id, created_at, comment_id);
CREATE INDEX comments_lecture_updated ON comments (school_id, lecture_id, updated_at, comment_id);
CREATE INDEX comments_lecture_status ON comments (school_id, lecture_id, status, created_at, comment_id);
CREATE INDEX comments_course_created ON comments (school_id, course_id, created_at, comment_id);
CREATE INDEX comments_course_updated ON comments (school_id, course_id, updated_at, comment_id);
CREATE INDEX comments_course_status ON comments (school_id, course_id, status, created_at, comment_id);
CREATE INDEX comments_thread ON comments (school_id, thread_id);

-- Whether what learners write waits for the school to approve it.
ALTER TABLE schools ADD COLUMN review_comments SMALLINT NOT NULL DEFAULT 0;
