package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

type exportCommand struct {
	database     `embed:""`
	fileSettings `embed:""`
	inSchool     `embed:""`

	Kind   string `arg:"" enum:"${row_kinds}" help:"What to write: ${row_kinds_listed}."`
	Output string `help:"File to write instead of standard output; gzipped if the name ends in .gz." placeholder:"FILE"`
	Files  string `help:"Folder to write the files of uploads to." placeholder:"DIR"`
	Format string `help:"csv or jsonl (JSON Lines)." enum:"csv,jsonl" default:"csv"`

	listFilter    `embed:"" group:"Transactions:"`
	createdWithin `embed:"" group:"Transactions:"`
	SortDirection string `help:"asc: oldest first; desc: newest first." enum:"asc,desc" default:"desc" group:"Transactions:"`
}

// Help implements kong's help for the command.
func (exportCommand) Help() string {
	return `Examples:
  lyceum export transactions --month 2026-03 --output march.csv
  lyceum export transactions --from 2026-01-01 --until 2026-03-31 --output q1.csv
  lyceum export users --format jsonl
  lyceum export uploads --output uploads.csv --files ./files

--month, --from and --until take whole days in the school's time zone, which lyceum school set changes. --start and
--end take points in time, as the API does.

The export is consistent as of one moment, however long it takes, and lyceum import reads it. In CSV, text that a
spreadsheet would run as a formula is prefixed with an apostrophe, which the import removes.`
}

// Run writes the rows.
func (c *exportCommand) Run(p *program) (err error) {
	filter, err := c.filter()
	if err != nil {
		return err
	}
	days, err := c.days()
	if err != nil {
		return err
	}
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	school, err := c.find(p.ctx, store)
	if err != nil {
		return err
	}
	if days != (dayRange{}) {
		if filter.Created, err = days.in(p.ctx, store, school); err != nil {
			return err
		}
	}
	i := newImporter(p, store, school)
	i.filter, i.beside = filter, c.Files
	if i.kept, err = c.filesFor(c.Kind, c.Files, &c.database); err != nil {
		return err
	}
	out, finish, err := c.output(p)
	if err != nil {
		return err
	}
	if c.SortDirection == "asc" {
		i.order = lyceum.OldestFirst
	}
	return finish(kindNamed(c.Kind).give(i, c, out))
}

func exportRows[T any](
	p *program, c *exportCommand, kind intake.Kind[T], out io.Writer, each func(func(*T) error) error,
) error {
	format := intake.CSV
	if c.Format == "jsonl" {
		format = intake.JSONLines
	}
	writer := intake.NewWriter(kind, out, format)
	bar := newProgress(p, "exporting", 0, kind.String())
	defer bar.finish()
	rows := int64(0)
	err := each(func(row *T) error {
		if rows++; rows%1000 == 0 {
			bar.set(rows)
		}
		return writer.Write(row)
	})
	if err != nil {
		return err
	}
	return writer.Flush()
}

// output opens the destination of the rows. A file gets its final name when it is complete;
// finish renames or discards it.
func (c *exportCommand) output(p *program) (io.Writer, func(error) error, error) {
	if c.Output == "" {
		return p.stdout, func(err error) error { return err }, nil
	}
	if info, err := os.Stat(c.Output); err == nil && !info.Mode().IsRegular() {
		return nil, nil, lyceum.Invalidf("%s is a folder or a device; --output takes a file name, and without it rows "+
			"go to standard output", c.Output)
	}
	release, err := lockPartial(c.Output)
	if err != nil {
		return nil, nil, err
	}
	partial := c.Output + ".partial"
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		release()
		return nil, nil, cannotWrite(c.Output, err)
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	var out io.Writer = buffered
	zipped := func() error { return nil }
	if strings.HasSuffix(c.Output, ".gz") {
		z := gzip.NewWriter(buffered)
		out, zipped = z, z.Close
	}
	return out, func(err error) error {
		defer release()
		failed := cmp.Or(zipped(), buffered.Flush()) // also if a row could not be written
		if err == nil && failed == nil {
			failed = file.Sync()
		}
		if failed = errors.Join(failed, file.Close()); err == nil && failed == nil {
			failed = os.Rename(partial, c.Output)
		}
		if failed != nil {
			err = cannotWrite(c.Output, failed)
		}
		if err != nil {
			_ = os.Remove(partial)
		}
		return err
	}, nil
}
