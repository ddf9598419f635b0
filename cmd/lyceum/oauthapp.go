package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type oauthAppCommands struct {
	Create  oauthAppCreateCommand  `cmd:"" help:"Register an app and print its credentials; the secret cannot be shown again."`
	List    oauthAppListCommand    `cmd:"" help:"List the apps, without their secrets."`
	Change  oauthAppChangeCommand  `cmd:"" help:"Change an app's name, Redirect URL or security settings."`
	Rotate  oauthAppRotateCommand  `cmd:"" help:"Create a new client secret; the old one keeps working for a while."`
	Disable oauthAppDisableCommand `cmd:"" help:"Disable an app and all its tokens."`
	Enable  oauthAppEnableCommand  `cmd:"" help:"Enable an app again."`
	Delete  oauthAppDeleteCommand  `cmd:"" help:"Delete an app and all its grants."`
}

const serverSees = "\n\nA running server applies the change within five seconds."

// withApps opens the database and runs an action on the school's apps.
func withApps(p *program, d *database, s *inSchool, act func(*access.Apps, lyceum.By) error) (err error) {
	store, err := d.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := s.by(p.ctx, store)
	if err != nil {
		return err
	}
	return act(appsOf(p, store), by)
}

func appsOf(p *program, store *sqlstore.Store) *access.Apps {
	return access.NewApps(store, p.clock, access.NewOAuth(store, p.clock), false)
}

type oauthAppCreateCommand struct {
	database            `embed:""`
	inSchool            `embed:""`
	Name                string `help:"Name that learners see." required:"" placeholder:"NAME"`
	RedirectURL         string `help:"Redirect URL; must begin with https://." required:"" placeholder:"https://…"`
	Interface           int    `help:"Version of the API the app is for: 1 or 2." default:"1" placeholder:"N"`
	RequirePKCE         bool   `help:"Refuse authorization requests without a code challenge."`
	RotateRefreshTokens bool   `help:"Issue a new refresh token at each use."`
}

// Help implements kong's help for the command.
func (oauthAppCreateCommand) Help() string {
	return "Example: lyceum oauth-app create --name Ledger --redirect-url https://app.example.com/callback " +
		"--interface 2\n\nOnly the credentials go to standard output, one per line after their names." + serverSees
}

// Run registers the app.
func (c *oauthAppCreateCommand) Run(p *program) error {
	return withApps(p, &c.database, &c.inSchool, func(apps *access.Apps, by lyceum.By) error {
		app, secret, err := apps.Register(p.ctx, by, access.AppForm{
			Name: c.Name, RedirectURL: c.RedirectURL, Version: lyceum.InterfaceVersion(c.Interface),
			RequirePKCE: c.RequirePKCE, RotateRefreshTokens: c.RotateRefreshTokens,
		})
		if err != nil {
			return asFlags(err)
		}
		fmt.Fprintf(p.stderr, "OAuth app %d of school %d, %s, is registered for version %d. Its secret is shown only "+
			"this once:\n", app.ID, by.School, app.Name, app.Version)
		return p.give("client_id "+app.ClientID+"\nclient_secret "+secret, "OAuth app %d was registered, but its "+
			"secret is lost: create another with lyceum oauth-app rotate %[1]d --school %d --keep 0s", app.ID, by.School)
	})
}

// asFlags renames the fields of a form's errors to the flags of the command.
func asFlags(err error) error {
	e := lyceum.Public(err)
	if len(e.Fields) == 0 {
		return err
	}
	named := make([]lyceum.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		switch named[i] = f; f.Field {
		case "version":
			named[i].Field = "--interface"
		case "abandon_after_minutes":
			named[i] = lyceum.FieldError{
				Field:   "--abandon-after",
				Message: "must be whole minutes from 1m to 2160h, which is 90 days, such as 90m or 1h30m",
			}
		default:
			named[i].Field = "--" + strings.ReplaceAll(f.Field, "_", "-")
		}
	}
	return lyceum.InvalidFields(named...)
}

type oauthAppListCommand struct {
	database `embed:""`
	inSchool `embed:""`
}

// Help implements kong's help for the command.
func (oauthAppListCommand) Help() string { return "Example: lyceum oauth-app list --school 1" }

// Run prints the apps as a table.
func (c *oauthAppListCommand) Run(p *program) error {
	return withApps(p, &c.database, &c.inSchool, func(apps *access.Apps, by lyceum.By) error {
		list, err := apps.List(p.ctx, by)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
		fmt.Fprintln(table, "APP\tINTERFACE\tCREATED\tLAST USED\tDISABLED\tPKCE\tROTATION\tCLIENT ID\tREDIRECT URL\tNAME")
		for i := range list {
			a := &list[i]
			pkce := "optional"
			if a.RequirePKCE {
				pkce = "required"
			}
			fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				a.ID, a.Version, shownTime(a.CreatedAt), shownOpt(a.LastUsedAt), shownOpt(a.DisabledAt),
				pkce, onOff(a.RotateRefreshTokens), a.ClientID, a.RedirectURL, a.Name)
		}
		return table.Flush()
	})
}

type oauthAppChangeCommand struct {
	database            `embed:""`
	inSchool            `embed:""`
	App                 lyceum.OAuthAppID `arg:"" help:"Number of the app, as oauth-app list shows it."`
	Name                *string           `help:"Name that learners see." placeholder:"NAME"`
	RedirectURL         *string           `help:"Redirect URL." placeholder:"https://…"`
	RequirePKCE         *bool             `help:"Refuse authorization requests without a code challenge." negatable:""`
	RotateRefreshTokens *bool             `help:"Issue a new refresh token at each use." negatable:""`
}

