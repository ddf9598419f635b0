package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// lockName is the file in a data folder that its server locks.
const lockName = "lyceum.lock"

// remains are the files that are left in a folder when its database is taken away.
var remains = map[string]bool{
	sqlstore.FileName + "-wal": true, sqlstore.FileName + "-shm": true, sqlstore.FileName + "-journal": true,
	"index": true, backupsName: true, lockName: true,
}

// supplied are the files that a folder may contain before its database is created.
var supplied = map[string]bool{"lost+found": true, "files": true, secretKeyName: true}

// mayCreate rejects creating a database in a folder that has lost one, because an empty
// database would hide that, and in a folder that is used for something else. A file given by
// another flag may be there, too. If the folder has a database, mayCreate returns nil.
func mayCreate(dir, given string) error {
	if hasDatabase(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // opening the folder reports any error
	}
	var lost, others []string
	for _, e := range entries {
		switch {
		case remains[e.Name()]:
			lost = append(lost, e.Name())
		case e.Name() != sqlstore.FileName && !supplied[e.Name()] && !sameFile(filepath.Join(dir, e.Name()), given):
			others = append(others, e.Name())
		}
	}
	switch {
	case len(lost) > 0:
		return lyceum.Errorf(lyceum.Conflict, "the data folder %s has lost its database: %s is missing or empty, although "+
			"the folder has %s; put it back, or restore a backup with "+
			"lyceum restore FILE --data %s; for a new school choose an empty folder with --data", dir, sqlstore.FileName,
			strings.Join(lost, ", "), dir)
	case len(others) > 0:
		return lyceum.Errorf(lyceum.Conflict, "the folder %s has %s but no database; set --data to the database's "+
			"folder, or to an empty one for a new school",
			dir, few(others))
	}
	return nil
}

// hasDatabase reports whether a folder has a database. An empty file does not count: SQLite
// would start a new one in it, and discard the log alongside.
func hasDatabase(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, sqlstore.FileName))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size() > 0 || !info.Mode().IsRegular()
}

// few lists some names, and how many more there are.
func few(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func sameFile(a, b string) bool {
	of, errA := os.Stat(a)
	with, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(of, with)
}

// lockFolder makes this process the only server of a data folder, whatever path others reach it
// by. Both the lock file and the folder itself are locked, because the file may be deleted. The
// locks end with the process, however it ends.
func lockFolder(dir string) (release func(), err error) {
	path := filepath.Join(dir, lockName)
	_, missing := os.Lstat(path)
	file, err := lockFile(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, lockFailure(dir, err)
	}
	folder, err := lockFile(dir, os.O_RDONLY)
	if err != nil {
		_ = file.Close()
		return nil, lockFailure(dir, err)
	}
	return func() {
		if missing != nil && !hasDatabase(dir) {
			_ = os.Remove(path) // nothing was created here, so the folder stays as it was
		}
		_ = errors.Join(folder.Close(), file.Close())
	}, nil
}

// lockFile opens a file or folder and locks it until it is closed. It fails if another process has
// locked it.
func lockFile(path string, flag int) (*os.File, error) {
	return lockedFile(path, flag, syscall.LOCK_EX|syscall.LOCK_NB)
}

// waitForFile is lockFile, but waits while another process has locked it.
func waitForFile(path string, flag int) (*os.File, error) {
	return lockedFile(path, flag, syscall.LOCK_EX)
}

func lockedFile(path string, flag, how int) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, flag, 0o600)
		if err != nil {
			return nil, err
		}
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(file.Fd()), how)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		opened, err := file.Stat()
		if now, gone := os.Stat(path); err == nil && gone == nil && os.SameFile(opened, now) {
			return file, nil
		}
		if err := errors.Join(err, file.Close()); err != nil { // somebody removed or replaced it meanwhile
			return nil, err
		}
	}
}

// lockPartial makes this process the only one that writes a file, which gets its final name
// when it is complete. What a killed process left behind is overwritten.
func lockPartial(path string) (release func(), err error) {
	lock := path + partialLock
	file, err := lockFile(lock, os.O_CREATE|os.O_RDWR)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, lyceum.Errorf(lyceum.Conflict, "another lyceum process is writing %s; wait until it has ended, or "+
			"choose another name", path)
	}
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return func() { _ = errors.Join(os.Remove(lock), file.Close()) }, nil
}

// partialLock is the suffix of the file that is locked while another one is written.
const partialLock = ".partial-lock"

// nothingPartial fails while a process writes a file in a folder that has no name yet.
func nothingPartial(dir string) error {
	locks, err := fs.Glob(os.DirFS(dir), "*"+partialLock)
	if err != nil {
		return err
	}
	for _, lock := range locks {
		file, err := lockFile(filepath.Join(dir, lock), os.O_RDONLY)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return lyceum.Errorf(lyceum.Conflict, "another lyceum process is writing %s; wait until it has ended",
				filepath.Join(dir, strings.TrimSuffix(lock, partialLock)))
		case err == nil:
			err = file.Close()
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isPartial reports whether a name is that of a file that is being written, or was left behind
// by a killed process.
func isPartial(name string) bool {
	at := strings.LastIndex(name, ".partial")
	return at >= 0 && slices.Contains([]string{"", "-lock", "-journal", "-wal", "-shm"}, name[at+len(".partial"):])
}

func cannotWrite(path string, err error) error {
	return &lyceum.Error{
		Kind: lyceum.Invalid, Err: err,
		Detail: path + " cannot be written; choose a folder that exists, is writable and has free space",
	}
}

func lockFailure(dir string, err error) error {
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return lyceum.Errorf(lyceum.Conflict, "another lyceum process is using the data folder %s; stop it first, or choose "+
			"another folder with --data", dir)
	}
	return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: "the data folder " + dir +
		" cannot be written; make it writable for this user, or choose another folder with --data"}
}

// replaceFile replaces a file atomically, even if others replace it at the same time or the
// power fails.
func replaceFile(file string, text []byte) error {
	partial, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.partial")
	if err != nil {
		return err
	}
	_, err = partial.Write(text)
	if err = errors.Join(err, partial.Sync(), partial.Close()); err == nil {
		err = os.Rename(partial.Name(), file)
	}
	if err != nil {
		_ = os.Remove(partial.Name()) // err says what is wrong
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// syncFolder makes the names in a folder durable: until then, a power cut can undo a rename.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
