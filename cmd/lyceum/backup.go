package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type backupCommand struct {
	database           `embed:""`
	backupFileSettings `embed:""`

	File  string `arg:"" help:"File to write; it must not exist yet."`
	Quick bool   `help:"Do not re-read files that an earlier backup in the same folder has verified."`
}

// Help implements kong's help for the command.
func (backupCommand) Help() string {
	return `Examples:
  lyceum backup /backups/lyceum-2026-11-21.db --data /var/lib/lyceum
  lyceum backup /backups/lyceum-2026-11-21.db --data /var/lib/lyceum --quick

The server may keep running; the copy is consistent as of one moment. It is verified before it gets its name.

Uploaded files go to the folder backup-files next to the backup. All backups in one folder share it: a file that is ` +
		`already there is verified against its SHA-256 and not copied again. Keep this folder next to the backups. ` +
		`lyceum backup-prune removes the files that no backup needs. Use the same --files-url as lyceum serve.`
}

// Run backs up the database and its files.
func (c *backupCommand) Run(p *program) (err error) {
	if err := c.exists(); err != nil {
		return err
	}
	store, err := c.openWith(p, sqlstore.Options{Log: p.log, AnySchema: true})
	if err != nil {
		return err
	}
	defer closing(store, &err)
	from, err := c.store(&c.database)
	if err != nil {
		return err
	}
	release, err := lockPartial(c.File)
	if err != nil {
		return err
	}
	defer release()
	// It is listed before it has data, because somebody may be erased while it is written. If that
	// fails, so does listing it at the end.
	_ = rememberBackup(c.folder(), c.File)
	done, err := c.write(p, store, from)
	if err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	if err := rememberBackup(c.folder(), c.File); err != nil {
		p.log.Warn("the backup is complete but not listed in the data folder; erasing a person will not name it",
			"err", err)
	}
	fmt.Fprintf(p.stdout, "%s is written and verified, %d bytes\n", c.File, info.Size())
	if done.files > 0 {
		fmt.Fprintf(p.stdout, "%s, %d kB, in %s: %d new, %d already there, %d missing\n",
			several(done.files, "uploaded file"), kilobytes(done.bytes),
			filepath.Join(filepath.Dir(c.File), backupFilesName), done.copied, done.files-done.copied-done.wrong, done.wrong)
	}
	return nil
}

// write copies the files and writes the backup.
func (c *backupCommand) write(
	p *program, store *sqlstore.Store, from lyceum.FileStore,
) (done copiedFiles, err error) {
	for again := false; ; again = true {
		err = store.Backup(p.ctx, c.File, func(copied string) (err error) {
			if !c.WithoutFiles && from != nil {
				done, err = c.filesOf(p, copied, from, again)
			}
			return err
		})
		if !errors.Is(err, errSwept) {
			return done, err
		}
	}
}

type restoreCommand struct {
	database           `embed:""`
	backupFileSettings `embed:""`

	File  string `arg:"" optional:"" help:"File written by lyceum backup. Leave it out for a PostgreSQL database that pg_restore has filled."`
	Force bool   `help:"Replace an existing SQLite database."`

	EndAccess bool `help:"End all access by programs: API keys, grants to apps, and client secrets."`
}

// Help implements kong's help for the command.
func (restoreCommand) Help() string {
	return `Examples:
  lyceum restore /backups/lyceum-2026-11-21.db --data /var/lib/lyceum
  lyceum restore --database-url-file /etc/lyceum/restored-url

With a file, the command verifies the backup and puts it in place of the SQLite database. It first upgrades a backup ` +
		`from an older version, unless that would change anybody's access. Uploaded files come from the folder ` +
		`backup-files next to the backup, and each is verified against its SHA-256; files already in place stay. ` +
		`Without a file, the command completes a PostgreSQL database that pg_restore has filled. ` +
		`Either way, it refuses a database that is in use, so stop the server first. It also refuses a database ` +
		`with triggers, views or tables that are not Lyceum's.

Sessions, one-time links and codes end. API keys, apps, grants, passwords and disabled users are restored as they
were in the backup, including those revoked after it was made. The command lists the keys and apps, and
--end-access ends all keys, grants and client secrets. It also names the people who were erased in the replaced SQLite
database and are back: erase them again.`
}

