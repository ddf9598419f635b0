-- +goose Up
-- What is archived cannot be sold; whoever has access to it keeps it.
ALTER TABLE courses ADD COLUMN archived_at INTEGER;
ALTER TABLE digital_downloads ADD COLUMN archived_at INTEGER;

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
	created_at INTEGER NOT NULL,
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
	created_at INTEGER NOT NULL,
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
