-- +goose Up
-- A foreign key looks by a query of its own for what each row refers to, and locks that row: 40 % of
-- importing transactions. These look once for what all rows of a statement refer to. Locks would be
-- of no use: who changes a school holds its turn. The settings keep a plan that was made while a
-- table was empty from reading all of it later.
ALTER TABLE sales DROP CONSTRAINT sales_school_id_fkey;
ALTER TABLE transactions DROP CONSTRAINT transactions_school_id_user_id_fkey,
	DROP CONSTRAINT transactions_school_id_pricing_plan_id_fkey;
ALTER TABLE entitlements DROP CONSTRAINT entitlements_school_id_user_id_fkey,
	DROP CONSTRAINT entitlements_school_id_sale_id_fkey;
ALTER TABLE enrollments DROP CONSTRAINT enrollments_school_id_user_id_fkey,
	DROP CONSTRAINT enrollments_school_id_course_id_fkey;
ALTER TABLE progress DROP CONSTRAINT progress_school_id_user_id_fkey,
	DROP CONSTRAINT progress_school_id_course_id_fkey;
ALTER TABLE lecture_progress DROP CONSTRAINT lecture_progress_school_id_user_id_fkey,
	DROP CONSTRAINT lecture_progress_school_id_lecture_id_fkey;

