package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type backupCommand struct {
	database `embed:""`
	File     string `arg:"" help:"File to write; it must not exist."`
}

// Help implements kong's help for the command.
func (backupCommand) Help() string {
	return "Example: lyceum backup /backups/lyceum-2026-11-21.db --data /var/lib/lyceum\n\nA server may go on reading " +
		"and writing; the copy is of one moment. It is verified before it takes its name."
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

	EndAccess bool `help:"End all that lets programs in: API keys, what apps were granted, and their client secrets."`
}

// Help implements kong's help for the command.
func (restoreCommand) Help() string {
	return "Example: lyceum restore /backups/lyceum-2026-11-21.db --data /var/lib/lyceum\n\n" +
		"The backup is verified first. Stop the server before: a database in use is not replaced.\n\n" +
		"Sessions, one-time links and codes end. API keys, apps and grants are as they were in the backup, also those that " +
		"were ended after it; they are listed, and --end-access ends them all. So are passwords and who is switched off."
}

// Run puts the backup in the database's place.
func (c *restoreCommand) Run(p *program) error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: "the data folder " + c.Data + " cannot be made; give another one with --data",
			Err: err,
		}
	}
	release, err := lockFolder(c.Data)
	if err != nil {
		return err
	}
	defer release()
	ending := access.EndStays
	if c.EndAccess {
		ending = access.EndAccess
	}
	var alive []access.Alive
	err = sqlstore.Restore(p.ctx, c.File, c.Data, c.Force, func(store *sqlstore.Store) (err error) {
		alive, err = access.Restored(p.ctx, store, p.clock(), ending)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is restored from %s; lyceum check --data %s verifies its books\n",
		filepath.Join(c.Data, sqlstore.FileName), c.File, c.Data)
	c.tell(p, alive)
	return nil
}

// tell says what lets people and programs into the schools now.
func (c *restoreCommand) tell(p *program, alive []access.Alive) {
	fmt.Fprintln(p.stdout, "sessions, one-time links and codes have ended")
	if c.EndAccess {
		fmt.Fprintln(p.stdout, "API keys, grants and client secrets have ended: make new ones with lyceum apikey create and "+
			"lyceum oauth-app rotate")
		return
	}
	fmt.Fprintln(p.stdout, "alive again is what the backup holds, also what was ended after it:")
	for _, a := range alive {
		for i := range a.Keys {
			key := &a.Keys[i]
			fmt.Fprintf(p.stdout, "  school %d: API key %d, %s, ends in %s, may %s\n",
				a.School.ID, key.ID, key.Name, key.LastFour, key.Permissions)
		}
		for i := range a.Apps {
			app := &a.Apps[i]
			fmt.Fprintf(p.stdout, "  school %d: OAuth app %d, %s, with %d grants\n",
				a.School.ID, app.ID, app.Name, a.Grants[app.ID])
		}
	}
	fmt.Fprintln(p.stdout, "end what must not be, or restore again with --end-access, which ends all of it")
}
