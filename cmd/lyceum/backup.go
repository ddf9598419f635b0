package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type backupCommand struct {
	database `embed:""`
	File     string `arg:"" help:"File to write; it must not exist."`
}

// Help implements kong's help for the command.
func (backupCommand) Help() string {
	return "Example: lyceum backup /backups/lyceum-2026-11-21.db --data /var/lib/lyceum\n\nA server may go on reading and writing; the copy is of one moment. It is verified before it takes its name."
}

// Run backs the database up.
func (c *backupCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	if err := store.Backup(p.ctx, c.File); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is written and verified, %d bytes\n", c.File, info.Size())
	return nil
}

type restoreCommand struct {
	Data  string `help:"Folder of the SQLite database." default:"./lyceum-data" placeholder:"DIR"`
	File  string `arg:"" help:"File that lyceum backup wrote."`
	Force bool   `help:"Replace the database that is there."`
}

// Help implements kong's help for the command.
func (restoreCommand) Help() string {
	return "Example: lyceum restore /backups/lyceum-2026-11-21.db --data /var/lib/lyceum\n\nThe backup is verified first. Stop the server before: a database in use is not replaced."
}

// Run puts the backup in the database's place.
func (c *restoreCommand) Run(p *program) error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the data folder " + c.Data + " cannot be made; give another one with --data", Err: err}
	}
	release, err := lockFolder(c.Data)
	if err != nil {
		return err
	}
	defer release()
	if err := sqlstore.Restore(p.ctx, c.File, c.Data, c.Force); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is restored from %s; lyceum check --data %s verifies its books\n", filepath.Join(c.Data, sqlstore.FileName), c.File, c.Data)
	return nil
}
