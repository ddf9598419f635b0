package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"golang.org/x/sync/errgroup"
)

// backupFilesName is the folder next to backups that contains the files of all of them, each
// once, named by its SHA-256.
const backupFilesName = "backup-files"

const (
	copiesAtOnce = 4
	mostNamed    = 100  // the most files that messages name
	mostAlike    = 1000 // the most files with the same content of which one is looked for
)

// backupFileSettings are the settings of backups and restores that concern files.
type backupFileSettings struct {
	fileSettings `embed:""`

	WithoutFiles bool `help:"Leave out uploaded files." xor:"which-files"`
	AllowMissing bool `help:"Continue without files that are missing or were changed." xor:"which-files"`
}

// backedUpAs returns the name of a file in the folder of backed-up files.
func backedUpAs(f *sqlstore.KnownFile) lyceum.FileName {
	sum := hex.EncodeToString(f.SHA256[:])
	return lyceum.FileName(sum[:2] + "/" + sum)
}

// fileCopies copies files that a database refers to.
type fileCopies struct {
	p        *program
	what     string // for the progress display
	each     func(context.Context, func(*sqlstore.KnownFile) error) error
	names    func(*sqlstore.KnownFile) (from, to lyceum.FileName)
	once     bool // of consecutive files with the same content, only one is copied
	transfer files.Transfer
	where    string // where they are copied to

	mu     sync.Mutex
	bar    *progress
	read   int64
	wrong  []string // at most mostNamed
	result copiedFiles
}

// ofBackup returns a function that visits the files that a backup refers to.
func ofBackup(path string) func(context.Context, func(*sqlstore.KnownFile) error) error {
	return func(ctx context.Context, visit func(*sqlstore.KnownFile) error) error {
		return sqlstore.FilesIn(ctx, path, visit)
	}
}

// copiedFiles counts the files to copy.
type copiedFiles struct {
	files, bytes  int64
	copied, wrong int64 // of the files
}

// known returns the total size of the files in bytes.
func (c *fileCopies) known() (bytes int64, err error) {
	err = c.each(c.p.ctx, func(f *sqlstore.KnownFile) error { bytes += f.Size; return nil })
	return bytes, err
}

// run copies the files; known is their total size in bytes.
func (c *fileCopies) run(known int64) (copiedFiles, error) {
	c.bar = newProgress(c.p, c.what, known>>20, "MiB")
	defer c.bar.finish()
	c.transfer.Read = c.came
	group, ctx := errgroup.WithContext(c.p.ctx)
	group.SetLimit(copiesAtOnce)
	var same []sqlstore.KnownFile
	next := func() {
		if these := same; len(these) > 0 {
			group.Go(func() error { return c.oneOf(ctx, these) })
		}
		same = nil
	}
	err := c.each(ctx, func(f *sqlstore.KnownFile) error {
		if len(same) == mostAlike || len(same) > 0 && (!c.once || f.SHA256 != same[0].SHA256) {
			next()
		}
		same = append(same, *f)
		return ctx.Err()
	})
	next()
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if errors.Is(err, files.ErrNotWritten) {
		err = notWritten(c.where, err)
	}
	return c.result, err
}

func notWritten(where string, err error) error {
	return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: "files cannot be written to " + where +
		"; free some space there or make it writable, then repeat the command to continue"}
}

// came counts bytes that were read.
func (c *fileCopies) came(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read += bytes
	c.bar.set(c.read >> 20)
}

