-- +goose Up
-- A transaction that has itself read what its rows refer to says so, and spares the triggers the
-- work: a tenth of what a sale takes.
DROP TRIGGER refer ON sales;
CREATE TRIGGER refer AFTER INSERT ON sales REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION sales_refer();
DROP TRIGGER refer ON transactions;
CREATE TRIGGER refer AFTER INSERT ON transactions REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION transactions_refer();
DROP TRIGGER refer ON entitlements;
CREATE TRIGGER refer AFTER INSERT ON entitlements REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION entitlements_refer();
DROP TRIGGER refer ON enrollments;
CREATE TRIGGER refer AFTER INSERT ON enrollments REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION enrollments_refer();
DROP TRIGGER refer ON progress;
CREATE TRIGGER refer AFTER INSERT ON progress REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION progress_refer();
DROP TRIGGER refer ON lecture_progress;
CREATE TRIGGER refer AFTER INSERT ON lecture_progress REFERENCING NEW TABLE AS written
	FOR EACH STATEMENT WHEN (current_setting('lyceum.referred', true) IS DISTINCT FROM 'yes') EXECUTE FUNCTION lecture_progress_refer();
