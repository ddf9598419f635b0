package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// backupsName is the file in a data folder that lists the backups made of it, one path per
// line.
const backupsName = "backups"

// mostBackups is how many backups are searched, newest first.
const mostBackups = 100

// partialSuffix is the suffix of a backup that is being written, or was left behind by a killed
// process.
const partialSuffix = ".partial"

// rememberBackup adds a backup, which need not exist yet, to the list in a data folder, and removes
// those that no longer exist. It waits for other processes that do the same.
func rememberBackup(dir, backup string) error {
	if dir == "" {
		return nil
	}
	backup, err := filepath.Abs(backup)
	if err != nil {
		return err
	}
	list := filepath.Join(dir, backupsName)
	locked, err := waitForFile(list, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return err
	}
	defer locked.Close()
	known, err := rememberedBackups(dir)
	if err != nil {
		return err
	}
	var text []byte
	for _, path := range known {
		_, failed := os.Stat(path)
		if errors.Is(failed, fs.ErrNotExist) {
			_, failed = os.Stat(path + partialSuffix)
		}
		if path != backup && !errors.Is(failed, fs.ErrNotExist) {
			text = append(text, path+"\n"...)
		}
	}
	return replaceFile(list, append(text, backup+"\n"...))
}

func rememberedBackups(dir string) (paths []string, err error) {
	list, err := os.Open(filepath.Join(dir, backupsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if !slices.Contains(paths, lines.Text()) {
			paths = append(paths, lines.Text())
		}
	}
	return paths, lines.Err()
}

// copiesIn are the names of copies of the database in its own folder: backups, and what a killed
// process may have left behind.
var copiesIn = []string{"*.db", "*.db" + partialSuffix, "lyceum-dry-run-*" + partialSuffix + "/*.db"}

// backupsIn returns a function that finds the backups of a data folder that contain a user:
// those in the folder, and those that lyceum backup wrote, or is writing, elsewhere. Backups of
// PostgreSQL are not known.
func backupsIn(dir string) func(context.Context, lyceum.SchoolID, lyceum.UserID) ([]lyceum.Backup, error) {
	if dir == "" {
		return nil
	}
	return func(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]lyceum.Backup, error) {
		paths, err := rememberedBackups(dir)
		if err != nil {
			return nil, err
		}
		whole, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			paths = append(paths, path+partialSuffix)
		}
		for _, names := range copiesIn {
			within, err := fs.Glob(os.DirFS(whole), names)
			if err != nil {
				return nil, err
			}
			for _, name := range within {
				path := filepath.Join(whole, name)
				if path != filepath.Join(whole, sqlstore.FileName) && !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
		found, err := sqlstore.BackupsWith(ctx, school, user, paths, mostBackups)
		for i := range found {
			folder := filepath.Join(filepath.Dir(found[i].Path), backupFilesName)
			if _, err := os.Stat(folder); err == nil {
				found[i].Files = folder
			}
		}
		return found, err
	}
}
