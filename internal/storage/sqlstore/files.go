package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"modernc.org/sqlite"
)

// lookPause is how long an idle server takes at most to notice that its files
// are gone.
const lookPause = time.Second

// files are the files of a SQLite database as they were opened. An open file stays writable
// after it was unlinked or replaced, and whatever is committed to it then is lost with the
// process. A nil *files has none.
type files struct {
	path   string
	cache  string // a pragma for the cache of a read connection that stays open
	log    *slog.Logger
	opened map[string]os.FileInfo // by path; while it is nil, nothing is missing
	moved  atomic.Bool            // as of the last look
}

// remember records the files at their paths as the open ones. The database must still be the
// file that existed before it was opened.
func (f *files) remember(before os.FileInfo) error {
	opened := map[string]os.FileInfo{}
	for _, path := range [...]string{f.path, f.path + "-wal", f.path + "-shm"} {
		if info, err := os.Stat(path); err == nil {
			opened[path] = info
		}
	}
	if now := opened[f.path]; now == nil || !os.SameFile(now, before) {
		return lyceum.Errorf(lyceum.Unavailable, "the database %s was replaced while it was being opened; try again", f.path)
	}
	f.opened = opened
	return nil
}

// look returns which open files are no longer the ones at their paths, or nil if none. It logs
// once when that begins and once when it ends.
func (f *files) look() *movedError {
	if f == nil {
		return nil
	}
	var gone []string
	for path, info := range f.opened {
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
			gone = append(gone, filepath.Base(path))
		}
	}
	if len(gone) == 0 {
		if f.moved.Swap(false) {
			f.log.Warn("the files of the database are back: changes are accepted again", "database", f.path)
		}
		return nil
	}
	if !f.moved.Swap(true) {
		f.log.Error("files of the open database were moved, deleted or replaced: changes are refused", "database", f.path,
			"files", gone)
	}
	return &movedError{f.path, gone}
}

// movedError has the files that are no longer the open ones.
type movedError struct {
	path string
	gone []string
}

func (e *movedError) Error() string {
	return fmt.Sprintf("%s of the database %s: moved, deleted or replaced", strings.Join(e.gone, ", "), e.path)
}

// public converts the error into one for callers that says what it means for them.
func (e *movedError) public(outcome string) error {
	code := ""
	if outcome == outcomeUnknown {
		code = lyceum.OutcomeUnknown
	}
	return &lyceum.Error{
		Kind: lyceum.Unavailable, Code: code, Err: e,
		Detail: "the files of the database were moved, deleted or replaced under the running server; " +
			outcome + "; stop the server, put the files back or restore a backup, and start it again",
	}
}

// What missing files mean: to everyone, to a change that had not begun, and to one that had.
const (
	outcomeRefused   = "changes are refused"
	outcomeUnchanged = "nothing was changed"
	outcomeUnknown   = "it is unknown whether this change was saved"
)

// present fails with Unavailable if an open file is no longer the one at its path.
func (f *files) present(outcome string) error {
	if moved := f.look(); moved != nil {
		return moved.public(outcome)
	}
	return nil
}

// open returns a pool of connections to the files.
func (f *files) open(dsn string) (*sql.DB, error) {
	to, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	return sql.OpenDB(&connector{to, f}), nil
}

// connector refuses to connect to files that have replaced the open ones, because results
// would come from two databases.
type connector struct {
	driver.Connector

	files *files
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if moved := c.files.look(); moved != nil { // a database that is opened with the log of another one is damaged
		return nil, moved
	}
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if moved := c.files.look(); moved != nil {
		return nil, errors.Join(moved, conn.Close())
	}
	return conn, nil
}
