package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// sandboxCommand starts a disposable school.
type sandboxCommand struct {
	indexSettings    `embed:""`
	responseSettings `embed:""`

	Addr         string   `help:"Address to listen on; port 0 picks a free port." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	AllowHost    []string `help:"Additional host names that requests may be sent to, such as a container's; without port." placeholder:"NAME"`
	Transactions int      `help:"Number of transactions in the school." default:"2000"`
	Seed         uint64   `help:"Seed of the generated data: ids, rows and secrets." default:"1"`
	Clock        string   `help:"Stop the clock at this time until it is moved; the generated data ends there. Default: the clock runs, starting at the real time." placeholder:"TIME"`
	Data         string   `help:"Keep the school in this folder instead of discarding it." placeholder:"DIR" xor:"keep"`
	DatabaseURL  string   `help:"Keep the school in this PostgreSQL database." placeholder:"postgres://…" xor:"keep"`
	RateLimit    *int64   `help:"Requests per minute and school; 0 for no limit. Default: 360; no limit with --clock." placeholder:"N"`
	JSON         bool     `help:"Print the connection details as one JSON object on one line."`
}

// Help implements kong's help for the command.
func (sandboxCommand) Help() string {
	return `Examples:
  lyceum sandbox
  lyceum sandbox --json --addr 127.0.0.1:0 --transactions 100000 --rate-limit 0
  lyceum sandbox --clock 2026-01-31T10:00:00Z
  lyceum sandbox --addr 0.0.0.0:8080 --allow-host lyceum

The same seed and clock always create the same school. Without --clock, its sales end yesterday, and only the dates
differ from day to day. Anyone who knows the seed knows its secrets: never keep real data in it. With --clock, the
school's clock stands still until a request or the console moves it. Along the way, a made-up payment provider charges
the subscriptions:
  curl -H "apiKey: $KEY" -H 'Content-Type: application/json' -d '{"advance":"31d"}' $URL/lyceum/v1/clock

It answers only requests to localhost, loopback addresses, the host in --addr and --allow-host, and
only web pages on this machine can read its answers.`
}

// redirectURL is the Redirect URL of the sandbox's OAuth apps.
const redirectURL = "https://app.example.com/callback"

// credentials is the line that --json prints.
type credentials struct {
	BaseURL    string          `json:"base_url"`
	AuthURL    string          `json:"auth_url"`
	ConsoleURL string          `json:"console_url"`
	SchoolID   lyceum.SchoolID `json:"school_id"`
	APIKey     string          `json:"api_key"`
	Owner      signIn          `json:"owner"`
	Learner    signIn          `json:"learner"`
	OAuthApps  oauthApps       `json:"oauth_apps"`
}

type signIn struct {
	ID       lyceum.UserID `json:"id"`
	Email    string        `json:"email"`
	Password string        `json:"password"`
}

type oauthApps struct {
	V1 oauthApp `json:"v1"`
	V2 oauthApp `json:"v2"`
}

type oauthApp struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RedirectURL  string `json:"redirect_url"`
}

// Run generates the school and serves it until the program is told to stop.
func (c *sandboxCommand) Run(p *program) (err error) {
	at, err := c.valid()
	if err != nil {
		return err
	}
	listener, err := server.Listen(p.ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	b, discard, err := c.place(p)
	if err != nil {
		return err
	}
	defer discard()
	ctx, end := context.WithCancelCause(p.ctx)
	defer end(nil)
	b.base, b.at, b.end = addressOf(listener, false), at, end
	if err := b.begin(); err != nil {
		return err
	}
	defer closing(b, &err)
	if !onLoopback(listener) {
		p.log.Warn("anyone who can reach this address controls the school: its key and passwords are the same in every "+
			"sandbox with this seed, "+
			"and its webhooks can reach programs on this machine; use --addr 127.0.0.1:8080 to keep it local", "address",
			listener.Addr().String())
	}
	if err := c.print(p, b.known, b.school.Closing()); err != nil {
		return err
	}
	begin := time.Now()
	err = server.Serve(ctx, listener, b, nil, p.log)
	p.log.Info("stopped", "after", time.Since(begin).Round(time.Second).String())
	if why := context.Cause(ctx); why != nil && p.ctx.Err() == nil {
		err = errors.Join(err, why)
	}
	return err
}

// valid rejects invalid flags, and returns the time at which the clock stands.
func (c *sandboxCommand) valid() (at lyceum.Opt[time.Time], err error) {
	if c.Transactions < 0 || c.Transactions > lyceum.MaxID {
		return at, lyceum.InvalidFields(lyceum.FieldError{
			Field: "--transactions", Message: fmt.Sprintf("must be from 0 to %d", lyceum.MaxID),
		})
	}
	if at, err = c.standingAt(); err != nil {
		return at, err
	}
	if c.perMinute() < 0 {
		return at, lyceum.InvalidFields(lyceum.FieldError{Field: "--rate-limit", Message: "must be 0 (no limit) or more"})
	}
	for _, name := range c.AllowHost {
		if !server.IsHost(name) {
			return at, lyceum.InvalidFields(lyceum.FieldError{
				Field: "--allow-host", Message: "must be the name or the IP address of a host, without port, such as lyceum",
			})
		}
	}
	if wrong := c.wrong(); len(wrong) > 0 {
		return at, lyceum.InvalidFields(wrong...)
	}
	return at, nil
}

// perMinute returns the rate limit. By default there is none with --clock, because the minutes
// of a standing clock never end.
func (c *sandboxCommand) perMinute() int64 {
	switch {
	case c.RateLimit != nil:
		return *c.RateLimit
	case c.Clock != "":
		return 0
	}
	return usualPerMinute
}

// usualPerMinute is the default rate limit of a sandbox, in requests.
const usualPerMinute = 360

func onLoopback(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// local returns the host names that the sandbox responds to.
func (c *sandboxCommand) local() *server.Local {
	names := c.AllowHost
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && host != "" {
		names = append(names, host)
	}
	return server.NewLocal(names...)
}

// place returns a sandbox that has no school yet; discard releases the place where it is
// stored, and deletes it unless it is to be kept.
func (c *sandboxCommand) place(p *program) (b *sandboxServer, discard func(), err error) {
	b = &sandboxServer{command: c, program: p, options: sqlstore.Options{Log: p.log}}
	if c.Data != "" || c.DatabaseURL != "" {
		b.kept = &database{Data: c.Data, DatabaseURL: c.DatabaseURL}
		b.index = c.snapshots(c.Data)
		discard, err = b.kept.lock("")
		return b, discard, err
	}
	dir, err := os.MkdirTemp("", "lyceum-sandbox-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	b.kept, b.index = &database{Data: dir}, c.snapshots("")
	b.options.Synchronous = sqlstore.Off
	return b, func() { _ = os.RemoveAll(dir) }, nil
}

func credentialsOf(school *demo.School, base string) credentials {
	id, s := school.School.ID, school.Secrets
	return credentials{
		BaseURL: base, AuthURL: base, ConsoleURL: base + "/admin", SchoolID: id,
		APIKey:  access.KeyText(id, s.APIKey),
		Owner:   signIn{ID: demo.OwnerID, Email: demo.OwnerEmail, Password: s.OwnerPassword},
		Learner: signIn{ID: demo.LearnerID, Email: demo.LearnerEmail, Password: s.LearnerPassword},
		OAuthApps: oauthApps{
			V1: oauthApp{
				ClientID: access.ClientID(id, s.V1ClientID), ClientSecret: access.ClientSecret(id, s.V1ClientSecret),
				RedirectURL: redirectURL,
			},
			V2: oauthApp{
				ClientID: access.ClientID(id, s.V2ClientID), ClientSecret: access.ClientSecret(id, s.V2ClientSecret),
				RedirectURL: redirectURL,
			},
		},
	}
}

// print prints what a program needs to use the school, and requests to try. closing is when the
// data end.
func (c *sandboxCommand) print(p *program, k credentials, closing time.Time) error {
	if c.JSON {
		line, err := json.Marshal(k)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "%s\n", line)
		return err
	}
	end := " and discard the school"
	if c.Data != "" || c.DatabaseURL != "" {
		end = ""
	}
	_, err := fmt.Fprintf(p.stdout, `
A school is running at %[1]s with %[2]s (seed %[3]d, %[4]s).

  Console     %[1]s/admin
  API key     %[5]s
  Reference   %[1]s/docs
  Contract    %[1]s/openapi/v1.yaml, v2.yaml and lyceum.yaml

Try it:

  curl -H 'apiKey: %[5]s' '%[1]s/v1/transactions'
  curl -H 'apiKey: %[5]s' '%[1]s/v1/transactions?user_id=%[6]d&per=5'
  curl -H 'apiKey: %[5]s' '%[1]s/v1/transactions?is_fully_refunded=true&start=%[18]s&end=%[19]s'

Sign in at %[1]s/secure/%[17]d/identity/sign_in:

  Owner       %[7]s  %[8]s
  Learner     %[9]s  %[10]s

Let an app act for the learner (docs/oauth.md has the full walkthrough):

  OAuth v1    %[11]s  %[12]s
  OAuth v2    %[13]s  %[14]s
  Redirect    %[15]s
  Authorize   %[1]s/secure/%[17]d/identity/oauth_provider/authorize?client_id=%[11]s`+
		`&response_type=code&required_scopes=name:read

Press Ctrl-C to stop%[16]s.
`, k.BaseURL, several(c.Transactions, "transaction"), c.Seed, limitText(c.perMinute()), k.APIKey, k.Learner.ID,
		k.Owner.Email, k.Owner.Password, k.Learner.Email, k.Learner.Password,
		k.OAuthApps.V1.ClientID, k.OAuthApps.V1.ClientSecret, k.OAuthApps.V2.ClientID, k.OAuthApps.V2.ClientSecret,
		redirectURL, end, k.SchoolID,
		closing.AddDate(0, 0, -180).Format(time.RFC3339), closing.AddDate(0, 0, -90).Format(time.RFC3339))
	return err
}

func limitText(perMinute int64) string {
	if perMinute == 0 {
		return "no rate limit"
	}
	return fmt.Sprintf("%d requests per minute", perMinute)
}