// Run replaces the database with the backup, and ends the sessions, links and access that it
// revives.
func (c *restoreCommand) Run(p *program) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	ending := access.EndStays
	if c.EndAccess {
		ending = access.EndAccess
	}
	var alive []access.Alive
	var back []person
	o := sqlstore.RestoreOptions{Force: c.Force, Now: p.clock(), Progress: p.progress}
	var done copiedFiles
	o.Prepare = func(store *sqlstore.Store) (err error) {
		if address == "" && !c.WithoutFiles {
			if done, err = c.restoreFiles(p); err != nil {
				return err
			}
		}
		if address == "" {
			if back, err = c.unerased(p, store); err != nil {
				return err
			}
		}
		alive, err = access.Restored(p.ctx, store, p.clock(), ending)
		return err
	}
	switch {
	case address == "" && c.File == "":
		return lyceum.Invalidf("name a file written by lyceum backup; or, for a PostgreSQL database that pg_restore has " +
			"filled, use --database-url")
	case address == "":
		err = c.file(p, o)
	case c.File != "" || c.Force || c.WithoutFiles || c.AllowMissing:
		return lyceum.Invalidf("a PostgreSQL database is filled by pg_restore; run lyceum restore after it, without " +
			"a file, --force, --without-files and --allow-missing")
	default:
		err = sqlstore.RestorePostgres(p.ctx, address, o)
	}
	if err != nil {
		return err
	}
	if address == "" {
		if err := rememberBackup(c.Data, c.File); err != nil {
			p.log.Warn("the backup is restored but not listed in the data folder; erasing a person will not name it",
				"err", err)
		}
		fmt.Fprintf(p.stdout, "%s is restored from %s; lyceum check --data %s verifies its data\n",
			filepath.Join(c.Data, sqlstore.FileName), c.File, c.Data)
		if done.files > 0 {
			fmt.Fprintf(p.stdout, "%s, %d kB, in place: %d restored, %d already there, %d missing\n",
				several(done.files, "uploaded file"), kilobytes(done.bytes), done.copied,
				done.files-done.copied-done.wrong, done.wrong)
		}
	} else {
		fmt.Fprintln(p.stdout, "the PostgreSQL database is restored; lyceum check verifies its data")
	}
	c.report(p, alive)
	for i := range back {
		fmt.Fprintf(p.stdout, "user %d of school %d was erased after the backup was made, and is back; erase them again: "+
			"lyceum user erase --school %[2]d --email %[3]s\n", back[i].user, back[i].school, back[i].email)
	}
	return nil
}

// unerased returns the people in the backup who are erased in the database that it replaces.
func (c *restoreCommand) unerased(p *program, store *sqlstore.Store) (back []person, err error) {
	if !hasDatabase(c.Data) {
		return nil, nil
	}
	erased, err := sqlstore.ErasedIn(p.ctx, filepath.Join(c.Data, sqlstore.FileName))
	if err != nil {
		p.log.Warn("the replaced database cannot be read, so people who were erased after the backup was made are not "+
			"named; erase them again", "err", err)
		return nil, p.ctx.Err()
	}
	for _, school := range slices.Sorted(maps.Keys(erased)) {
		v := store.In(p.ctx, school)
		users, err := v.Users.Find(v, erased[school]...)
		if err != nil {
			return nil, err
		}
		for _, id := range erased[school] {
			if user, there := users[id]; there && !user.Erased() {
				back = append(back, person{school, id, user.Email})
			}
		}
	}
	return back, nil
}

// person is a user of one of several schools.
type person struct {
	school lyceum.SchoolID
	user   lyceum.UserID
	email  string
}

// file restores a SQLite database.
func (c *restoreCommand) file(p *program, o sqlstore.RestoreOptions) error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: "the data folder " + c.Data + " cannot be created; choose another one with --data",
			Err: err,
		}
	}
	release, err := lockFolder(c.Data)
	if err != nil {
		return err
	}
	defer release()
	done, err := sqlstore.Restore(p.ctx, c.File, c.Data, o)
	if len(done.Steps) > 0 {
		printSteps(p, &done, err == nil)
		printDiffering(p, &done)
	}
	return err
}

// report prints what now gives people and programs access to the schools.
func (c *restoreCommand) report(p *program, alive []access.Alive) {
	fmt.Fprintln(p.stdout, "sessions, one-time links and codes have ended")
	if c.EndAccess {
		fmt.Fprintln(p.stdout, "API keys, grants and client secrets have ended: create new ones with lyceum apikey "+
			"create and "+
			"lyceum oauth-app rotate")
		return
	}
	if !slices.ContainsFunc(alive, func(a access.Alive) bool { return len(a.Keys)+len(a.Apps) > 0 }) {
		fmt.Fprintln(p.stdout, "no API key and no app is active")
		return
	}
	fmt.Fprintln(p.stdout, "active again, including what was revoked after the backup was made:")
	for _, a := range alive {
		for i := range a.Keys {
			key := &a.Keys[i]
			fmt.Fprintf(p.stdout, "  school %d: API key %d, %s, ends in %s, may %s\n",
				a.School.ID, key.ID, key.Name, key.LastFour, key.Permissions)
		}
		for i := range a.Apps {
			app := &a.Apps[i]
			fmt.Fprintf(p.stdout, "  school %d: OAuth app %d, %s, with %s\n",
				a.School.ID, app.ID, app.Name, several(a.Grants[app.ID], "grant"))
		}
	}
	fmt.Fprintln(p.stdout, "revoke what should not be active, or restore again with --end-access to end all of it")
}
