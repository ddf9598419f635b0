-- +goose Up
ALTER TABLE schools ADD COLUMN v2_disabled SMALLINT NOT NULL DEFAULT 0;

ALTER TABLE users ADD COLUMN last_sign_in_at BIGINT;
ALTER TABLE users ADD COLUMN last_sign_in_ip TEXT;

ALTER TABLE courses ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE courses ADD COLUMN author_id INTEGER;
ALTER TABLE courses ADD COLUMN is_listed SMALLINT NOT NULL DEFAULT 1;
ALTER TABLE courses ADD COLUMN lecture_order SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE courses ADD COLUMN certificate INTEGER;
UPDATE courses SET updated_at = created_at;

ALTER TABLE pricing_plans ADD COLUMN description TEXT;
ALTER TABLE pricing_plans ADD COLUMN free_trial_length INTEGER;
ALTER TABLE pricing_plans ADD COLUMN enrollment_cap INTEGER;
ALTER TABLE pricing_plans ADD COLUMN access_limit_date BIGINT;
ALTER TABLE pricing_plans ADD COLUMN access_limit_interval TEXT;
ALTER TABLE pricing_plans ADD COLUMN access_limit_duration INTEGER;

ALTER TABLE authors ADD COLUMN bio TEXT;
ALTER TABLE authors ADD COLUMN profile_image_url TEXT;
ALTER TABLE authors ADD COLUMN user_id INTEGER;

CREATE TABLE user_tags (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (school_id, user_id, name),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);

CREATE TABLE lecture_sections (
	school_id INTEGER NOT NULL,
	lecture_section_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	is_published SMALLINT NOT NULL,
	position INTEGER NOT NULL,
	PRIMARY KEY (school_id, lecture_section_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
);
CREATE INDEX lecture_sections_course ON lecture_sections (school_id, course_id, position, lecture_section_id);

CREATE TABLE lectures (
	school_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	lecture_section_id INTEGER NOT NULL,
	name TEXT,
	is_published SMALLINT NOT NULL,
	position INTEGER NOT NULL,
	PRIMARY KEY (school_id, lecture_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id),
	FOREIGN KEY (school_id, lecture_section_id) REFERENCES lecture_sections (school_id, lecture_section_id)
);
CREATE INDEX lectures_course ON lectures (school_id, course_id, lecture_id);

CREATE TABLE attachments (
	school_id INTEGER NOT NULL,
	attachment_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	name TEXT,
	kind TEXT NOT NULL,
	url TEXT,
	text TEXT,
	position INTEGER,
	file_size INTEGER,
	file_extension TEXT,
	quiz_id INTEGER,
	questions TEXT,
	video_url TEXT,
	video_content_type TEXT,
	video_status TEXT,
	video_thumbnail TEXT,
	video_duration INTEGER,
	PRIMARY KEY (school_id, attachment_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id)
);
CREATE INDEX attachments_lecture ON attachments (school_id, lecture_id, position, attachment_id);
CREATE UNIQUE INDEX attachments_quiz ON attachments (school_id, quiz_id) WHERE quiz_id IS NOT NULL;

CREATE TABLE enrollments (
	school_id INTEGER NOT NULL,
	enrollment_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	enrolled_at BIGINT NOT NULL,
	expires_at BIGINT,
	ended_at BIGINT,
	PRIMARY KEY (school_id, enrollment_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
);
CREATE UNIQUE INDEX enrollments_open ON enrollments (school_id, user_id, course_id) WHERE ended_at IS NULL;
CREATE INDEX enrollments_user ON enrollments (school_id, user_id, enrollment_id);
CREATE INDEX enrollments_course ON enrollments (school_id, course_id, enrolled_at, user_id, expires_at, ended_at) WHERE ended_at IS NULL;
CREATE INDEX enrollments_expires ON enrollments (school_id, course_id, expires_at) WHERE ended_at IS NULL AND expires_at IS NOT NULL;

CREATE TABLE progress (
	school_id INTEGER NOT NULL,
	progress_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	percent_complete INTEGER NOT NULL,
	completed_at BIGINT,
	certificate_issued_at BIGINT,
	certificate_page_id INTEGER,
	certificate_serial_number TEXT,
	PRIMARY KEY (school_id, user_id, course_id),
	UNIQUE (school_id, progress_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
);
CREATE INDEX progress_course ON progress (school_id, course_id, user_id);

CREATE TABLE lecture_progress (
	school_id INTEGER NOT NULL,
	lecture_progress_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	completed_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, user_id, course_id, lecture_id),
	UNIQUE (school_id, lecture_progress_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id)
);

CREATE TABLE quiz_responses (
	school_id INTEGER NOT NULL,
	quiz_response_id INTEGER NOT NULL,
	quiz_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	submitted_at BIGINT,
	percent_correct DOUBLE PRECISION,
	PRIMARY KEY (school_id, quiz_response_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
);
CREATE INDEX quiz_responses_quiz ON quiz_responses (school_id, quiz_id, quiz_response_id);
CREATE INDEX quiz_responses_user ON quiz_responses (school_id, user_id, quiz_id);

CREATE TABLE webhooks (
	school_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	state TEXT NOT NULL,
	url TEXT NOT NULL,
	event_trigger TEXT NOT NULL,
	events_count INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (school_id, webhook_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
);

CREATE TABLE webhook_events (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	state TEXT NOT NULL,
	attempt_count INTEGER NOT NULL,
	last_attempted_at BIGINT,
	created_at BIGINT NOT NULL,
	object_type TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	response_status INTEGER,
	PRIMARY KEY (school_id, webhook_event_id),
	FOREIGN KEY (school_id, webhook_id) REFERENCES webhooks (school_id, webhook_id)
);
CREATE INDEX webhook_events_webhook ON webhook_events (school_id, webhook_id, created_at, webhook_event_id);

INSERT INTO counters (school_id, name, value) SELECT school_id, 'users', count(*) FROM users GROUP BY school_id;
