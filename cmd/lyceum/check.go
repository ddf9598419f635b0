package main

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// damaged is the code of errors that say what is wrong with a database. They have a separate
// exit status; other errors mean that the database could not be checked.
const damaged = "damaged"

type checkCommand struct {
	database      `embed:""`
	indexSettings `embed:""`
	fileSettings  `embed:""`

	Deep bool `help:"Also compare each school's sales index with the database, and read every uploaded file."`
}

// Help implements kong's help for the command.
func (checkCommand) Help() string {
	return "Examples:\n  lyceum check --data /var/lib/lyceum\n  lyceum check --data /var/lib/lyceum --deep\n\n" +
		"Verifies the database's files. Also verifies that counters and totals agree with the rows, that the journal has " +
		"no gap, that all references are valid, that stored events can be unpacked, and that uploaded files exist and " +
		"have the right size. It only reads. With --deep, it also loads the index of each school's sales into memory, as " +
		"a server would, compares every sale and every total, and verifies every uploaded file against its SHA-256; the " +
		"server may keep running. The exit status is 0 if everything is in order, 2 if something is wrong, and 1 if the " +
		"check could not run."
}

// Run checks the database and prints what is wrong.
func (c *checkCommand) Run(p *program) (err error) {
	kept, err := c.existing(p)
	if err != nil {
		return err
	}
	store := salesindex.Over(kept, salesindex.Options{Memory: c.memory(), Folder: c.snapshots(c.folder()), ReadOnly: true})
	defer closing(store, &err)
	defer func() {
		if err != nil && kept.Condition().Damaged {
			err = &lyceum.Error{
				Kind: lyceum.Conflict, Code: damaged,
				Detail: "the database is damaged; restore a backup, and keep this one for analysis", Err: err,
			}
		}
	}()
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
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: damaged,
			Detail: several(len(findings), "problem") + " found; restore a backup, and keep this database for analysis",
		}
	}
	schools, err := store.FindSchools(p.ctx)
	if err != nil {
		return err
	}
	for _, school := range schools {
		if err := c.checkSchool(p, store, &school); err != nil {
			return err
		}
	}
	if err := c.checkFiles(p, store); err != nil {
		return err
	}
	if len(schools) == 0 {
		fmt.Fprintln(p.stdout, "the database is intact and has no school yet")
	}
	return nil
}

func (c *checkCommand) checkSchool(p *program, store *salesindex.Store, school *lyceum.School) error {
	listing, err := store.Store.FindTransactions(
		p.ctx, school.ID, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1},
	)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "school %d, %s: %s, all in order\n", school.ID, school.Name,
		several(listing.Total, "transaction"))
	switch kept, there, err := store.Kept(p.ctx, school.ID); {
	case !there:
	case err != nil:
		fmt.Fprintf(p.stdout, "school %d: the saved index is unusable and will be rebuilt: %v\n", school.ID, err)
	default:
		fmt.Fprintf(p.stdout, "school %d: the saved index has %s in %d kB; entries behind the journal: %d\n",
			school.ID, several(kept.Sales, "transaction"), kilobytes(kept.Bytes), kept.Behind)
	}
	if !c.Deep {
		return nil
	}
	bar := newProgress(p, "comparing the index", listing.Total, "transactions")
	compared, err := store.Compare(p.ctx, school.ID, func(sales int) { bar.set(int64(sales)) })
	bar.finish()
	if err != nil {
		return err
	}
	if compared.Refused != "" {
		fmt.Fprintf(p.stdout, "school %d: there is no index to compare; the database answers its lists: %s\n",
			school.ID, compared.Refused)
		return nil
	}
	for _, difference := range compared.Differences {
		fmt.Fprintf(p.stdout, "school %d: %s\n", school.ID, difference)
	}
	if len(compared.Differences) > 0 {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: damaged,
			Detail: fmt.Sprintf("the index of school %d differs from the database; keep its file in the index folder for "+
				"analysis, and start the server with another --index-folder, where the index is rebuilt",
				school.ID),
		}
	}
	fmt.Fprintf(p.stdout, "school %d: the index agrees with every sale and every total, and takes %d kB of memory\n",
		school.ID, kilobytes(compared.Bytes))
	return nil
}

// checkFiles compares the uploads of all schools with the stored files.
func (c *checkCommand) checkFiles(p *program, store lyceum.Store) error {
	kept, err := c.store(&c.database)
	if err != nil {
		return err
	}
	lessons := learning.New(store, p.clock).KeepFiles(kept)
	bar := newProgress(p, "comparing files", 0, "files")
	checked, err := lessons.CheckFiles(p.ctx, c.Deep, func(files int64) { bar.set(files) })
	bar.finish()
	if err != nil {
		return err
	}
	for _, f := range checked.Wrong {
		fmt.Fprintf(p.stdout, "school %d: %s\n", f.School, f.What)
	}
	if checked.Orphans > 0 {
		fmt.Fprintf(p.stdout, "%s of %d kB without an upload in this database, such as %s\n",
			several(checked.Orphans, "file"), kilobytes(checked.OrphanBytes), checked.Orphan)
	}
	if wrong := len(checked.Wrong); wrong > 0 {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: damaged,
			Detail: several(wrong, "problem") + " found with uploaded files; put copies of them in their place",
		}
	}
	if checked.Files > 0 {
		fmt.Fprintf(p.stdout, "%s, all in order\n", several(checked.Files, "uploaded file"))
	}
	return nil
}

// kilobytes converts bytes to kilobytes, rounding up.
func kilobytes(bytes int64) int64 { return (bytes + 1<<10 - 1) >> 10 }
