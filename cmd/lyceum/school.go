package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// actor is the actor in the journal for changes made by a command.
const actor = "command"

type schoolCommands struct {
	Create schoolCreateCommand `cmd:"" help:"Create a school with its owner."`
	List   schoolListCommand   `cmd:"" help:"List the schools."`
	Set    schoolSetCommand    `cmd:"" help:"Change a school's settings."`
}

type schoolSetCommand struct {
	database       `embed:""`
	inSchool       `embed:""`
	Name           string         `help:"Name of the school." placeholder:"NAME"`
	V2             string         `name:"v2" help:"Version 2 of the interface, which is in beta: on or off." placeholder:"WHAT"`
	OnRefund       string         `help:"Effect of a full refund on the learner's access: unenroll or keep." placeholder:"WHAT"`
	OnChargeback   string         `help:"Effect of a lost chargeback: unenroll or keep." placeholder:"WHAT"`
	OnCancellation string         `help:"Effect of a cancelled subscription: unenroll, at_period_end or keep." placeholder:"WHAT"`
	OnLapse        string         `help:"Effect when a subscription that is billed here is not paid for in time: end or keep." placeholder:"WHAT"`
	GraceDays      *int32         `help:"Days after a payment was due until a subscription lapses, 0 to 60." placeholder:"15"`
	Yes            bool           `help:"Do not ask for confirmation before subscriptions end."`
	AbandonAfter   *time.Duration `help:"Time until an open order counts as abandoned, in whole minutes." placeholder:"1h"`
	TimeZone       string         `help:"Time zone of the school's days, as an IANA name." placeholder:"ZONE"`
	retentionFlags `embed:""`
}

// Help implements kong's help for the command.
func (schoolSetCommand) Help() string {
	return `Examples:
  lyceum school set --school 1 --v2 off
  lyceum school set --name "Fernwood School of Craft"
  lyceum school set --on-cancellation unenroll --abandon-after 2h
  lyceum school set --on-lapse end --grace-days 15
  lyceum school set --time-zone Europe/Berlin
  lyceum school set --keep-events 30 --keep-attempts 7

If subscriptions would end at once, the command shows how many, and how many people would lose access, and asks for
confirmation; --yes skips the question. While version 2 is off, API keys get 403 under /v2. Settings that are not
given stay as they are. A running server applies --v2 within five seconds and all other changes at once. It deletes
expired rows within a few minutes; to see how many they are, first run lyceum usage with the same --keep-… flags.`
}

// Run changes the settings.
func (c *schoolSetCommand) Run(p *program) (err error) {
	if c.V2 != "" && c.V2 != "on" && c.V2 != "off" {
		return lyceum.Invalidf("--v2 must be on or off")
	}
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := c.by(p.ctx, store)
	if err != nil {
		return err
	}
	school, err := store.In(p.ctx, by.School).GetSchool()
	if err != nil {
		return err
	}
	changed := school
	c.apply(&changed)
	policy, zone, retention := changed.Policy, changed.TimeZone, changed.Retention
	if c.V2 == "" && changed == school {
		return lyceum.Invalidf("nothing to change: set --name, --v2, --on-refund, --on-chargeback, --on-cancellation, " +
			"--on-lapse, --grace-days, --abandon-after, --time-zone or one of --keep-… to a different value")
	}
	if err := changed.Check(); err != nil {
		return asFlags(err)
	}
	lessons := learning.New(store, p.clock)
	books := sales.New(store, p.clock, lessons, people.New(store, p.clock))
	ending, err := c.agreed(p, books, by, policy)
	if err != nil {
		return asFlags(err)
	}
	if _, err := books.Configure(p.ctx, by, c.apply); err != nil {
		return asFlags(err)
	}
	if changed.Name != school.Name {
		fmt.Fprintf(p.stdout, "School %d is now called %s.\n", school.ID, changed.Name)
	}
	if policy != school.Policy {
		fmt.Fprintf(p.stdout, "School %d: a full refund means %s, a lost chargeback %s, a cancellation %s, a lapse %s "+
			"after %s; orders are abandoned after %v.\n", school.ID, policy.OnRefund, policy.OnChargeback,
			policy.OnCancellation, policy.OnLapse, several(policy.GraceDays, "day"), policy.AbandonAfter)
	}
	if ending {
		if err := books.Lapse(p.ctx, school.ID); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "School %d: the subscriptions have ended.\n", school.ID)
	}
	if zone != school.TimeZone {
		fmt.Fprintf(p.stdout, "School %d: days begin and end in %s.\n", school.ID, zone)
	}
	if retention != school.Retention {
		printRetention(p, school.ID, retention)
	}
	if c.V2 == "" {
		return nil
	}
	return c.switchV2(p, store, by, &school)
}

