CREATE TABLE schools (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	created_at INTEGER NOT NULL, v2_disabled INTEGER NOT NULL DEFAULT 0, on_refund TEXT NOT NULL DEFAULT 'unenroll', on_chargeback TEXT NOT NULL DEFAULT 'unenroll', on_cancellation TEXT NOT NULL DEFAULT 'at_period_end', abandon_after INTEGER NOT NULL DEFAULT 60, time_zone TEXT NOT NULL DEFAULT 'UTC', on_lapse TEXT NOT NULL DEFAULT 'keep', grace_days INTEGER NOT NULL DEFAULT 15, review_comments INTEGER NOT NULL DEFAULT 0, keep_events INTEGER NOT NULL DEFAULT 0, keep_attempts INTEGER NOT NULL DEFAULT 0, keep_answers INTEGER NOT NULL DEFAULT 2, keep_sessions INTEGER NOT NULL DEFAULT 1, keep_links INTEGER NOT NULL DEFAULT 1, keep_emails INTEGER NOT NULL DEFAULT 30, owners_second_factor INTEGER NOT NULL DEFAULT 0, emails_on INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (school_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE journal (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_id INTEGER NOT NULL, event TEXT, detail TEXT, scarce INTEGER,
	PRIMARY KEY (school_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE api_keys (
	school_id INTEGER NOT NULL,
	api_key_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	permissions INTEGER NOT NULL,
	hash BLOB NOT NULL,
	last_four TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER,
	revoked_at INTEGER, user_id INTEGER,
	PRIMARY KEY (school_id, api_key_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX api_keys_hash ON api_keys (school_id, hash);
CREATE TABLE oauth_apps (
	school_id INTEGER NOT NULL,
	oauth_app_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	version INTEGER NOT NULL,
	redirect_url TEXT NOT NULL,
	client_id TEXT NOT NULL,
	secret_hash BLOB NOT NULL,
	created_at INTEGER NOT NULL, require_pkce INTEGER NOT NULL DEFAULT 0, rotate_refresh_tokens INTEGER NOT NULL DEFAULT 0, old_secret_hash BLOB, old_secret_until INTEGER, last_used_at INTEGER, disabled_at INTEGER, deleted_at INTEGER,
	PRIMARY KEY (school_id, oauth_app_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (school_id, client_id);
CREATE TABLE rate_windows (
	school_id INTEGER NOT NULL,
	start INTEGER NOT NULL,
	used INTEGER NOT NULL,
	PRIMARY KEY (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE users (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	email TEXT NOT NULL,
	email_key TEXT NOT NULL,
	name TEXT,
	role TEXT NOT NULL,
	src TEXT,
	password_hash TEXT,
	created_at INTEGER NOT NULL, disabled_at INTEGER, last_sign_in_at INTEGER, last_sign_in_ip TEXT, must_change_password INTEGER NOT NULL DEFAULT 0, name_key TEXT NOT NULL DEFAULT '', phone_number TEXT, marketing INTEGER, notes TEXT, updated_at INTEGER NOT NULL DEFAULT 0, erased_at INTEGER,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX users_email_key ON users (school_id, email_key);
CREATE TABLE courses (
	school_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	heading TEXT,
	description TEXT,
	is_published INTEGER NOT NULL,
	image_url TEXT,
	created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL DEFAULT 0, author_id INTEGER, is_listed INTEGER NOT NULL DEFAULT 1, lecture_order INTEGER NOT NULL DEFAULT 0, certificate INTEGER, archived_at INTEGER, friendly_url TEXT, videos_required INTEGER, quizzes_required INTEGER, quiz_score REAL, quiz_retakes INTEGER, issues_certificates INTEGER,
	PRIMARY KEY (school_id, course_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE pricing_plans (
	school_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	course_id INTEGER,
	name TEXT NOT NULL,
	price INTEGER NOT NULL,
	currency TEXT NOT NULL,
	frequency TEXT NOT NULL,
	billing_interval TEXT,
	billing_interval_count INTEGER,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL, description TEXT, free_trial_length INTEGER, enrollment_cap INTEGER, access_limit_date INTEGER, access_limit_interval TEXT, access_limit_duration INTEGER, product_type TEXT, product_id INTEGER, num_payments_required INTEGER, is_published INTEGER, position INTEGER, detailed_description TEXT, cc_statement_description TEXT, enrollment_cap_expires_at INTEGER, enrollment_cap_display_priority TEXT, enrollment_cap_visible INTEGER, author_revenue_share REAL, earlier_terms TEXT,
	PRIMARY KEY (school_id, pricing_plan_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pricing_plans_course ON pricing_plans (school_id, course_id, pricing_plan_id);
CREATE TABLE coupons (
	school_id INTEGER NOT NULL,
	coupon_id INTEGER NOT NULL,
	code TEXT, code_key TEXT, name TEXT, discount_percent REAL, discount_amount INTEGER, discount_currency TEXT, duration_kind TEXT, discount_in_months INTEGER, number_available INTEGER, expires_at INTEGER, scope_type TEXT, product_type TEXT, product_id INTEGER, pricing_plan_id INTEGER, cap_visible INTEGER NOT NULL DEFAULT 0, display_priority TEXT, friendly_url TEXT, created_at INTEGER, updated_at INTEGER, archived_at INTEGER,
	PRIMARY KEY (school_id, coupon_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE affiliates (
	school_id INTEGER NOT NULL,
	affiliate_id INTEGER NOT NULL,
	name TEXT, user_id INTEGER, share REAL, cookie_days INTEGER, archived_at INTEGER,
	PRIMARY KEY (school_id, affiliate_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE authors (
	school_id INTEGER NOT NULL,
	author_id INTEGER NOT NULL,
	name TEXT, bio TEXT, profile_image_url TEXT, user_id INTEGER, share REAL, archived_at INTEGER,
	PRIMARY KEY (school_id, author_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE sales (
	school_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL, user_id INTEGER, pricing_plan_id INTEGER, coupon_id INTEGER, affiliate_id INTEGER, author_id INTEGER, final_price INTEGER, currency TEXT, paid_until INTEGER, ended_at INTEGER, end_reason TEXT, released INTEGER NOT NULL DEFAULT 0, replaces INTEGER, replaced_by INTEGER, next_plan_id INTEGER, stopped INTEGER NOT NULL DEFAULT 0, billing_anchor INTEGER, paid_in_full INTEGER NOT NULL DEFAULT 0, stops_at INTEGER, due_at INTEGER, to_stop_at INTEGER, grace_from INTEGER, failed_at INTEGER, billed_since INTEGER, purchased_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0, payment_method TEXT, payment_gateway TEXT,
	PRIMARY KEY (school_id, sale_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE transactions (
	school_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	purchased_at INTEGER NOT NULL,
	charge INTEGER NOT NULL,
	final_price INTEGER NOT NULL,
	currency TEXT NOT NULL,
	tax_charge INTEGER NOT NULL,
	revenue INTEGER NOT NULL,
	paid INTEGER NOT NULL,
	has_chargeback INTEGER,
	chargeback_fee INTEGER,
	affiliate_id INTEGER,
	affiliate_fees INTEGER NOT NULL,
	author_id INTEGER,
	author_fees INTEGER NOT NULL,
	coupon_id INTEGER,
	refunded_at INTEGER,
	amount_refunded INTEGER NOT NULL,
	PRIMARY KEY (school_id, transaction_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
) STRICT;
CREATE INDEX transactions_created ON transactions (school_id, created_at, transaction_id);
CREATE INDEX transactions_refunded ON transactions (school_id, created_at, transaction_id) WHERE amount_refunded > 0 AND amount_refunded >= final_price;
CREATE INDEX transactions_chargeback ON transactions (school_id, created_at, transaction_id) WHERE has_chargeback = 1;
CREATE TABLE grants (
	school_id INTEGER NOT NULL,
	grant_id INTEGER NOT NULL,
	oauth_app_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER,
	revoked_at INTEGER,
	PRIMARY KEY (school_id, grant_id),
	FOREIGN KEY (school_id, oauth_app_id) REFERENCES oauth_apps (school_id, oauth_app_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_user ON grants (school_id, user_id, oauth_app_id);
CREATE INDEX grants_app ON grants (school_id, oauth_app_id);
CREATE TABLE authorization_codes (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	grant_id INTEGER NOT NULL,
	redirect_url TEXT NOT NULL,
	challenge TEXT,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	used_at INTEGER,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX authorization_codes_expires ON authorization_codes (school_id, expires_at);
CREATE TABLE access_tokens (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	grant_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	revoked_at INTEGER,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_tokens_expires ON access_tokens (school_id, expires_at);
CREATE TABLE refresh_tokens (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	grant_id INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	used_at INTEGER NOT NULL,
	replaced_at INTEGER,
	replaced_by BLOB,
	family INTEGER NOT NULL, parent BLOB,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, grant_id) REFERENCES grants (school_id, grant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_used ON refresh_tokens (school_id, used_at);
CREATE TABLE sessions (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	seen_at INTEGER NOT NULL, address TEXT NOT NULL DEFAULT '', browser TEXT NOT NULL DEFAULT '', confirmed_at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (school_id, user_id);
CREATE TABLE links (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	used_at INTEGER, email TEXT, made_by INTEGER,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_family ON refresh_tokens (school_id, family);
CREATE INDEX sessions_seen ON sessions (school_id, seen_at);
CREATE INDEX sessions_created ON sessions (school_id, created_at);
CREATE INDEX links_expires ON links (school_id, expires_at);
CREATE TABLE user_tags (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (school_id, user_id, name),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE lecture_sections (
	school_id INTEGER NOT NULL,
	lecture_section_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	is_published INTEGER NOT NULL,
	position INTEGER NOT NULL, created_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, lecture_section_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lecture_sections_course ON lecture_sections (school_id, course_id, position, lecture_section_id);
CREATE TABLE lectures (
	school_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	lecture_section_id INTEGER NOT NULL,
	name TEXT,
	is_published INTEGER NOT NULL,
	position INTEGER NOT NULL, free_preview INTEGER, student_comments INTEGER, created_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0, archived_at INTEGER,
	PRIMARY KEY (school_id, lecture_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id),
	FOREIGN KEY (school_id, lecture_section_id) REFERENCES lecture_sections (school_id, lecture_section_id)
) STRICT, WITHOUT ROWID;
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
	video_duration INTEGER, is_published INTEGER, embeddable INTEGER, downloadable INTEGER, content_type TEXT, alt_text TEXT, decorative INTEGER, code_syntax TEXT, question TEXT, answer_required INTEGER, upload_enabled INTEGER, img_url TEXT, img_name TEXT, img_alt_text TEXT, created_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0, archived_at INTEGER, instant_feedback INTEGER, duration INTEGER,
	PRIMARY KEY (school_id, attachment_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_lecture ON attachments (school_id, lecture_id, position, attachment_id);
CREATE UNIQUE INDEX attachments_quiz ON attachments (school_id, quiz_id) WHERE quiz_id IS NOT NULL;
CREATE TABLE enrollments (
	school_id INTEGER NOT NULL,
	enrollment_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	enrolled_at INTEGER NOT NULL,
	expires_at INTEGER,
	ended_at INTEGER, sale_id INTEGER,
	PRIMARY KEY (school_id, enrollment_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT;
CREATE UNIQUE INDEX enrollments_open ON enrollments (school_id, user_id, course_id) WHERE ended_at IS NULL;
CREATE INDEX enrollments_course ON enrollments (school_id, course_id, enrolled_at, user_id, expires_at, ended_at) WHERE ended_at IS NULL;
CREATE INDEX enrollments_expires ON enrollments (school_id, course_id, expires_at) WHERE ended_at IS NULL AND expires_at IS NOT NULL;
CREATE TABLE progress (
	school_id INTEGER NOT NULL,
	progress_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	percent_complete INTEGER NOT NULL,
	completed_at INTEGER,
	certificate_issued_at INTEGER,
	certificate_page_id INTEGER,
	certificate_serial_number TEXT,
	PRIMARY KEY (school_id, user_id, course_id),
	UNIQUE (school_id, progress_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX progress_course ON progress (school_id, course_id, user_id);
CREATE TABLE lecture_progress (
	school_id INTEGER NOT NULL,
	lecture_progress_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	completed_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id, course_id, lecture_id),
	UNIQUE (school_id, lecture_progress_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE quiz_responses (
	school_id INTEGER NOT NULL,
	quiz_response_id INTEGER NOT NULL,
	quiz_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	submitted_at INTEGER,
	percent_correct REAL, correct INTEGER, answered INTEGER, total INTEGER, answers TEXT, created_at INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, quiz_response_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quiz_responses_quiz ON quiz_responses (school_id, quiz_id, quiz_response_id);
CREATE INDEX quiz_responses_user ON quiz_responses (school_id, user_id, quiz_id);
CREATE TABLE webhooks (
	school_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	state TEXT NOT NULL,
	url TEXT NOT NULL,
	event_trigger TEXT NOT NULL,
	events_count INTEGER NOT NULL,
	created_at INTEGER NOT NULL, is_live INTEGER NOT NULL DEFAULT 0, as_array INTEGER NOT NULL DEFAULT 0, schedule TEXT NOT NULL DEFAULT '', secret_generation INTEGER NOT NULL DEFAULT 0, old_secret_until INTEGER, failed_at INTEGER, deleted_at INTEGER, secret_key TEXT NOT NULL DEFAULT '', old_secret_key TEXT NOT NULL DEFAULT '', rate_limit INTEGER NOT NULL DEFAULT 0, since INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, webhook_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook_events (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	state TEXT NOT NULL,
	attempt_count INTEGER NOT NULL,
	last_attempted_at INTEGER,
	created_at INTEGER NOT NULL,
	object_type TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	response_status INTEGER, number INTEGER, next_attempt_at INTEGER, tries INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, webhook_event_id),
	FOREIGN KEY (school_id, webhook_id) REFERENCES webhooks (school_id, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_events_webhook ON webhook_events (school_id, webhook_id, created_at, webhook_event_id);
CREATE TABLE charge_references (
	school_id INTEGER NOT NULL,
	reference TEXT NOT NULL,
	transaction_id INTEGER NOT NULL, reference_key TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (school_id, reference),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX charge_references_transaction ON charge_references (school_id, transaction_id);
CREATE TABLE movements (
	school_id INTEGER NOT NULL,
	movement_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	amount INTEGER NOT NULL,
	refunded INTEGER NOT NULL,
	at INTEGER NOT NULL,
	reason TEXT,
	reference TEXT, tax INTEGER NOT NULL DEFAULT 0, tax_refunded INTEGER NOT NULL DEFAULT 0, dispute_id INTEGER, reference_key TEXT,
	PRIMARY KEY (school_id, movement_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX movements_transaction ON movements (school_id, transaction_id, movement_id);
CREATE INDEX movements_sale ON movements (school_id, sale_id, movement_id);
CREATE TABLE orders (
	school_id INTEGER NOT NULL,
	order_id INTEGER NOT NULL,
	email TEXT NOT NULL,
	name TEXT,
	user_id INTEGER,
	pricing_plan_id INTEGER NOT NULL,
	coupon_id INTEGER,
	affiliate_id INTEGER,
	final_price INTEGER NOT NULL,
	currency TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	abandons_at INTEGER NOT NULL,
	closed_at INTEGER,
	sale_id INTEGER, return_url TEXT,
	PRIMARY KEY (school_id, order_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX orders_open ON orders (school_id, abandons_at) WHERE state = 'open';
CREATE TABLE answers (
	school_id INTEGER NOT NULL,
	hash BLOB NOT NULL,
	request BLOB NOT NULL,
	created_at INTEGER NOT NULL,
	body TEXT,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_created ON answers (school_id, created_at);
CREATE TABLE cursors (
	school_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	number INTEGER NOT NULL,
	PRIMARY KEY (school_id, name),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_events_due ON webhook_events (school_id, webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE TABLE comments (
	school_id INTEGER NOT NULL,
	comment_id INTEGER NOT NULL,
	lecture_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	body TEXT NOT NULL,
	created_at INTEGER NOT NULL, course_id INTEGER NOT NULL DEFAULT 0, status TEXT NOT NULL DEFAULT 'approved', above TEXT NOT NULL DEFAULT '', thread_id INTEGER NOT NULL DEFAULT 0, attachments TEXT NOT NULL DEFAULT '[]', updated_at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, comment_id),
	FOREIGN KEY (school_id, lecture_id) REFERENCES lectures (school_id, lecture_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_lecture ON comments (school_id, lecture_id, comment_id);
CREATE INDEX refresh_tokens_parent ON refresh_tokens (school_id, parent) WHERE parent IS NOT NULL;
CREATE INDEX users_owners ON users (school_id, user_id) WHERE role = 'owner';
CREATE TABLE webhook_usage (
	school_id INTEGER NOT NULL,
	webhook_id INTEGER NOT NULL,
	minute INTEGER NOT NULL DEFAULT 0,
	sent INTEGER NOT NULL DEFAULT 0,
	day INTEGER NOT NULL DEFAULT 0,
	bytes INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, webhook_id),
	FOREIGN KEY (school_id, webhook_id) REFERENCES webhooks (school_id, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_standing ON webhooks (school_id, is_live, webhook_id) WHERE deleted_at IS NULL;
CREATE TABLE digital_downloads (
	school_id INTEGER NOT NULL,
	digital_download_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	category TEXT,
	is_published INTEGER NOT NULL,
	is_listed INTEGER NOT NULL,
	image_url TEXT,
	author_id INTEGER,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL, archived_at INTEGER,
	PRIMARY KEY (school_id, digital_download_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, author_id) REFERENCES authors (school_id, author_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX digital_downloads_created ON digital_downloads (school_id, created_at, digital_download_id);
CREATE INDEX pricing_plans_product ON pricing_plans (school_id, product_type, product_id) WHERE product_type IS NOT NULL;
CREATE TABLE entitlements (
	school_id INTEGER NOT NULL,
	entitlement_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	sale_id INTEGER,
	imported INTEGER NOT NULL,
	starts_at INTEGER NOT NULL,
	ends_at INTEGER,
	ended_at INTEGER,
	end_reason TEXT, kept_from INTEGER,
	PRIMARY KEY (school_id, entitlement_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entitlements_user ON entitlements (school_id, user_id, product_type, product_id);
CREATE INDEX entitlements_ends ON entitlements (school_id, ends_at, entitlement_id)
	WHERE ended_at IS NULL AND ends_at IS NOT NULL;
CREATE TABLE blocks (
	school_id INTEGER NOT NULL,
	block_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, block_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX blocks_product ON blocks (school_id, user_id, product_type, product_id);
CREATE TABLE product_collections (
	school_id INTEGER NOT NULL,
	product_collection_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	image_url TEXT,
	is_published INTEGER NOT NULL,
	is_listed INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	archived_at INTEGER,
	PRIMARY KEY (school_id, product_collection_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE collection_products (
	school_id INTEGER NOT NULL,
	collection_product_id INTEGER NOT NULL,
	product_collection_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL, leaving INTEGER, left_at INTEGER, settled INTEGER,
	PRIMARY KEY (school_id, collection_product_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, product_collection_id) REFERENCES product_collections (school_id, product_collection_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX collection_products_once ON collection_products (school_id, product_collection_id, product_type, product_id);
CREATE INDEX collection_products_product ON collection_products (school_id, product_type, product_id);
CREATE TABLE memberships (
	school_id INTEGER NOT NULL,
	membership_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	image_url TEXT,
	is_published INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	archived_at INTEGER,
	PRIMARY KEY (school_id, membership_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE membership_tiers (
	school_id INTEGER NOT NULL,
	membership_tier_id INTEGER NOT NULL,
	membership_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	position INTEGER NOT NULL,
	is_published INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	archived_at INTEGER,
	PRIMARY KEY (school_id, membership_tier_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, membership_id) REFERENCES memberships (school_id, membership_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_tiers_position ON membership_tiers (school_id, membership_id, position, membership_tier_id);
CREATE TABLE tier_products (
	school_id INTEGER NOT NULL,
	tier_product_id INTEGER NOT NULL,
	membership_tier_id INTEGER NOT NULL,
	product_type TEXT NOT NULL,
	product_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL, leaving INTEGER, left_at INTEGER, settled INTEGER,
	PRIMARY KEY (school_id, tier_product_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, membership_tier_id) REFERENCES membership_tiers (school_id, membership_tier_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tier_products_once ON tier_products (school_id, membership_tier_id, product_type, product_id);
CREATE INDEX tier_products_product ON tier_products (school_id, product_type, product_id);
CREATE TABLE coaching (
	school_id INTEGER NOT NULL,
	coaching_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	image_url TEXT,
	is_published INTEGER NOT NULL,
	is_listed INTEGER NOT NULL,
	author_id INTEGER,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	archived_at INTEGER,
	PRIMARY KEY (school_id, coaching_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, author_id) REFERENCES authors (school_id, author_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX coupons_code_key ON coupons (school_id, code_key) WHERE code_key IS NOT NULL;
CREATE TABLE sale_warnings (
	school_id INTEGER NOT NULL,
	sale_warning_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	code TEXT NOT NULL,
	message TEXT NOT NULL,
	created_at INTEGER NOT NULL, dismissed_at INTEGER,
	PRIMARY KEY (school_id, sale_warning_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sale_warnings_sale ON sale_warnings (school_id, sale_id);
CREATE INDEX charge_references_key ON charge_references (school_id, reference_key, transaction_id);
CREATE INDEX movements_reference ON movements (school_id, reference_key, movement_id) WHERE reference_key IS NOT NULL;
CREATE INDEX movements_at ON movements (school_id, at, transaction_id, movement_id);
CREATE TABLE disputes (
	school_id INTEGER NOT NULL,
	dispute_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	tax INTEGER NOT NULL,
	fee INTEGER NOT NULL,
	fee_returned INTEGER NOT NULL,
	state TEXT NOT NULL,
	opened_at INTEGER NOT NULL,
	closed_at INTEGER,
	reason TEXT,
	reference TEXT,
	reference_key TEXT,
	PRIMARY KEY (school_id, dispute_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX disputes_transaction ON disputes (school_id, transaction_id, dispute_id);
CREATE INDEX disputes_sale ON disputes (school_id, sale_id, dispute_id);
CREATE INDEX disputes_reference ON disputes (school_id, reference_key, dispute_id) WHERE reference_key IS NOT NULL;
CREATE INDEX collection_products_unsettled ON collection_products (school_id, collection_product_id) WHERE settled IS NOT NULL;
CREATE INDEX tier_products_unsettled ON tier_products (school_id, tier_product_id) WHERE settled IS NOT NULL;
CREATE TABLE admissions (
	school_id INTEGER NOT NULL,
	admission_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	coaching_id INTEGER NOT NULL,
	sale_id INTEGER,
	admitted_at INTEGER NOT NULL,
	expires_at INTEGER,
	ended_at INTEGER,
	PRIMARY KEY (school_id, admission_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX admissions_once ON admissions (school_id, user_id, coaching_id) WHERE ended_at IS NULL;
CREATE TABLE relinkings (
	school_id INTEGER NOT NULL,
	pricing_plan_id INTEGER NOT NULL,
	after_at INTEGER NOT NULL,
	after_id INTEGER NOT NULL,
	PRIMARY KEY (school_id, pricing_plan_id),
	FOREIGN KEY (school_id, pricing_plan_id) REFERENCES pricing_plans (school_id, pricing_plan_id)
) STRICT, WITHOUT ROWID;
CREATE VIEW reaching AS
SELECT e.school_id, e.entitlement_id, e.user_id, e.product_type, e.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, CAST(NULL AS INTEGER) AS collection_id
FROM entitlements e INDEXED BY entitlements_user
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, i.product_collection_id AS collection_id
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN collection_products i INDEXED BY collection_products_once ON i.school_id = e.school_id AND i.product_collection_id = e.product_id
WHERE e.product_type = 'product_collection' AND (i.leaving IS NULL OR e.entitlement_id <= i.leaving AND NOT EXISTS (
	SELECT 1 FROM entitlements k INDEXED BY entitlements_user WHERE k.school_id = e.school_id AND k.user_id = e.user_id
	AND k.product_type = i.product_type AND k.product_id = i.product_id AND k.kept_from = e.entitlement_id
	AND k.entitlement_id > i.leaving))
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, CAST(NULL AS INTEGER) AS collection_id
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN tier_products i INDEXED BY tier_products_once ON i.school_id = e.school_id AND i.membership_tier_id = e.product_id
WHERE e.product_type = 'membership_tier' AND i.leaving IS NULL
UNION ALL
SELECT e.school_id, e.entitlement_id, e.user_id, i.product_type, i.product_id, e.sale_id, e.imported, e.kept_from, e.starts_at,
	e.ends_at, e.ended_at, e.end_reason, i.product_collection_id AS collection_id
FROM entitlements e INDEXED BY entitlements_user
CROSS JOIN tier_products o INDEXED BY tier_products_once ON o.school_id = e.school_id AND o.membership_tier_id = e.product_id
CROSS JOIN collection_products i INDEXED BY collection_products_once ON i.school_id = o.school_id AND i.product_collection_id = o.product_id
WHERE e.product_type = 'membership_tier' AND o.product_type = 'product_collection' AND o.leaving IS NULL
AND i.leaving IS NULL;
CREATE INDEX entitlements_holders ON entitlements (school_id, product_type, product_id, entitlement_id, user_id)
	WHERE product_type <> 'course';
CREATE TABLE bulk_jobs (
	school_id INTEGER NOT NULL,
	bulk_job_id INTEGER NOT NULL,
	action TEXT NOT NULL,
	product_type TEXT,
	product_id INTEGER,
	ends_at INTEGER,
	tags TEXT NOT NULL,
	state TEXT NOT NULL,
	actor TEXT NOT NULL,
	row_count INTEGER NOT NULL,
	expected_done INTEGER NOT NULL,
	expected_unchanged INTEGER NOT NULL,
	expected_failed INTEGER NOT NULL,
	expected_sales INTEGER NOT NULL,
	losing INTEGER NOT NULL,
	keeping INTEGER NOT NULL,
	gaining INTEGER NOT NULL,
	done INTEGER NOT NULL,
	unchanged INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	sales INTEGER NOT NULL,
	problem TEXT,
	created_at INTEGER NOT NULL,
	started_at INTEGER,
	ended_at INTEGER,
	PRIMARY KEY (school_id, bulk_job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_jobs_active ON bulk_jobs (school_id, bulk_job_id) WHERE state IN ('preparing', 'running');
CREATE TABLE bulk_parts (
	school_id INTEGER NOT NULL,
	bulk_part_id INTEGER NOT NULL,
	bulk_job_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	part_rows TEXT NOT NULL,
	PRIMARY KEY (school_id, bulk_part_id),
	FOREIGN KEY (school_id, bulk_job_id) REFERENCES bulk_jobs (school_id, bulk_job_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX bulk_parts_number ON bulk_parts (school_id, bulk_job_id, number);
CREATE INDEX sales_due ON sales (school_id, due_at, sale_id) WHERE due_at IS NOT NULL;
CREATE INDEX sales_to_stop ON sales (school_id, to_stop_at, sale_id) WHERE to_stop_at IS NOT NULL;
CREATE INDEX sales_grace ON sales (school_id, grace_from, sale_id) WHERE grace_from IS NOT NULL;
CREATE TABLE payment_failures (
	school_id INTEGER NOT NULL,
	payment_failure_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	occurred_at INTEGER NOT NULL,
	reason TEXT,
	next_attempt_at INTEGER,
	reference TEXT,
	reference_key TEXT,
	PRIMARY KEY (school_id, payment_failure_id),
	FOREIGN KEY (school_id, sale_id) REFERENCES sales (school_id, sale_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_failures_sale ON payment_failures (school_id, sale_id, payment_failure_id);
CREATE INDEX payment_failures_reference ON payment_failures (school_id, reference_key, payment_failure_id)
WHERE reference_key IS NOT NULL;
CREATE UNIQUE INDEX courses_friendly_url ON courses (school_id, LOWER(friendly_url)) WHERE friendly_url IS NOT NULL;
CREATE INDEX coupons_plan ON coupons (school_id, pricing_plan_id) WHERE pricing_plan_id IS NOT NULL;
CREATE INDEX coupons_product ON coupons (school_id, product_type, product_id) WHERE product_type IS NOT NULL;
CREATE INDEX coupons_kinds ON coupons (school_id, coupon_id) WHERE scope_type IS NOT NULL;
CREATE INDEX sales_purchased ON sales (school_id, purchased_at, sale_id);
CREATE INDEX entitlements_enrolled ON entitlements (school_id, product_type, product_id, starts_at, entitlement_id,
	user_id, ended_at, ends_at);
CREATE INDEX progress_completed ON progress (school_id, course_id, completed_at, user_id) WHERE completed_at IS NOT NULL;
CREATE INDEX users_name ON users (school_id, name_key, user_id);
CREATE INDEX users_created ON users (school_id, created_at, user_id);
CREATE INDEX users_updated ON users (school_id, updated_at, user_id);
CREATE INDEX users_signed_in ON users (school_id, COALESCE(last_sign_in_at, 0), user_id);
CREATE INDEX users_roles ON users (school_id, role, user_id) WHERE role <> 'student';
CREATE INDEX users_custom ON users (school_id, user_id) WHERE role NOT IN ('student', 'owner', 'author', 'affiliate');
CREATE INDEX authors_user ON authors (school_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX affiliates_user ON affiliates (school_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX comments_lecture_created ON comments (school_id, lecture_id, created_at, comment_id);
CREATE INDEX comments_lecture_updated ON comments (school_id, lecture_id, updated_at, comment_id);
CREATE INDEX comments_lecture_status ON comments (school_id, lecture_id, status, created_at, comment_id);
CREATE INDEX comments_course_created ON comments (school_id, course_id, created_at, comment_id);
CREATE INDEX comments_course_updated ON comments (school_id, course_id, updated_at, comment_id);
CREATE INDEX comments_course_status ON comments (school_id, course_id, status, created_at, comment_id);
CREATE INDEX comments_thread ON comments (school_id, thread_id);
CREATE TABLE erasures (
	school_id INTEGER NOT NULL,
	user_id INTEGER NOT NULL,
	requested_at INTEGER NOT NULL,
	called TEXT NOT NULL,
	passes INTEGER NOT NULL, searched_text INTEGER NOT NULL DEFAULT 0, searched_key TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quiz_responses_submitted ON quiz_responses
	(school_id, user_id, COALESCE(submitted_at, 0), quiz_response_id);
CREATE INDEX quiz_responses_created ON quiz_responses (school_id, user_id, created_at, quiz_response_id);
CREATE INDEX quiz_responses_updated ON quiz_responses (school_id, user_id, updated_at, quiz_response_id);
CREATE TABLE download_attachments (
	school_id INTEGER NOT NULL,
	download_attachment_id INTEGER NOT NULL,
	digital_download_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	url TEXT NOT NULL,
	filename TEXT,
	size_in_bytes INTEGER,
	button_text TEXT,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, download_attachment_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id),
	FOREIGN KEY (school_id, digital_download_id) REFERENCES digital_downloads (school_id, digital_download_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX download_attachments_download ON download_attachments (school_id, digital_download_id, download_attachment_id);
CREATE TABLE uploads (
	school_id INTEGER NOT NULL,
	upload_id INTEGER NOT NULL,
	uuid TEXT NOT NULL,
	target_type TEXT NOT NULL,
	target_id INTEGER NOT NULL,
	purpose TEXT NOT NULL,
	extension TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	received_at INTEGER,
	size_in_bytes INTEGER,
	checksum TEXT,
	stored_as TEXT, duration INTEGER,
	PRIMARY KEY (school_id, upload_id),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX uploads_uuid ON uploads (school_id, uuid);
CREATE INDEX comments_status ON comments (school_id, status, comment_id);
CREATE INDEX courses_created ON courses (school_id, created_at, course_id);
CREATE INDEX courses_updated ON courses (school_id, updated_at, course_id);
CREATE INDEX digital_downloads_updated ON digital_downloads (school_id, updated_at, digital_download_id);
CREATE INDEX product_collections_created ON product_collections (school_id, created_at, product_collection_id);
CREATE INDEX product_collections_updated ON product_collections (school_id, updated_at, product_collection_id);
CREATE TABLE event_payloads (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	event TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	object BLOB NOT NULL,
	PRIMARY KEY (school_id, number),
	FOREIGN KEY (school_id) REFERENCES schools (school_id)
) STRICT;
CREATE TABLE webhook_attempts (
	school_id INTEGER NOT NULL,
	webhook_event_id INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	at INTEGER NOT NULL,
	took INTEGER NOT NULL,
	status INTEGER,
	problem TEXT,
	exchange BLOB NOT NULL,
	is_kept INTEGER NOT NULL,
	PRIMARY KEY (school_id, webhook_event_id, attempt),
	FOREIGN KEY (school_id, webhook_event_id) REFERENCES webhook_events (school_id, webhook_event_id)
) STRICT;
CREATE TABLE recountings (
	school_id INTEGER NOT NULL,
	course_id INTEGER NOT NULL,
	after_user INTEGER NOT NULL, announces INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (school_id, course_id),
	FOREIGN KEY (school_id, course_id) REFERENCES courses (school_id, course_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_events_waiting ON webhook_events (school_id, number) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX uploads_checksum ON uploads (school_id, checksum) WHERE checksum IS NOT NULL;
CREATE TABLE email_templates (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	kind INTEGER NOT NULL,
	subject TEXT NOT NULL,
	body TEXT NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE template_secrets (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	template_secret_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	sealed TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, template_secret_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX template_secrets_name ON template_secrets (school_id, name);
CREATE TABLE staff_members (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	role TEXT NOT NULL,
	updated_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE emails (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	email_id INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	user_id INTEGER,
	address TEXT,
	shown TEXT NOT NULL,
	message_id TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	tries INTEGER NOT NULL,
	next_attempt_at INTEGER,
	closed_at INTEGER,
	problem TEXT, about INTEGER,
	PRIMARY KEY (school_id, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX emails_waiting ON emails (school_id, next_attempt_at, email_id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX emails_users ON emails (school_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX emails_states ON emails (school_id, state, email_id);
CREATE TABLE second_factors (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	sealed TEXT NOT NULL,
	step INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE recovery_codes (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_user ON recovery_codes (school_id, user_id);
CREATE TABLE planned_erasures (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	user_id INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	PRIMARY KEY (school_id, user_id),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_user ON comments (school_id, user_id, comment_id);
CREATE INDEX journal_users ON journal (school_id, actor, number) WHERE substr(actor, 1, 5) = 'user:';
CREATE TABLE failed_requests (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	failed_request_id INTEGER NOT NULL,
	request_id TEXT NOT NULL,
	at INTEGER NOT NULL,
	method TEXT NOT NULL,
	path TEXT NOT NULL,
	status INTEGER NOT NULL,
	took INTEGER NOT NULL,
	actor TEXT NOT NULL,
	user_id INTEGER,
	message TEXT NOT NULL,
	PRIMARY KEY (school_id, failed_request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_requests_id ON failed_requests (school_id, request_id);
CREATE TABLE passkeys (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	hash BLOB NOT NULL,
	user_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	credential TEXT NOT NULL,
	public_key TEXT NOT NULL,
	uses INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER,
	PRIMARY KEY (school_id, hash),
	FOREIGN KEY (school_id, user_id) REFERENCES users (school_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_user ON passkeys (school_id, user_id);
CREATE TABLE sellers (
	school_id INTEGER NOT NULL REFERENCES schools (school_id),
	seller_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	address TEXT NOT NULL,
	tax_number TEXT NOT NULL,
	prefix TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (school_id, seller_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (
	school_id INTEGER NOT NULL,
	receipt_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	movement_id INTEGER,
	user_id INTEGER NOT NULL,
	seller_id INTEGER NOT NULL,
	issued_at INTEGER NOT NULL,
	paid_at INTEGER NOT NULL,
	item TEXT NOT NULL,
	currency TEXT NOT NULL,
	price INTEGER NOT NULL,
	tax INTEGER NOT NULL,
	PRIMARY KEY (school_id, receipt_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id),
	FOREIGN KEY (school_id, seller_id) REFERENCES sellers (school_id, seller_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_transaction ON receipts (school_id, transaction_id, receipt_id);
CREATE INDEX receipts_user ON receipts (school_id, user_id, receipt_id);
CREATE TABLE journal_runs (
	school_id INTEGER NOT NULL,
	last INTEGER NOT NULL,
	number INTEGER NOT NULL,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	type TEXT NOT NULL,
	object_ids BLOB NOT NULL,
	PRIMARY KEY (school_id, last)
) STRICT;
CREATE TABLE delivery_changes (
	school_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	at INTEGER NOT NULL,
	notes BLOB NOT NULL,
	PRIMARY KEY (school_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_scarce ON journal (school_id, type, number) WHERE scarce IS NOT NULL;
CREATE UNIQUE INDEX users_ids ON users (school_id, user_id);
CREATE INDEX transactions_sale ON transactions (school_id, sale_id);
CREATE INDEX transactions_user ON transactions (school_id, created_at / 31536000000000, user_id);
CREATE INDEX enrollments_user ON enrollments (school_id, user_id, course_id, enrolled_at);
CREATE INDEX journal_details ON journal (school_id, event, object_id) WHERE event IS NOT NULL AND detail IS NOT NULL;
