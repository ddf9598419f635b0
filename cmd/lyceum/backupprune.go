package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type backupPruneCommand struct {
	Folder string `arg:"" help:"Folder of the backups."`
	DryRun bool   `help:"Only show how much would be removed."`
}

// Help implements kong's help for the command.
func (backupPruneCommand) Help() string {
	return `Examples:
  lyceum backup-prune /backups --dry-run
  lyceum backup-prune /backups

Removes uploaded files that no backup in a folder needs, such as those of backups that you deleted. The files are ` +
		`in the folder backup-files, next to the backups. It removes nothing if the folder of backups has a file that is ` +
		`not a backup, because that could be a backup that it cannot read, such as a compressed one.`
}

// Run removes the files that no backup needs.
func (c *backupPruneCommand) Run(p *program) error {
	folder := filepath.Join(c.Folder, backupFilesName)
	_, missing := os.Stat(folder) // it is missing if no backup has files
	if missing == nil {
		release, err := lockBackupFiles(folder)
		if err != nil {
			return err
		}
		defer release()
	}
	if err := nothingPartial(c.Folder); err != nil { // a backup copies its files before it has a name
		return err
	}
	needed, backups, err := c.needed(p)
	if err != nil {
		return err
	}
	if backups == 0 {
		return c.noBackup(folder, missing)
	}
	kept := files.NewFolder(folder)
	var unneeded, bytes int64
	err = kept.Each(p.ctx, "", func(f lyceum.StoredFile) error {
		if sum, is := backedUpSum(f.Name); !is || needed[sum] {
			return p.ctx.Err()
		}
		unneeded, bytes = unneeded+1, bytes+f.Size
		if c.DryRun {
			return p.ctx.Err()
		}
		return errors.Join(kept.Remove(p.ctx, f.Name), p.ctx.Err())
	})
	if err != nil {
		return err
	}
	if c.DryRun {
		fmt.Fprintf(p.stdout, "%s of %d kB that none of %s needs; nothing was removed (--dry-run)\n",
			several(unneeded, "file"), kilobytes(bytes), several(backups, "backup"))
		return nil
	}
	if err := kept.RemoveParts(); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "removed %s of %d kB that none of %s needs\n", several(unneeded, "file"), kilobytes(bytes),
		several(backups, "backup"))
	return nil
}

// needed returns the SHA-256 of the files that the backups in the folder refer to.
func (c *backupPruneCommand) needed(p *program) (needed map[[32]byte]bool, backups int, err error) {
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		return nil, 0, &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: c.Folder + " cannot be read; make it readable", Err: err,
		}
	}
	needed = map[[32]byte]bool{}
	for _, e := range entries {
		if e.IsDir() || isPartial(e.Name()) && e.Type() == fs.FileMode(0) {
			continue
		}
		err := sqlstore.FilesIn(p.ctx, filepath.Join(c.Folder, e.Name()), func(f *sqlstore.KnownFile) error {
			needed[f.SHA256] = true
			return nil
		})
		if lyceum.KindOf(err) == lyceum.Invalid {
			return nil, 0, &lyceum.Error{Kind: lyceum.Conflict, Err: err, Detail: e.Name() + " in " + c.Folder +
				" is not a backup that can be read, so nothing was removed; move it to another folder, or delete it"}
		}
		if err != nil {
			return nil, 0, err
		}
		backups++
	}
	return needed, backups, nil
}

// noBackup returns the error for a folder without backups.
func (c *backupPruneCommand) noBackup(folder string, missing error) error {
	if missing != nil {
		return &lyceum.Error{Kind: lyceum.NotFound, Err: missing, Detail: "there is no folder " + folder +
			"; name the folder that lyceum backup wrote backups to"}
	}
	return lyceum.Errorf(lyceum.Conflict, "%s has no backup, so nothing was removed; if you want to remove the "+
		"files of all backups, delete %s", c.Folder, folder)
}

// backedUpSum is the inverse of backedUpAs.
func backedUpSum(name lyceum.FileName) (sum [32]byte, is bool) {
	_, text, _ := strings.Cut(string(name), "/")
	n, err := hex.Decode(sum[:], []byte(text)[:min(len(text), 2*len(sum))])
	return sum, err == nil && n == len(sum)
}
