package main

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// oneUser selects the user that a command is about.
type oneUser struct {
	database `embed:""`
	inSchool `embed:""`
	Email    string `help:"Email address of the user." required:"" placeholder:"ADDRESS"`
}

// with opens the database, finds the user and calls do.
func (c *oneUser) with(p *program, do func(*sqlstore.Store, lyceum.By, lyceum.User) error) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := c.by(p.ctx, store)
	if err != nil {
		return err
	}
	user, err := userWith(p.ctx, store, by, c.Email)
	if err != nil {
		return err
	}
	return do(store, by, user)
}

// change disables or enables the user.
func (c *oneUser) change(
	p *program, do func(*access.Accounts, context.Context, lyceum.By, lyceum.UserID) (lyceum.User, error), said string,
) error {
	return c.with(p, func(store *sqlstore.Store, by lyceum.By, user lyceum.User) error {
		accounts := access.NewAccounts(store, p.clock, access.NewOAuth(store, p.clock), nil)
		user, err := do(accounts, p.ctx, by, user.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "User %d of school %d, %s, %s\n", user.ID, by.School, user.Email, said)
		return nil
	})
}

// userWith finds the user with the address given by --email.
func userWith(ctx context.Context, store lyceum.Store, by lyceum.By, email string) (lyceum.User, error) {
	v := store.In(ctx, by.School)
	user, found, err := v.Users.First(v, lyceum.UserFilter{Email: lyceum.Some(email)})
	if err == nil && !found {
		err = lyceum.Errorf(lyceum.NotFound, "school %d has no user with that --email", by.School)
	}
	return user, err
}

type userDisableCommand struct {
	oneUser `embed:""`
}

// Help implements kong's help for the command.
func (userDisableCommand) Help() string {
	return "Example: lyceum user disable --email ann@example.com\n\nEnds the user's sessions, links and grants to " +
		"apps. A running server refuses the sessions at once, and access tokens within five seconds. Purchases stay. " +
		"The last owner cannot be disabled."
}

// Run disables the user.
func (c *userDisableCommand) Run(p *program) error {
	return c.change(p, (*access.Accounts).SwitchOff, "is disabled.")
}

type userEnableCommand struct {
	oneUser `embed:""`
}

// Help implements kong's help for the command.
func (userEnableCommand) Help() string {
	return "Example: lyceum user enable --email ann@example.com\n\nSessions, links and grants that ended are not restored."
}

// Run enables the user again.
func (c *userEnableCommand) Run(p *program) error {
	return c.change(p, (*access.Accounts).SwitchOn, "is enabled.")
}

type dropFactorCommand struct {
	oneUser `embed:""`
}

// Help implements kong's help for the command.
func (dropFactorCommand) Help() string {
	return "Example: lyceum user remove-second-factor --email ann@example.com\n\nThe user then signs in with only " +
		"a password: the app, all passkeys and the recovery codes are removed. Use it for an owner who lost them."
}

// Run removes the second factor and the recovery codes.
func (c *dropFactorCommand) Run(p *program) error {
	return c.change(p, (*access.Accounts).RemoveSecondFactor, "has no second factor.")
}
