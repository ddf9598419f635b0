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

// files are those of a SQLite database as they were opened. An open file stays
// writable after it was unlinked or another one took its name, and whatever is
// committed to it then is lost with the process. A nil *files has none.
type files struct {
	path   string
	cache  string // a pragma: how much a connection that reads and stays open keeps
	log    *slog.Logger
	opened map[string]os.FileInfo // by path; nothing is missed while it is nil
	moved  atomic.Bool            // as of the last look
}

// remember takes the files that are at their paths for those that are open.
// The database must still be the file that was there before it was opened.
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

// look returns which open files are not those at their paths, or nil. It logs
// once that there are some, and once that there are none any more.
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

// movedError says which files are not those that are open.
type movedError struct {
	path string
	gone []string
}

func (e *movedError) Error() string {
	return fmt.Sprintf("%s of the database %s: moved, deleted or replaced", strings.Join(e.gone, ", "), e.path)
}

// public puts the error into words for a caller, with what it means for them.
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

// What it means that the files are gone: for everybody, for a change that was
// not begun, and for one that was.
const (
	outcomeRefused   = "changes are refused"
	outcomeUnchanged = "nothing was changed"
	outcomeUnknown   = "it is unknown whether this change was saved"
)

// present fails with Unavailable when an open file is not the one at its path.
func (f *files) present(outcome string) error {
	if moved := f.look(); moved != nil {
		return moved.public(outcome)
	}
	return nil
}

// open makes a pool of connections to the files.
func (f *files) open(dsn string) (*sql.DB, error) {
	to, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	return sql.OpenDB(&connector{to, f}), nil
}

// connector opens no connection to files that have taken the place of the open
// ones: answers would come from one database and from the other.
type connector struct {
	driver.Connector

	files *files
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if moved := c.files.look(); moved != nil { // opened with another one's log, a database is damaged
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
