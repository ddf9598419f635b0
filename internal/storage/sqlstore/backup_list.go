package sqlstore

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// BackupsWith looks at the newest backups among paths, at most as many as most, and returns
// those that contain a user who was not erased in them, sorted by path. A backup that cannot
// be read is included, because it may contain the user.
func BackupsWith(
	ctx context.Context, school lyceum.SchoolID, user lyceum.UserID, paths []string, most int,
) ([]lyceum.Backup, error) {
	var all []lyceum.Backup
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, lyceum.Backup{Path: path, LastDay: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b lyceum.Backup) int { return b.LastDay.Compare(a.LastDay) })
	all = all[:min(len(all), most)]
	all = slices.DeleteFunc(all, func(b lyceum.Backup) bool {
		has, err := backupHas(ctx, b.Path, school, user)
		return err == nil && !has
	})
	slices.SortFunc(all, func(a, b lyceum.Backup) int { return strings.Compare(a.Path, b.Path) })
	return all, ctx.Err()
}

// backupHas reports whether a backup, of any version of the schema, contains a user.
func backupHas(ctx context.Context, path string, school lyceum.SchoolID, user lyceum.UserID) (has bool, err error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return false, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM users WHERE school_id = ?1 AND user_id = ?2 AND email <> ?3",
		int64(school), int64(user), lyceum.ErasedEmail(user)).Scan(&has)
	return has, err
}

// ErasedIn returns the users who are erased in a database of any version of the schema, by
// school, also those whose erasure is only in the log of a server that was killed. No program may
// have the database open.
func ErasedIn(ctx context.Context, path string) (erased map[lyceum.SchoolID][]lyceum.UserID, err error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "_pragma=query_only(1)"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT school_id, user_id, email FROM users WHERE email LIKE 'erased-%@invalid' "+
		"ORDER BY school_id, user_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	erased = map[lyceum.SchoolID][]lyceum.UserID{}
	for rows.Next() {
		var school, user int32
		var email string
		if err := rows.Scan(&school, &user, &email); err != nil {
			return nil, err
		}
		if id := lyceum.UserID(user); email == lyceum.ErasedEmail(id) {
			erased[lyceum.SchoolID(school)] = append(erased[lyceum.SchoolID(school)], id)
		}
	}
	return erased, rows.Err()
}
