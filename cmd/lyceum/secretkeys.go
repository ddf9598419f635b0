package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

type secretKeyCommands struct {
	Rotate rotateKeyCommand `cmd:"" help:"Add a new secret key, which signs from now on."`
	List   listKeysCommand  `cmd:"" help:"List the secret keys, and how many secrets need each."`
	Prune  pruneKeysCommand `cmd:"" help:"Remove the secret keys that are no longer needed."`
}

// keysAt says where a server's secret keys are.
type keysAt struct {
	SecretKeyFile string `help:"File with the server's secret keys. Default: secret.key in the data folder." placeholder:"FILE"`
}

// read reads a server's keys, which must exist.
func (a *keysAt) read(d *database) (*keyFile, error) {
	file := a.SecretKeyFile
	if file == "" && d.folder() == "" {
		return nil, lyceum.Invalidf("a server on PostgreSQL keeps its secret keys in a file; set it with --secret-key-file")
	}
	if file != "" {
		return readKeys(file)
	}
	file = filepath.Join(d.folder(), secretKeyName)
	keys, err := readKeys(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &lyceum.Error{Kind: lyceum.NotFound, Err: err, Detail: "there is no secret key " + file +
			" yet; lyceum serve creates it when it first starts; for another file, set --secret-key-file"}
	}
	return keys, err
}

type rotateKeyCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (rotateKeyCommand) Help() string {
	return `Example: lyceum secret-key rotate --data /var/lib/lyceum

The new key signs from now on; the older keys still verify, so existing webhook secrets keep working. A running
server picks the new key up within 2 seconds, without a restart. If several processes have their own copies of the
file, copy it to all of them.`
}

// Run creates a key.
func (c *rotateKeyCommand) Run(p *program) error {
	keys, err := c.read(&c.database)
	if err != nil {
		return err
	}
	all := keys.ring.Keys()
	if len(all) >= maxSecretKeys {
		return lyceum.Errorf(lyceum.Conflict, "%s has %d keys, the maximum; remove unused ones with lyceum secret-key "+
			"prune", keys.path, len(all))
	}
	made := newSecretKey()
	if err := keys.save(append([]lyceum.SecretKey{made}, all...)); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: key %s signs now, older keys: %d; back up the file\n",
		keys.path, made.ID(), len(all))
	return nil
}

type listKeysCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (listKeysCommand) Help() string {
	return "Example: lyceum secret-key list --data /var/lib/lyceum\n\nThe keys themselves are not shown. Webhooks, " +
		"template secrets, second factors and links in queued emails are secrets that need a key."
}

// Run lists the keys.
func (c *listKeysCommand) Run(p *program) error {
	keys, needed, err := c.needed(p, &c.database)
	if err != nil {
		return err
	}
	for i, key := range keys.ring.Keys() {
		use := "verifies"
		if i == 0 {
			use = "signs"
		}
		fmt.Fprintf(p.stdout, "%s  %-8s  %s\n", key.ID(), use, several(needed[key.ID()], "secret"))
		delete(needed, key.ID())
	}
	for _, id := range slices.Sorted(maps.Keys(needed)) {
		fmt.Fprintf(p.stdout, "%s  missing   %s\n", id, several(needed[id], "secret"))
	}
	return nil
}

// needed reads the keys, and counts the secrets that need each of them.
func (a *keysAt) needed(p *program, d *database) (keys *keyFile, needed map[lyceum.SecretKeyID]int, err error) {
	if keys, err = a.read(d); err != nil {
		return nil, nil, err
	}
	store, err := d.existing(p)
	if err != nil {
		return nil, nil, err
	}
	defer closing(store, &err)
	needed, err = neededKeys(
		p.ctx,
		events.New(store, p.clock, events.Options{Ring: keys.ring}),
		templates.New(store, p.clock, templates.Options{}),
		access.NewAccounts(store, p.clock, nil, keys.ring),
	)
	return keys, needed, err
}

// neededKeys adds up the secrets that each of the rules counts, by the key that they need.
func neededKeys(ctx context.Context, rules ...interface {
	NeededKeys(ctx context.Context) (map[lyceum.SecretKeyID]int, error)
},
) (map[lyceum.SecretKeyID]int, error) {
	needed := map[lyceum.SecretKeyID]int{}
	for _, r := range rules {
		some, err := r.NeededKeys(ctx)
		if err != nil {
			return nil, err
		}
		for id, n := range some {
			needed[id] += n
		}
	}
	return needed, nil
}

// warnOfMissingKeys logs a warning if secrets need keys that the server does not have, as after a restore
// without the file of the keys.
func (s *service) warnOfMissingKeys(ctx context.Context) {
	needed, err := neededKeys(ctx, s.events, s.emails, s.accounts)
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "the secrets that need a missing secret key could not be counted", "err", err)
		}
		return
	}
	for _, key := range s.events.Ring.Keys() {
		delete(needed, key.ID())
	}
	secrets := 0
	for _, n := range needed {
		secrets += n
	}
	if secrets > 0 {
		s.log.WarnContext(ctx, "secrets of webhooks, templates, second factors or queued emails need secret keys that "+
			"this server does not have; add the lost keys to the file, below the others",
			"secrets", secrets, "keys", slices.Sorted(maps.Keys(needed)))
	}
}

type pruneKeysCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (pruneKeysCommand) Help() string {
	return "Example: lyceum secret-key prune --data /var/lib/lyceum\n\nKeeps the signing key, the keys from which " +
		"webhook secrets are derived, and the keys that encrypt template secrets, the secrets of second factors and the " +
		"links in queued emails. After a webhook's secret is rotated, its old key is needed for another day. Links to " +
		"files and addresses for uploads stop working with the key that signed them: wait two days after a rotation."
}

// Run removes the keys that are no longer needed.
func (c *pruneKeysCommand) Run(p *program) error {
	keys, needed, err := c.needed(p, &c.database)
	if err != nil {
		return err
	}
	var stay []lyceum.SecretKey
	for i, key := range keys.ring.Keys() {
		switch n := needed[key.ID()]; {
		case i == 0:
			fmt.Fprintf(p.stdout, "%s stays: it signs\n", key.ID())
		case n > 0:
			verb := "need"
			if n == 1 {
				verb = "needs"
			}
			fmt.Fprintf(p.stdout, "%s stays: %s %s it\n", key.ID(), several(n, "secret"), verb)
		default:
			fmt.Fprintf(p.stdout, "%s is removed\n", key.ID())
			continue
		}
		stay = append(stay, key)
	}
	if len(stay) == len(keys.ring.Keys()) {
		return nil
	}
	return keys.save(stay)
}