// apply changes the settings that have a flag.
func (c *schoolSetCommand) apply(s *lyceum.School) {
	s.Policy, s.Retention = c.policy(s.Policy), c.of(s.Retention)
	if c.Name != "" {
		s.Name = strings.TrimSpace(c.Name)
	}
	if c.TimeZone != "" {
		s.TimeZone = lyceum.TimeZone(c.TimeZone)
	}
}

// policy returns a school's policy with the given flags applied.
func (c *schoolSetCommand) policy(p lyceum.SalePolicy) lyceum.SalePolicy {
	for _, part := range []struct {
		given string
		to    *lyceum.Consequence
	}{{c.OnRefund, &p.OnRefund}, {c.OnChargeback, &p.OnChargeback}, {c.OnCancellation, &p.OnCancellation}} {
		if part.given != "" {
			*part.to = lyceum.Consequence(part.given)
		}
	}
	if c.OnLapse != "" {
		p.OnLapse = lyceum.Consequence(c.OnLapse)
	}
	if c.GraceDays != nil {
		p.GraceDays = *c.GraceDays
	}
	if c.AbandonAfter != nil {
		p.AbandonAfter = *c.AbandonAfter
	}
	return p
}

// agreed asks for confirmation before subscriptions end right away. It reports whether there
// are any.
func (c *schoolSetCommand) agreed(
	p *program, books *sales.Service, by lyceum.By, is lyceum.SalePolicy,
) (ending bool, err error) {
	preview, err := books.PreviewLapse(p.ctx, by, is, lyceum.Page{Number: 1, Size: 1})
	if err != nil || len(preview.Ends) == 0 {
		return false, err
	}
	fmt.Fprintf(p.stdout, "Subscriptions that end now, because they were not paid for: %d. People who lose access: %d. "+
		"People who keep it for another reason: %d.\n", len(preview.Ends), preview.People.Losing, preview.People.Keeping)
	if c.Yes {
		return true, nil
	}
	return true, p.agreed()
}

// agreed asks whether to continue.
func (p *program) agreed() error {
	fmt.Fprint(p.stdout, "Continue? [y/N] ")
	var reply string
	read := make(chan error, 1)
	go func() { // reading a terminal cannot be canceled; that ends with the program
		var err error
		reply, err = bufio.NewReader(io.LimitReader(p.stdin, 100)).ReadString('\n')
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the answer: %w", err)
		}
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	switch strings.ToLower(strings.TrimSpace(reply)) {
	case "y", "yes":
		return nil
	}
	return lyceum.Errorf(lyceum.Conflict, "nothing was changed: answer y, or use --yes")
}

func (c *schoolSetCommand) switchV2(p *program, store lyceum.Store, by lyceum.By, school *lyceum.School) error {
	off := c.V2 == "off"
	if school.V2Disabled == off {
		fmt.Fprintf(p.stdout, "Version 2 is already %s for school %d.\n", c.V2, school.ID)
		return nil
	}
	if err := store.Write(p.ctx, by.Stamp(p.clock()), func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) { s.V2Disabled = off })
	}); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Version 2 is %s for school %d.\n", c.V2, school.ID)
	return nil
}

type schoolCreateCommand struct {
	database   `embed:""`
	pagesAt    `embed:""`
	Name       string `help:"Name of the school." required:"" placeholder:"NAME"`
	OwnerEmail string `help:"Email address of its owner." required:"" placeholder:"ADDRESS"`
}

// Help implements kong's help for the command.
func (schoolCreateCommand) Help() string {
	return `Example: lyceum school create --name "Fernwood School of Craft" --owner-email owner@example.com` +
		` --auth-url https://school.example.com

Prints a link with which the owner sets a password.`
}

// Run creates the school and prints its number.
func (c *schoolCreateCommand) Run(p *program) (err error) {
	made := lyceum.School{Name: strings.TrimSpace(c.Name), V2Disabled: true}
	if err := made.CheckName(); err != nil {
		return asFlags(err)
	}
	if !people.IsAddress(c.OwnerEmail) {
		return lyceum.InvalidFields(lyceum.FieldError{
			Field:   "--owner-email",
			Message: fmt.Sprintf("must be an email address such as owner@example.com, of at most %d bytes", people.MaxEmail),
		})
	}
	if err := c.valid(); err != nil {
		return err
	}
	store, err := c.create(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	now := p.clock()
	var owner lyceum.UserID
	made.CreatedAt = lyceum.Second(now)
	school, err := store.CreateSchool(p.ctx, made, actor)
	if err != nil {
		return err
	}
	by := lyceum.By{School: school.ID, Actor: actor}
	err = store.Write(p.ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		var err error
		if owner, err = tx.Users.NextID(tx); err != nil {
			return err
		}
		_, err = tx.Users.Save(tx, lyceum.User{
			ID: owner, Email: c.OwnerEmail, Role: lyceum.Owner, CreatedAt: lyceum.Second(now),
		})
		if err != nil {
			return err
		}
		author, err := tx.Authors.NextID(tx)
		if err != nil {
			return err
		}
		return tx.Authors.Insert(tx, lyceum.AuthorProfile{ID: author, UserID: lyceum.Some(owner)})
	})
	if err != nil {
		return err
	}
	link, err := c.passwordLink(p.ctx, p, store, by, owner)
	if err != nil {
		return err
	}
	return p.give(fmt.Sprintf(`Created school %[1]d, %[2]s. `+
		`An API key for it: lyceum apikey create --school %[1]d --name NAME

While lyceum serve runs, its owner chooses a password here. The link works once, within 48 hours:
%[3]s`, school.ID, school.Name, link),
		"School %d was created, but its owner's link is lost: create another with lyceum user password-link --email %s "+
			"--school %[1]d", school.ID, c.OwnerEmail)
}