// Help implements kong's help for the command.
func (oauthAppChangeCommand) Help() string {
	return "Example: lyceum oauth-app change 3 --redirect-url https://new.example.com/callback " +
		"--require-pkce\n\nSettings that are not given stay as they are. Codes issued for the old Redirect URL " +
		"fail." + serverSees
}

// Run changes the app.
func (c *oauthAppChangeCommand) Run(p *program) error {
	if c.Name == nil && c.RedirectURL == nil && c.RequirePKCE == nil && c.RotateRefreshTokens == nil {
		return lyceum.Invalidf("nothing to change: set --name, --redirect-url, --require-pkce or --rotate-refresh-tokens")
	}
	return withApps(p, &c.database, &c.inSchool, func(apps *access.Apps, by lyceum.By) error {
		app, err := apps.Get(p.ctx, by, c.App)
		if err != nil {
			return err
		}
		form := access.AppForm{
			Name: app.Name, RedirectURL: app.RedirectURL, RequirePKCE: app.RequirePKCE,
			RotateRefreshTokens: app.RotateRefreshTokens,
		}
		if c.Name != nil {
			form.Name = *c.Name
		}
		if c.RedirectURL != nil {
			form.RedirectURL = *c.RedirectURL
		}
		if c.RequirePKCE != nil {
			form.RequirePKCE = *c.RequirePKCE
		}
		if c.RotateRefreshTokens != nil {
			form.RotateRefreshTokens = *c.RotateRefreshTokens
		}
		if app, err = apps.Change(p.ctx, by, c.App, form); err != nil {
			return asFlags(err)
		}
		fmt.Fprintf(p.stdout, "OAuth app %d of school %d, %s, is changed.\n", app.ID, by.School, app.Name)
		return nil
	})
}

type oauthAppRotateCommand struct {
	database `embed:""`
	inSchool `embed:""`
	App      lyceum.OAuthAppID `arg:"" help:"Number of the app, as oauth-app list shows it."`
	Keep     time.Duration     `help:"How long the old secret keeps working, from 0s to 720h." default:"24h"`
}

// Help implements kong's help for the command.
func (oauthAppRotateCommand) Help() string {
	return "Example: lyceum oauth-app rotate 3 --keep 48h\n\nOnly the new secret goes to standard output." + serverSees
}

// Run creates a new secret for the app.
func (c *oauthAppRotateCommand) Run(p *program) error {
	return withApps(p, &c.database, &c.inSchool, func(apps *access.Apps, by lyceum.By) error {
		app, secret, err := apps.Rotate(p.ctx, by, c.App, c.Keep)
		if err != nil {
			return asFlags(err)
		}
		until := "no longer works"
		if app.OldSecretUntil.Present {
			until = "keeps working until " + shownTime(app.OldSecretUntil.Value)
		}
		fmt.Fprintf(p.stderr, "The old secret of OAuth app %d, %s, %s. The new secret is shown only this once:\n",
			app.ID, app.Name, until)
		return p.give(secret, "OAuth app %d has a new secret, but it is lost: create another with "+
			"lyceum oauth-app rotate %[1]d --school %d", app.ID, by.School)
	})
}

type oauthAppDisableCommand struct {
	database `embed:""`
	inSchool `embed:""`
	App      lyceum.OAuthAppID `arg:"" help:"Number of the app, as oauth-app list shows it."`
}

// Help implements kong's help for the command.
func (oauthAppDisableCommand) Help() string {
	return "Example: lyceum oauth-app disable 3" + serverSees
}

// Run disables the app.
func (c *oauthAppDisableCommand) Run(p *program) error {
	return switchApp(p, &c.database, &c.inSchool, c.App, true)
}

type oauthAppEnableCommand struct {
	database `embed:""`
	inSchool `embed:""`
	App      lyceum.OAuthAppID `arg:"" help:"Number of the app, as oauth-app list shows it."`
}

// Help implements kong's help for the command.
func (oauthAppEnableCommand) Help() string { return "Example: lyceum oauth-app enable 3" + serverSees }

// Run enables the app.
func (c *oauthAppEnableCommand) Run(p *program) error {
	return switchApp(p, &c.database, &c.inSchool, c.App, false)
}

func switchApp(p *program, d *database, s *inSchool, id lyceum.OAuthAppID, off bool) error {
	return withApps(p, d, s, func(apps *access.Apps, by lyceum.By) error {
		app, err := apps.Disable(p.ctx, by, id, off)
		if err != nil {
			return err
		}
		state := "enabled"
		if off {
			state = "disabled"
		}
		fmt.Fprintf(p.stdout, "OAuth app %d of school %d, %s, is %s.\n", app.ID, by.School, app.Name, state)
		return nil
	})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

type oauthAppDeleteCommand struct {
	database `embed:""`
	inSchool `embed:""`
	App      lyceum.OAuthAppID `arg:"" help:"Number of the app, as oauth-app list shows it."`
}

// Help implements kong's help for the command.
func (oauthAppDeleteCommand) Help() string { return "Example: lyceum oauth-app delete 3" + serverSees }

// Run deletes the app.
func (c *oauthAppDeleteCommand) Run(p *program) error {
	return withApps(p, &c.database, &c.inSchool, func(apps *access.Apps, by lyceum.By) error {
		if err := apps.Delete(p.ctx, by, c.App); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "OAuth app %d of school %d is deleted, and all its grants have ended.\n", c.App, by.School)
		return nil
	})
}
