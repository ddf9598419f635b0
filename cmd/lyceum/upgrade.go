package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type upgradeCommand struct {
	database `embed:""`

	DryRun bool   `help:"Only print what the upgrade would change, and for whom."`
	Backup string `help:"File to write the backup to; it must not exist yet. Required with PostgreSQL; otherwise the default is a file in the data folder." placeholder:"FILE"`
}

// Help implements kong's help for the command.
func (upgradeCommand) Help() string {
	return `Examples:
  lyceum upgrade --data /var/lib/lyceum --dry-run
  lyceum upgrade --data /var/lib/lyceum
  lyceum upgrade --database-url-file /etc/lyceum/database-url --backup /var/backups/lyceum/before-upgrade.dump

Every command except this one and lyceum backup refuses a database with schools that an older lyceum made. ` +
		`The upgrade makes a backup, verifies it, and then changes the database in one transaction: if it fails or is ` +
		`killed, the database is as it was, and the command can be repeated. It refuses a database that is in use, so ` +
		`stop the servers first.

All learners keep their access. The upgrade compares all open enrollments before and after, and changes nothing ` +
		`if one would differ.

A dry run of a SQLite database works on a copy, while the server may run. With PostgreSQL it is a transaction ` +
		`that is rolled back, and nothing else may be connected to the database. The backup of a PostgreSQL database ` +
		`is made by pg_dump, which must be installed.`
}

// Run upgrades the database.
func (c *upgradeCommand) Run(p *program) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	if err := c.exists(); err != nil {
		return err
	}
	o := sqlstore.UpgradeOptions{
		Backup: c.Backup, DryRun: c.DryRun, Now: p.clock(),
		Progress: p.progress,
	}
	var done sqlstore.Upgraded
	switch {
	case c.DryRun && c.Backup != "":
		return lyceum.Invalidf("a dry run makes no backup; leave out --backup or --dry-run")
	case address != "":
		done, err = sqlstore.UpgradePostgres(p.ctx, address, o)
	case c.DryRun:
		done, err = sqlstore.Upgrade(p.ctx, c.Data, o)
	default:
		done, err = c.locked(p, o)
	}
	if done.From != done.To && !done.Empty {
		c.print(p, &done, err == nil)
	}
	switch {
	case err != nil:
		return err
	case done.Empty:
		fmt.Fprintln(p.stdout, "The database has no school, so there is nothing to upgrade. It gets the schema of this "+
			"lyceum when it is opened.")
	case done.From == done.To:
		fmt.Fprintf(p.stdout, "The database has schema version %d, the current one. There is nothing to "+
			"upgrade.\n", done.To)
	case done.Differ > 0:
		return lyceum.Errorf(lyceum.Conflict, "the upgrade would change enrollments; keep the older lyceum, and report this")
	}
	return nil
}

// locked upgrades a data folder while no other process can use it.
func (c *upgradeCommand) locked(p *program, o sqlstore.UpgradeOptions) (sqlstore.Upgraded, error) {
	release, err := lockFolder(c.Data)
	if err != nil {
		return sqlstore.Upgraded{}, err
	}
	defer release()
	u, err := sqlstore.Upgrade(p.ctx, c.Data, o)
	if c.Backup != "" && u.Backup != "" {
		if err := rememberBackup(c.Data, u.Backup); err != nil {
			p.log.Warn("the backup is complete but not listed in the data folder; erasing a person will not name it",
				"err", err)
		}
	}
	return u, err
}

func (c *upgradeCommand) print(p *program, u *sqlstore.Upgraded, worked bool) {
	done := worked && !c.DryRun
	if u.Backup != "" {
		fmt.Fprintf(p.stdout, "The backup %s is written and verified, %d bytes.\n", u.Backup, u.Bytes)
	}
	if len(u.Steps) > 0 {
		printSteps(p, u, done)
	}
	printDiffering(p, u)
	switch {
	case !worked || u.Differ > 0:
	case c.DryRun:
		fmt.Fprintln(p.stdout, "Nobody's access would change. This was a dry run: the database is as it was.")
	default:
		fmt.Fprintln(p.stdout, "Nobody's access changed. lyceum check verifies the data; to go back, restore the backup "+
			"with the older lyceum.")
	}
}

func printSteps(p *program, u *sqlstore.Upgraded, done bool) {
	ran, made := "would run", "would be made"
	if done {
		ran, made = "ran", "were made"
	}
	fmt.Fprintf(p.stdout, "From schema version %d to %d, %s %s:\n", u.From, u.To, several(len(u.Steps), "migration"), ran)
	for i := range u.Steps {
		step := &u.Steps[i]
		var changes []string
		for _, change := range step.Changes {
			if change.Rows > 0 {
				changes = append(changes, fmt.Sprintf("%s in %s", several(change.Rows, "row"), change.Table))
			}
		}
		if len(changes) == 0 {
			changes = []string{"no rows"}
		}
		line := fmt.Sprintf("  %d %s: %s", step.Version, step.Name, strings.Join(changes, ", "))
		if done {
			line += fmt.Sprintf(" (%s)", step.Took.Round(time.Millisecond))
		}
		fmt.Fprintln(p.stdout, line)
	}
	for i := range u.Schools {
		s := &u.Schools[i]
		fmt.Fprintf(p.stdout, "School %d, %s: %s with open enrollments, %d before and %d after.\n",
			s.ID, s.Name, several(s.Learners, "learner"), s.Before, s.After)
		fmt.Fprintf(p.stdout, "  Of these, %d come from sales, %d were imported, and %d were given by hand. "+
			"%s and %s %s.\n", s.Sold, s.Imported, s.After-s.Sold-s.Imported,
			several(s.Entitlements, "entitlement"), several(s.Blocks, "block"), made)
	}
	printRefunded(p, u, done)
}

func printRefunded(p *program, u *sqlstore.Upgraded, done bool) {
	if u.Refunds == 0 {
		return
	}
	changes := "would change"
	if done {
		changes = "changed"
	}
	fmt.Fprintf(p.stdout, "The refunded amount of %s %s:\n", several(u.Refunds, "transaction"), changes)
	for _, r := range u.Refunded {
		fmt.Fprintf(p.stdout, "  school %d: transaction %d, from %s to %s %s\n", r.School, r.Transaction,
			r.Before.Decimal(r.Currency), r.After.Decimal(r.Currency), r.Currency)
	}
	if more := u.Refunds - int64(len(u.Refunded)); more > 0 {
		fmt.Fprintf(p.stdout, "  and %d more\n", more)
	}
}

func printDiffering(p *program, u *sqlstore.Upgraded) {
	if u.Differ == 0 {
		return
	}
	fmt.Fprintf(p.stdout, "%s would differ:\n", several(u.Differ, "enrollment"))
	for _, d := range u.Differing {
		fmt.Fprintf(p.stdout, "  school %d: user %d, %s, in course %d, %s\n", d.School, d.User, d.Email, d.Course, d.Name)
	}
	if more := u.Differ - int64(len(u.Differing)); more > 0 {
		fmt.Fprintf(p.stdout, "  and %d more\n", more)
	}
}

// progress prints what a command is about to do.
func (p *program) progress(what string) { fmt.Fprintln(p.stderr, what) }

// several returns a number with its noun, in the plural if needed.
func several[N int | int32 | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
