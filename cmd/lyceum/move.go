package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type moveCommand struct {
	Data      string `help:"Folder of the SQLite database." default:"./lyceum-data" placeholder:"DIR"`
	ToURL     string `name:"to-url" help:"Empty PostgreSQL database to move to." placeholder:"postgres://…" xor:"to" required:""`
	ToURLFile string `name:"to-url-file" help:"File with that URL, to keep the password out of the process list." placeholder:"FILE" xor:"to" required:""`
}

// Help implements kong's help for the command.
func (moveCommand) Help() string {
	return `Examples:
  lyceum move --data /var/lib/lyceum --to-url-file /etc/lyceum/database-url

Copies all schools with everything that belongs to them, in one transaction: if the command fails or is killed, the ` +
		`PostgreSQL database is as it was, and you can repeat it. Ids, passwords, API keys, apps, sessions and webhooks ` +
		`stay valid, and programs that follow the change feed continue where they are. Stop the server first; the command ` +
		`refuses a database that is in use, and a PostgreSQL database that has schools.

The SQLite database stays as it is. Uploaded files and the secret key stay where they are; start the server with ` +
		`the same --data and with --secret-key-file. Do not serve the SQLite database again.`
}

// Run copies the database.
func (c *moveCommand) Run(p *program) error {
	if err := (&database{Data: c.Data}).exists(); err != nil {
		return err
	}
	to := c.ToURL
	if c.ToURLFile != "" {
		var err error
		if to, err = secretFile("--to-url-file", c.ToURLFile); err != nil {
			return err
		}
	}
	if !sqlstore.IsPostgres(to) {
		return lyceum.Invalidf("--to-url must begin with postgres://")
	}
	release, err := lockFolder(c.Data)
	if err != nil {
		return err
	}
	defer release()
	var bar *progress
	moved, err := sqlstore.MoveToPostgres(p.ctx, c.Data, to, func(done, all int64) {
		if bar == nil {
			bar = newProgress(p, "moving", all, "rows")
		}
		bar.set(done)
	})
	bar.finish()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s with %s moved; lyceum check verifies them in the PostgreSQL database\n",
		several(moved.Schools, "school"), several(moved.Rows, "row"))
	key := filepath.Join(c.Data, secretKeyName)
	if _, err := os.Stat(key); err == nil {
		fmt.Fprintf(p.stdout, "start the server with --secret-key-file %s\n", key)
	}
	fmt.Fprintf(p.stdout, "the SQLite database stays as it is: do not serve it again, and delete %s once you no longer "+
		"need it\n", filepath.Join(c.Data, sqlstore.FileName))
	return nil
}
