package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type userEraseCommand struct {
	oneUser `embed:""`
	Yes     bool `help:"Do not ask for confirmation."`
}

// Help implements kong's help for the command.
func (userEraseCommand) Help() string {
	return "Example: lyceum user erase --email ann@example.com\n\nErases the person permanently: name, addresses, " +
		"password, notes, tags, sessions, and the text of what they wrote. Sales and totals stay, without a name. " +
		"Owners, and people with an active subscription, cannot be erased. The command shows what would happen and " +
		"asks for confirmation; --yes skips the question."
}

// Run erases the person, and what is left of them in files, unless a server does the latter.
func (c *userEraseCommand) Run(p *program) error {
	return c.with(p, func(store *sqlstore.Store, by lyceum.By, user lyceum.User) error {
		lessons, users := learning.New(store, p.clock), people.New(store, p.clock)
		accounts := access.NewAccounts(store, p.clock, access.NewOAuth(store, p.clock), nil)
		doors := people.Doors{
			Left: accounts.EndedAccess, Close: lessons.Close, Backups: backupsIn(c.folder()),
		}
		if !c.Yes {
			of := func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error) { return []lyceum.UserID{user.ID}, nil, nil }
			out, err := lessons.Preview(p.ctx, by, lyceum.Page{Number: 1, Size: 1}, of, func(tx lyceum.Tx, now time.Time) error {
				_, err := users.EraseFrom(tx, now, user.ID, doors)
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "User %d of school %d, %s, will be permanently erased and lose access to %s.\n",
				user.ID, by.School, user.Email, several(out.Changes.Total, "product"))
			if err := p.agreed(); err != nil {
				return err
			}
		}
		erased, err := users.Erase(p.ctx, by, user.ID, doors)
		if err != nil {
			return err
		}
		done, err := c.finish(p.ctx, store, users)
		if err != nil {
			return err
		}
		left := "Only what the person bought remains."
		if !done {
			left = "The server completes the erasure within a minute, or when it next runs."
		}
		fmt.Fprintf(p.stdout, "User %d of school %d is erased. %s\n", user.ID, by.School, left)
		if doors.Backups == nil {
			fmt.Fprintln(p.stdout, "Earlier PostgreSQL dumps still contain the person; Lyceum does not know where they are.")
		}
		for _, b := range erased.Backups {
			fmt.Fprintf(p.stdout, "The backup %s still contains the person; its last day is %s.\n", b.Path,
				b.LastDay.UTC().Format(time.DateOnly))
			if b.Files != "" {
				fmt.Fprintf(p.stdout, "Its uploaded files are in %s; after you delete the backup, lyceum backup-prune %s "+
					"removes those that no other backup needs.\n", b.Files, filepath.Dir(b.Files))
			}
		}
		return nil
	})
}

// finish erases what was being written in the meantime, and cleans the files. It reports false
// if a server will do that.
func (c *userEraseCommand) finish(
	ctx context.Context, store *sqlstore.Store, users *people.Service,
) (done bool, err error) {
	if _, err := os.Stat(filepath.Join(c.Data, statesFolder)); c.folder() != "" && err == nil {
		return false, nil // a sandbox also erases the person from its snapshots
	}
	release, err := c.lock("")
	if lyceum.KindOf(err) == lyceum.Conflict {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer release()
	holder := rand.Text()
	if held, err := store.HoldLease(ctx, lyceum.SchedulerLease, holder, time.Minute); err != nil || !held {
		return false, err
	}
	defer func() {
		_, _ = store.HoldLease(context.WithoutCancel(ctx), lyceum.SchedulerLease, holder, 0) // on failure it expires
	}()
	return users.EraseAll(ctx)
}