// oneOf copies the first of some files with the same content that is neither missing nor changed.
func (c *fileCopies) oneOf(ctx context.Context, same []sqlstore.KnownFile) error {
	var copied bool
	var wrong string
	for i := range same {
		var err error
		var odd string
		if copied, odd, err = c.one(ctx, &same[i]); err != nil {
			return err
		}
		if odd == "" {
			c.came(int64(len(same)-1-i) * same[i].Size)
			wrong = ""
			break
		}
		wrong = cmp.Or(wrong, odd)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.files++
	c.result.bytes += same[0].Size
	if copied {
		c.result.copied++
	}
	if wrong == "" {
		return nil
	}
	if c.result.wrong++; len(c.wrong) < mostNamed {
		c.wrong = append(c.wrong, wrong)
	}
	return nil
}

// one copies a file. wrong says that it is missing or was changed.
func (c *fileCopies) one(ctx context.Context, f *sqlstore.KnownFile) (copied bool, wrong string, err error) {
	want := f.FileSum
	from, to := c.names(f)
	want.Name = to
	copied, err = c.transfer.Copy(ctx, from, &want)
	if err == nil || errors.Is(err, files.ErrNotWritten) {
		return copied, "", err
	}
	switch lyceum.KindOf(err) { //nolint:exhaustive // the others are not about this file
	case lyceum.NotFound:
		wrong = "is missing"
	case lyceum.Conflict:
		wrong = "was changed"
	default:
		return false, "", err
	}
	return false, fmt.Sprintf("school %d: the file of upload %d %s: %s", f.School, f.Upload, wrong, from), nil
}

// reportWrong prints the files that are missing or were changed.
func (c *fileCopies) reportWrong() {
	for _, wrong := range c.wrong {
		fmt.Fprintln(c.p.stderr, wrong)
	}
	if more := c.result.wrong - int64(len(c.wrong)); more > 0 {
		fmt.Fprintf(c.p.stderr, "and %d more\n", more)
	}
}

// complain fails if files are missing or were changed, unless that is allowed.
func (c *fileCopies) complain(allowed bool, remedy string) error {
	c.reportWrong()
	if c.result.wrong == 0 || allowed {
		return nil
	}
	return lyceum.Errorf(lyceum.Conflict, "%s missing or changed; %s, or continue without them with "+
		"--allow-missing", several(c.result.wrong, "file"), remedy)
}

// errSwept ends a backup of a database that refers to files that may have been swept since.
var errSwept = errors.New("files were swept while they were copied")

// filesOf backs up the files of a copy of the database. The first time, it fails with errSwept
// if files that the copy refers to are missing. A second copy of the database no longer refers
// to files that were swept in the meantime, and files that were added in the meantime are not
// swept for a day.
func (c *backupCommand) filesOf(
	p *program, copied string, from lyceum.FileStore, again bool,
) (done copiedFiles, err error) {
	folder := filepath.Join(filepath.Dir(c.File), backupFilesName)
	copies := &fileCopies{
		p: p, what: "backing up files", each: ofBackup(copied), once: true, where: folder,
		names:    func(f *sqlstore.KnownFile) (from, to lyceum.FileName) { return f.Name, backedUpAs(f) },
		transfer: files.Transfer{From: from, To: files.NewFolder(folder), Trust: c.Quick || again},
	}
	known, err := copies.known()
	if err != nil || known == 0 {
		return done, err
	}
	release, err := lockBackupFiles(folder)
	if err != nil {
		return done, err
	}
	defer release()
	if done, err = copies.run(known); err != nil {
		return done, err
	}
	if done.wrong > 0 && !again {
		return done, errSwept
	}
	return done, copies.complain(c.AllowMissing, "put copies in their place, use --files-url if lyceum serve does")
}

// lockBackupFiles makes this process the only one that writes to the folder of backed-up files.
func lockBackupFiles(folder string) (release func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: folder + " cannot be created; choose a folder that is " +
			"writable", Err: err}
	}
	held, err := lockFile(folder, os.O_RDONLY)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, lyceum.Errorf(lyceum.Conflict, "another lyceum process is writing to %s; wait until it has ended", folder)
	}
	if err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: folder + " cannot be read; make it readable", Err: err}
	}
	return func() { _ = held.Close() }, nil
}

// restoreFiles copies the files of a backup to where the server looks for them.
func (c *restoreCommand) restoreFiles(p *program) (done copiedFiles, err error) {
	to, err := c.store(&c.database)
	if err != nil || to == nil {
		return done, err
	}
	from := filepath.Join(filepath.Dir(c.File), backupFilesName)
	copies := &fileCopies{
		p: p, what: "restoring files", each: ofBackup(c.File), where: "the place of uploaded files",
		names:    func(f *sqlstore.KnownFile) (from, to lyceum.FileName) { return backedUpAs(f), f.Name },
		transfer: files.Transfer{From: files.NewFolder(from), To: to},
	}
	known, err := copies.known()
	if err != nil || known == 0 {
		return done, err
	}
	if done, err = copies.run(known); err != nil {
		return done, err
	}
	return done, copies.complain(c.AllowMissing, "put a copy of the folder "+backupFilesName+" next to the backup")
}
