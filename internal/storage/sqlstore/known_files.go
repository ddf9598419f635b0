package sqlstore

import (
	"context"
	"database/sql"

	"github.com/lyceum-school/lyceum"
)

// KnownFile is a file that a database records as complete.
type KnownFile struct {
	School lyceum.SchoolID
	Upload lyceum.UploadID
	lyceum.FileSum
}

const knownFiles = `SELECT school_id, upload_id, stored_as, size_in_bytes, checksum FROM uploads
	WHERE received_at IS NOT NULL ORDER BY checksum, school_id, upload_id`

// FilesIn calls visit with the files that a SQLite backup, of any version of the schema,
// records as complete, ordered by their SHA-256. It fails with Invalid for a file that is not
// a backup.
func FilesIn(ctx context.Context, path string, visit func(*KnownFile) error) error {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer db.Close()
	var schools, tables int
	err = db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM schools), count(*) FROM sqlite_master "+
		"WHERE type = 'table' AND name = 'uploads'").Scan(&schools, &tables)
	if err != nil {
		return &lyceum.Error{Kind: lyceum.Invalid, Detail: path + " is not a backup made by lyceum", Err: err}
	}
	if tables == 0 {
		return nil
	}
	rows, err := db.QueryContext(ctx, knownFiles)
	if err != nil {
		return sqliteDialect().public(err)
	}
	defer rows.Close()
	for rows.Next() {
		var f KnownFile
		var checksum string
		if err := rows.Scan(&f.School, &f.Upload, &f.Name, &f.Size, &checksum); err != nil {
			return sqliteDialect().public(err)
		}
		f.SHA256, _ = lyceum.ParseChecksum(checksum) // a checksum that is invalid becomes zero, which no file has
		if err := visit(&f); err != nil {
			return err
		}
	}
	return sqliteDialect().public(rows.Err())
}
