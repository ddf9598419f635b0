package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type userCommands struct {
	PasswordLink passwordLinkCommand `cmd:"" help:"Create a one-time link to set a password."`
	Disable      userDisableCommand  `cmd:"" help:"Disable a user: they cannot sign in, and no app can act for them."`
	Enable       userEnableCommand   `cmd:"" help:"Enable a user again."`
	DropFactor   dropFactorCommand   `cmd:"" name:"remove-second-factor" help:"Remove the second factor of a user who lost it: app and passkeys."`
	Erase        userEraseCommand    `cmd:"" help:"Erase a person from everything that is stored."`
}

// pagesAt says where people reach the pages that links point to.
type pagesAt struct {
	AuthURL string `help:"Public URL of the server's pages." default:"http://127.0.0.1:8080" placeholder:"https://…"`
}

func (a *pagesAt) valid() error {
	if wrong := pagesAddress("--auth-url", a.AuthURL); wrong != nil {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// passwordLink creates a link for a user and returns its address.
func (a *pagesAt) passwordLink(
	ctx context.Context, p *program, store *sqlstore.Store, by lyceum.By, user lyceum.UserID,
) (string, error) {
	accounts := access.NewAccounts(store, p.clock, access.NewOAuth(store, p.clock), nil)
	link, err := accounts.NewPasswordLink(ctx, by, user)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/secure/%d/identity/set_password/%s", strings.TrimRight(a.AuthURL, "/"), by.School, link), nil
}

type passwordLinkCommand struct {
	oneUser `embed:""`
	pagesAt `embed:""`
}

// Help implements kong's help for the command.
func (passwordLinkCommand) Help() string {
	return "Example: lyceum user password-link --email owner@example.com --auth-url " +
		"https://school.example.com\n\nOnly the link goes to standard output. It works once, within 48 hours, and " +
		"using it ends the user's other links. Anyone who has it can set the password: send it to nobody else."
}

// Run creates the link.
func (c *passwordLinkCommand) Run(p *program) error {
	if err := c.valid(); err != nil {
		return err
	}
	return c.with(p, func(store *sqlstore.Store, by lyceum.By, user lyceum.User) error {
		link, err := c.passwordLink(p.ctx, p, store, by, user.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "A link for %s, which works once, within 48 hours:\n", user.Email)
		return p.give(link, "The link was created, but it is lost: repeat the command to create another")
	})
}
