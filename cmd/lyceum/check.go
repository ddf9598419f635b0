package main

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

type checkCommand struct {
	database `embed:""`
}

// Help implements kong's help for the command.
func (checkCommand) Help() string {
	return "Example: lyceum check --data /var/lib/lyceum\n\nVerifies the database's files, that counters and totals agree with rows, that the journal has no gap, and that nothing names what is not there. Like every command it brings the schema up to date first; apart from that it only reads. The exit status is 1 when something is wrong."
}

// Run checks the database and tells what is wrong.
func (c *checkCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	findings, err := store.Check(p.ctx)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.School == 0 {
			fmt.Fprintln(p.stdout, f.What)
		} else {
			fmt.Fprintf(p.stdout, "school %d: %s\n", f.School, f.What)
		}
	}
	if len(findings) > 0 {
		return lyceum.Errorf(lyceum.Conflict, "%d things are wrong; restore a backup, and keep this database to find out why", len(findings))
	}
	schools, err := store.FindSchools(p.ctx)
	if err != nil {
		return err
	}
	for _, school := range schools {
		listing, err := store.FindTransactions(p.ctx, school.ID, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1})
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "school %d, %s: %d transactions, all in order\n", school.ID, school.Name, listing.Total)
	}
	if len(schools) == 0 {
		fmt.Fprintln(p.stdout, "the database is whole and has no school yet")
	}
	return nil
}