type schoolListCommand struct {
	database `embed:""`
}

// Help implements kong's help for the command.
func (schoolListCommand) Help() string { return "Example: lyceum school list --data /var/lib/lyceum" }

// Run prints the schools as a table.
func (c *schoolListCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	schools, err := store.FindSchools(p.ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "SCHOOL\tNAME\tCREATED\tTIME ZONE")
	for _, s := range schools {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", s.ID, s.Name, shownTime(s.CreatedAt), s.TimeZone)
	}
	return table.Flush()
}

func shownTime(t time.Time) string { return string(lyceum.AppendTime(nil, t)) }

type apikeyCommands struct {
	Create apikeyCreateCommand `cmd:"" help:"Create a key and print it once."`
	List   apikeyListCommand   `cmd:"" help:"List the keys without their secrets."`
	Revoke apikeyRevokeCommand `cmd:"" help:"Revoke a key."`
}

type apikeyCreateCommand struct {
	database    `embed:""`
	inSchool    `embed:""`
	Name        string `help:"What the key is for." required:"" placeholder:"NAME"`
	Permissions string `help:"What the key may do: read, write and accounts (change email addresses, passwords and roles), separated by commas." default:"read"`
}

// Help implements kong's help for the command.
func (apikeyCreateCommand) Help() string {
	return "Example: lyceum apikey create --name \"monthly report\" --permissions read\n\nOnly the key goes to " +
		"standard output, so that it can be piped."
}

// Run creates the key.
func (c *apikeyCreateCommand) Run(p *program) (err error) {
	permissions, err := lyceum.ParsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := c.by(p.ctx, store)
	if err != nil {
		return err
	}
	key, text, err := access.NewKeys(store, p.clock).Create(p.ctx, by, c.Name,
		permissions, access.NewEntropy())
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "API key %d of school %d, %s, may %s. It is shown only this once:\n",
		key.ID, by.School, key.Name, key.Permissions)
	return p.give(text, "API key %d was created, but it is lost: revoke it with lyceum apikey revoke %[1]d "+
		"--school %d, and create another", key.ID, by.School)
}

// give prints something that is shown only once; lost says what to do if it could not be
// written.
func (p *program) give(shownOnce, lost string, of ...any) error {
	if _, err := fmt.Fprintln(p.stdout, shownOnce); err != nil {
		return &lyceum.Error{
			Kind: lyceum.Unavailable, Err: err, Detail: "standard output cannot be written. " + fmt.Sprintf(lost, of...),
		}
	}
	return nil
}

type apikeyListCommand struct {
	database `embed:""`
	inSchool `embed:""`
}

// Help implements kong's help for the command.
func (apikeyListCommand) Help() string { return "Example: lyceum apikey list --school 1" }

// Run prints the keys as a table.
func (c *apikeyListCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := c.by(p.ctx, store)
	if err != nil {
		return err
	}
	keys, err := access.NewKeys(store, p.clock).List(p.ctx, by)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tENDS IN\tPERMISSIONS\tCREATED\tLAST USED\tREVOKED\tNAME")
	for _, k := range keys {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n",
			k.ID, k.LastFour, k.Permissions, shownTime(k.CreatedAt), shownOpt(k.LastUsedAt), shownOpt(k.RevokedAt), k.Name)
	}
	return table.Flush()
}

func shownOpt(t lyceum.Opt[time.Time]) string {
	if !t.Present {
		return "-"
	}
	return shownTime(t.Value)
}

type apikeyRevokeCommand struct {
	database `embed:""`
	inSchool `embed:""`
	Key      lyceum.APIKeyID `arg:"" help:"Number of the key, as apikey list shows it."`
}

// Help implements kong's help for the command.
func (apikeyRevokeCommand) Help() string {
	return "Example: lyceum apikey revoke 3 --school 1\n\nA running server refuses the key within five seconds."
}

// Run revokes the key.
func (c *apikeyRevokeCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	by, err := c.by(p.ctx, store)
	if err != nil {
		return err
	}
	if err := access.NewKeys(store, p.clock).Revoke(p.ctx, by, c.Key); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "API key %d of school %d is revoked.\n", c.Key, by.School)
	return nil
}
