package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// listenCommand forwards events to a program on this machine.
type listenCommand struct {
	Server     string   `help:"Address of the server." default:"http://127.0.0.1:8080" placeholder:"URL"`
	APIKey     string   `name:"api-key" help:"API key of the school, with read permission." placeholder:"KEY" xor:"key"`
	APIKeyFile string   `name:"api-key-file" help:"File with the API key." placeholder:"FILE" xor:"key"`
	Forward    string   `help:"Forward each event to this URL, signed like a webhook; without it events are only shown." placeholder:"URL"`
	Events     []string `help:"Only these events, by name." placeholder:"NAME"`
	Since      string   `help:"Start in the past: at a time, a duration ago such as 2h, or after a change number; 0 is the beginning." placeholder:"TIME"`
	Secret     string   `help:"Signing secret; generated and printed by default. --secret-file keeps it out of the process list." placeholder:"whsec_…" xor:"secret"`
	SecretFile string   `name:"secret-file" help:"File with the secret to sign with." placeholder:"FILE" xor:"secret"`
}

// Help implements kong's help for the command.
func (listenCommand) Help() string {
	return `Examples:
  lyceum listen --api-key-file key.txt --events Sale.created,Transaction.refunded --since 2h
  lyceum listen --api-key-file key.txt --forward http://127.0.0.1:3000/hook --secret-file secret.txt

Prints one line per event: time, name, object, and the program's response. Includes events that are resent from the
console or through the interface. Failed events are not retried; use --since to go back. Press Ctrl-C to stop.`
}

// Run listens until the program is told to stop.
func (c *listenCommand) Run(p *program) error {
	key := c.APIKey
	if c.APIKeyFile != "" {
		var err error
		if key, err = secretFile("--api-key-file", c.APIKeyFile); err != nil {
			return err
		}
	}
	if strings.ContainsFunc(key, unicode.IsControl) {
		return lyceum.Invalidf("--api-key must be one line of text and have no control characters")
	}
	if wrong := webAddress("--server", c.Server); wrong != nil {
		return lyceum.InvalidFields(wrong...)
	}
	secret, err := c.secret(p, key)
	if err != nil {
		return err
	}
	l := &webhook.Listener{
		Server: c.Server, APIKey: key, Types: c.Events, To: c.Forward, Secret: secret,
		Sender: webhook.New(webhook.Options{Loopback: true}),
		Show:   func(h webhook.Heard) { fmt.Fprintln(p.stdout, heardLine(h)) },
		Retry:  func(err error) { fmt.Fprintln(p.stderr, "lyceum:", lyceum.Public(err).Detail+"; trying again") },
		Back: func(last int64) {
			fmt.Fprintf(p.stderr, "the school was restored to an earlier state; listening after change %d\n", last)
		},
	}
	after, err := c.begin(p, l)
	if err != nil || p.ctx.Err() != nil {
		return err
	}
	warnOfArguments(p, "api-key", "secret")
	fmt.Fprintf(p.stderr, "listening to %s after change %d\n", c.Server, after)
	return l.Run(p.ctx, after)
}

// secret checks the settings and returns the secret to sign with.
func (c *listenCommand) secret(p *program, key string) ([]byte, error) {
	if key == "" {
		return nil, lyceum.Invalidf("an API key is required; set --api-key, --api-key-file or LYCEUM_API_KEY")
	}
	if c.Forward == "" {
		return nil, nil
	}
	to, err := url.Parse(c.Forward)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || !loopback(to.Hostname()) {
		return nil, lyceum.Invalidf("--forward must be a URL on this machine, such as http://127.0.0.1:3000/hook; for " +
			"others create a webhook")
	}
	text := c.Secret
	if c.SecretFile != "" {
		if text, err = secretFile("--secret-file", c.SecretFile); err != nil {
			return nil, err
		}
	}
	if text != "" {
		return events.ParseSecret(text)
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	fmt.Fprintf(p.stderr, "signing with %s\n", events.SecretText(secret))
	return secret, nil
}

// warnOfArguments warns about secrets given as arguments of the process, which every user of
// the machine can list.
func warnOfArguments(p *program, names ...string) {
	for _, flag := range p.kong.Flags() {
		if slices.Contains(names, flag.Name) && sourceOf(p, flag) == "flag" {
			fmt.Fprintf(p.stderr, "lyceum: other users of this machine can see --%s in the process list; use --%[1]s-file "+
				"or %s instead\n",
				flag.Name, flag.Envs[0])
		}
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// begin returns the number of the change after which to listen.
func (c *listenCommand) begin(p *program, l *webhook.Listener) (int64, error) {
	if c.Since == "" {
		return l.Now(p.ctx)
	}
	if n, err := strconv.ParseInt(c.Since, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if ago, err := time.ParseDuration(c.Since); err == nil && ago >= 0 {
		now, there, err := l.Clock(p.ctx)
		if err != nil {
			return 0, err
		}
		if !there {
			now = p.clock()
		}
		return l.Since(p.ctx, now.Add(-ago))
	}
	at, err := lyceum.ParseTime(c.Since)
	if err != nil {
		return 0, lyceum.Invalidf("--since must be a time such as 2024-01-31T15:04:05Z, a duration such as 2h, or " +
			"the number of a change")
	}
	return l.Since(p.ctx, at)
}

func heardLine(h webhook.Heard) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-26s %8d", h.At.UTC().Format(time.RFC3339), h.Type, h.ID)
	if h.Resent {
		b.WriteString("  sent again")
	}
	switch {
	case !h.Sent:
	case h.Outcome.Status != 0:
		fmt.Fprintf(&b, "  -> %d in %d ms", h.Outcome.Status, h.Outcome.Took.Milliseconds())
	default:
		fmt.Fprintf(&b, "  -> %s", h.Outcome.Problem)
	}
	return b.String()
}
