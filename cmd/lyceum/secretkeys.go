package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

type secretKeyCommands struct {
	Rotate rotateKeyCommand `cmd:"" help:"Put a new secret key in front of the others."`
	List   listKeysCommand  `cmd:"" help:"List the secret keys, and how many webhooks need each."`
	Prune  pruneKeysCommand `cmd:"" help:"Remove the secret keys that nothing needs any more."`
}

// keysAt is where a server's secret keys are.
type keysAt struct {
	SecretKeyFile string `help:"File with the server's secret keys; that of the data folder when left out." placeholder:"FILE"`
}

// read reads the keys of a server that has some.
func (a *keysAt) read(d *database) (*keyFile, error) {
	file := a.SecretKeyFile
	if file == "" && d.folder() == "" {
		return nil, lyceum.Invalidf("a server on PostgreSQL has its secret keys in a file; give it with --secret-key-file")
	}
	if file == "" {
		file = filepath.Join(d.folder(), secretKeyName)
	}
	return readKeys(file)
}

type rotateKeyCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (rotateKeyCommand) Help() string {
	return `Example: lyceum secret-key rotate --data /var/lib/lyceum

The new key signs from now on. The others stay good: the secrets that receivers of webhooks have go on working. A
running server takes the new key within 2 seconds, without a restart. Where several processes have a copy of the
file each, copy it to all.`
}

// Run makes a key.
func (c *rotateKeyCommand) Run(p *program) error {
	keys, err := c.read(&c.database)
	if err != nil {
		return err
	}
	all := keys.ring.Keys()
	if len(all) >= maxSecretKeys {
		return lyceum.Errorf(lyceum.Conflict, "%s holds %d keys, which is the most; remove those that nothing needs with "+
			"lyceum secret-key prune", keys.path, len(all))
	}
	made := newSecretKey()
	if err := keys.save(append([]lyceum.SecretKey{made}, all...)); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: key %s signs now, %d older verify; keep a copy of the file\n",
		keys.path, made.ID(), len(all))
	return nil
}

type listKeysCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (listKeysCommand) Help() string {
	return "Example: lyceum secret-key list --data /var/lib/lyceum\n\nThe keys themselves are not shown."
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
		fmt.Fprintf(p.stdout, "%s  %-8s  %d webhooks\n", key.ID(), use, needed[key.ID()])
		delete(needed, key.ID())
	}
	for _, id := range slices.Sorted(maps.Keys(needed)) {
		fmt.Fprintf(p.stdout, "%s  missing   %d webhooks\n", id, needed[id])
	}
	return nil
}

// needed reads the keys, and counts the webhooks that need each.
func (a *keysAt) needed(p *program, d *database) (keys *keyFile, needed map[lyceum.SecretKeyID]int, err error) {
	if keys, err = a.read(d); err != nil {
		return nil, nil, err
	}
	store, err := d.existing(p)
	if err != nil {
		return nil, nil, err
	}
	defer closing(store, &err)
	needed, err = events.New(store, p.clock, events.Options{Ring: keys.ring}).NeededKeys(p.ctx)
	return keys, needed, err
}

type pruneKeysCommand struct {
	database `embed:""`
	keysAt   `embed:""`
}

// Help implements kong's help for the command.
func (pruneKeysCommand) Help() string {
	return "Example: lyceum secret-key prune --data /var/lib/lyceum\n\nThe key that signs stays, and so do those that " +
		"secrets of webhooks are made of. A webhook that is given a new secret needs its old key for a day more."
}

// Run removes keys.
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
			fmt.Fprintf(p.stdout, "%s stays: %d webhooks need it until they have a new secret\n", key.ID(), n)
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