CREATE FUNCTION sales_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM (SELECT DISTINCT school_id FROM written) w WHERE NOT EXISTS (
			SELECT FROM schools o WHERE o.school_id = w.school_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'a sale refers to a school that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON sales REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION sales_refer();

CREATE FUNCTION transactions_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM users o WHERE o.school_id = w.school_id AND o.user_id = w.user_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'a transaction refers to a user that is not there';
	END IF;
	IF EXISTS (SELECT FROM (SELECT DISTINCT school_id, pricing_plan_id FROM written) w WHERE NOT EXISTS (
			SELECT FROM pricing_plans o WHERE o.school_id = w.school_id AND o.pricing_plan_id = w.pricing_plan_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'a transaction refers to a pricing plan that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON transactions REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION transactions_refer();

CREATE FUNCTION entitlements_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM users o WHERE o.school_id = w.school_id AND o.user_id = w.user_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'an entitlement refers to a user that is not there';
	END IF;
	IF EXISTS (SELECT FROM written w WHERE w.sale_id IS NOT NULL AND NOT EXISTS (
			SELECT FROM sales o WHERE o.school_id = w.school_id AND o.sale_id = w.sale_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'an entitlement refers to a sale that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON entitlements REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION entitlements_refer();

CREATE FUNCTION enrollments_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM users o WHERE o.school_id = w.school_id AND o.user_id = w.user_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'an enrollment refers to a user that is not there';
	END IF;
	IF EXISTS (SELECT FROM (SELECT DISTINCT school_id, course_id FROM written) w WHERE NOT EXISTS (
			SELECT FROM courses o WHERE o.school_id = w.school_id AND o.course_id = w.course_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'an enrollment refers to a course that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON enrollments REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION enrollments_refer();

CREATE FUNCTION progress_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM users o WHERE o.school_id = w.school_id AND o.user_id = w.user_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'progress refers to a user that is not there';
	END IF;
	IF EXISTS (SELECT FROM (SELECT DISTINCT school_id, course_id FROM written) w WHERE NOT EXISTS (
			SELECT FROM courses o WHERE o.school_id = w.school_id AND o.course_id = w.course_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'progress refers to a course that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON progress REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION progress_refer();

CREATE FUNCTION lecture_progress_refer() RETURNS trigger LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM users o WHERE o.school_id = w.school_id AND o.user_id = w.user_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'progress refers to a user that is not there';
	END IF;
	IF EXISTS (SELECT FROM written w WHERE NOT EXISTS (
			SELECT FROM lectures o WHERE o.school_id = w.school_id AND o.lecture_id = w.lecture_id)) THEN
		RAISE foreign_key_violation USING MESSAGE = 'progress refers to a lecture that is not there';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refer AFTER INSERT ON lecture_progress REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT EXECUTE FUNCTION lecture_progress_refer();

-- Few updates change what a row refers to. The arguments are the other table and the column.
CREATE FUNCTION refer_again() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	there boolean;
BEGIN
	EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE school_id = $1 AND %I = $2)', TG_ARGV[0], TG_ARGV[1])
		INTO there USING NEW.school_id, CAST(to_jsonb(NEW) ->> TG_ARGV[1] AS INTEGER);
	IF NOT there THEN
		RAISE foreign_key_violation USING MESSAGE = TG_TABLE_NAME || ' would refer to a row of ' || TG_ARGV[0] || ' that is not there';
	END IF;
	RETURN NULL;
END $$;

-- The arguments are a table that refers to this one, and the column by which it does.
CREATE FUNCTION keep_referred() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	lost boolean;
BEGIN
	EXECUTE format('SELECT EXISTS (SELECT FROM %1$I WHERE school_id = $1 AND %2$I = $2) AND NOT EXISTS ('
		'SELECT FROM %3$I WHERE school_id = $1 AND %2$I = $2)', TG_ARGV[0], TG_ARGV[1], TG_TABLE_NAME)
		INTO lost USING OLD.school_id, CAST(to_jsonb(OLD) ->> TG_ARGV[1] AS INTEGER);
	IF lost THEN
		RAISE foreign_key_violation USING MESSAGE = TG_ARGV[0] || ' refer to this row of ' || TG_TABLE_NAME;
	END IF;
	RETURN NULL;
END $$;

CREATE TRIGGER refer_to_schools AFTER UPDATE OF school_id ON sales FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id) EXECUTE FUNCTION refer_again('schools', 'school_id');
CREATE TRIGGER kept_for_sales AFTER DELETE OR UPDATE OF school_id ON schools FOR EACH ROW
	EXECUTE FUNCTION keep_referred('sales', 'school_id');
CREATE TRIGGER refer_to_users AFTER UPDATE OF school_id, user_id ON transactions FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refer_again('users', 'user_id');
CREATE TRIGGER kept_for_transactions AFTER DELETE OR UPDATE OF school_id, user_id ON users FOR EACH ROW
	EXECUTE FUNCTION keep_referred('transactions', 'user_id');
CREATE TRIGGER refer_to_pricing_plans AFTER UPDATE OF school_id, pricing_plan_id ON transactions FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.pricing_plan_id <> NEW.pricing_plan_id) EXECUTE FUNCTION refer_again('pricing_plans', 'pricing_plan_id');
CREATE TRIGGER kept_for_transactions AFTER DELETE OR UPDATE OF school_id, pricing_plan_id ON pricing_plans FOR EACH ROW
	EXECUTE FUNCTION keep_referred('transactions', 'pricing_plan_id');
CREATE TRIGGER refer_to_users AFTER UPDATE OF school_id, user_id ON entitlements FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refer_again('users', 'user_id');
CREATE TRIGGER kept_for_entitlements AFTER DELETE OR UPDATE OF school_id, user_id ON users FOR EACH ROW
	EXECUTE FUNCTION keep_referred('entitlements', 'user_id');
CREATE TRIGGER refer_to_sales AFTER UPDATE OF school_id, sale_id ON entitlements FOR EACH ROW
	WHEN (NEW.sale_id IS NOT NULL AND (OLD.school_id <> NEW.school_id OR OLD.sale_id IS DISTINCT FROM NEW.sale_id)) EXECUTE FUNCTION refer_again('sales', 'sale_id');
CREATE TRIGGER kept_for_entitlements AFTER DELETE OR UPDATE OF school_id, sale_id ON sales FOR EACH ROW
	EXECUTE FUNCTION keep_referred('entitlements', 'sale_id');
CREATE TRIGGER refer_to_users AFTER UPDATE OF school_id, user_id ON enrollments FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refer_again('users', 'user_id');
CREATE TRIGGER kept_for_enrollments AFTER DELETE OR UPDATE OF school_id, user_id ON users FOR EACH ROW
	EXECUTE FUNCTION keep_referred('enrollments', 'user_id');
CREATE TRIGGER refer_to_courses AFTER UPDATE OF school_id, course_id ON enrollments FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.course_id <> NEW.course_id) EXECUTE FUNCTION refer_again('courses', 'course_id');
CREATE TRIGGER kept_for_enrollments AFTER DELETE OR UPDATE OF school_id, course_id ON courses FOR EACH ROW
	EXECUTE FUNCTION keep_referred('enrollments', 'course_id');
CREATE TRIGGER refer_to_users AFTER UPDATE OF school_id, user_id ON progress FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refer_again('users', 'user_id');
CREATE TRIGGER kept_for_progress AFTER DELETE OR UPDATE OF school_id, user_id ON users FOR EACH ROW
	EXECUTE FUNCTION keep_referred('progress', 'user_id');
CREATE TRIGGER refer_to_courses AFTER UPDATE OF school_id, course_id ON progress FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.course_id <> NEW.course_id) EXECUTE FUNCTION refer_again('courses', 'course_id');
CREATE TRIGGER kept_for_progress AFTER DELETE OR UPDATE OF school_id, course_id ON courses FOR EACH ROW
	EXECUTE FUNCTION keep_referred('progress', 'course_id');
CREATE TRIGGER refer_to_users AFTER UPDATE OF school_id, user_id ON lecture_progress FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refer_again('users', 'user_id');
CREATE TRIGGER kept_for_lecture_progress AFTER DELETE OR UPDATE OF school_id, user_id ON users FOR EACH ROW
	EXECUTE FUNCTION keep_referred('lecture_progress', 'user_id');
CREATE TRIGGER refer_to_lectures AFTER UPDATE OF school_id, lecture_id ON lecture_progress FOR EACH ROW
	WHEN (OLD.school_id <> NEW.school_id OR OLD.lecture_id <> NEW.lecture_id) EXECUTE FUNCTION refer_again('lectures', 'lecture_id');
CREATE TRIGGER kept_for_lecture_progress AFTER DELETE OR UPDATE OF school_id, lecture_id ON lectures FOR EACH ROW
	EXECUTE FUNCTION keep_referred('lecture_progress', 'lecture_id');
