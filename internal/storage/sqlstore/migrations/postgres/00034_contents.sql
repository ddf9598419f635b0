-- +goose Up
-- When sections, lectures and attachments were made. Those from before are as old
-- as their course.
ALTER TABLE lecture_sections ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lecture_sections ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE lecture_sections SET created_at = (SELECT c.created_at FROM courses c
	WHERE c.school_id = lecture_sections.school_id AND c.course_id = lecture_sections.course_id);
UPDATE lecture_sections SET updated_at = created_at;

ALTER TABLE lectures ADD COLUMN free_preview SMALLINT;
ALTER TABLE lectures ADD COLUMN student_comments SMALLINT;
ALTER TABLE lectures ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lectures ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lectures ADD COLUMN archived_at BIGINT;
UPDATE lectures SET created_at = (SELECT c.created_at FROM courses c
	WHERE c.school_id = lectures.school_id AND c.course_id = lectures.course_id);
UPDATE lectures SET updated_at = created_at;

ALTER TABLE attachments ADD COLUMN is_published SMALLINT;
ALTER TABLE attachments ADD COLUMN embeddable SMALLINT;
ALTER TABLE attachments ADD COLUMN downloadable SMALLINT;
ALTER TABLE attachments ADD COLUMN content_type TEXT;
ALTER TABLE attachments ADD COLUMN alt_text TEXT;
ALTER TABLE attachments ADD COLUMN decorative SMALLINT;
ALTER TABLE attachments ADD COLUMN code_syntax TEXT;
ALTER TABLE attachments ADD COLUMN question TEXT;
ALTER TABLE attachments ADD COLUMN answer_required SMALLINT;
ALTER TABLE attachments ADD COLUMN upload_enabled SMALLINT;
ALTER TABLE attachments ADD COLUMN img_url TEXT;
ALTER TABLE attachments ADD COLUMN img_name TEXT;
ALTER TABLE attachments ADD COLUMN img_alt_text TEXT;
ALTER TABLE attachments ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attachments ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attachments ADD COLUMN archived_at BIGINT;
UPDATE attachments SET created_at = (SELECT l.created_at FROM lectures l
	WHERE l.school_id = attachments.school_id AND l.lecture_id = attachments.lecture_id);
UPDATE attachments SET updated_at = created_at;

-- The last part of the address of a course's page.
ALTER TABLE courses ADD COLUMN friendly_url TEXT;
CREATE UNIQUE INDEX courses_friendly_url ON courses (school_id, LOWER(friendly_url)) WHERE friendly_url IS NOT NULL;
