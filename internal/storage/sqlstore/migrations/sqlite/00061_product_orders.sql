-- +goose Up
-- What lists of products are sorted by.
CREATE INDEX IF NOT EXISTS courses_created ON courses (school_id, created_at, course_id);
CREATE INDEX IF NOT EXISTS courses_updated ON courses (school_id, updated_at, course_id);
CREATE INDEX IF NOT EXISTS digital_downloads_updated ON digital_downloads (school_id, updated_at, digital_download_id);
CREATE INDEX IF NOT EXISTS product_collections_created ON product_collections (school_id, created_at, product_collection_id);
CREATE INDEX IF NOT EXISTS product_collections_updated ON product_collections (school_id, updated_at, product_collection_id);
