package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type importCommand struct {
	database     `embed:""`
	fileSettings `embed:""`
	inSchool     `embed:""`

	Kind          string `arg:"" enum:"${row_kinds}" help:"Kind of rows in the file: ${row_kinds_listed}."`
	File          string `arg:"" help:"CSV, JSON Lines, or lists as the API returns them, optionally gzipped; - for standard input."`
	DryRun        bool   `help:"Check the file without changing anything."`
	OnError       string `help:"stop: import nothing unless every row is valid; skip: import the valid rows." enum:"stop,skip" default:"stop"`
	AllowLastIDs  bool   `name:"allow-last-ids" help:"Accept ids above 2147000000. Once the last one, 2147483647, is in use, nothing new can be created."`
	CreateMissing bool   `help:"Create users, pricing plans and courses that are referenced but missing."`
	Files         string `help:"Folder with the files that the rows of uploads name." placeholder:"DIR"`
	BaseURL       string `help:"Public address of the API, for rows with links to uploaded files: the links then lead to this school." placeholder:"URL"`

	rewrite func(text []byte) ([]byte, error)
}

// batchSize is how many rows share a write: enough to write each page of an index once for
// several rows, few enough not to keep others waiting for long.
const batchSize = 10000

// importCache and importReadCache are how many KiB of a SQLite file the connections of an
// import cache. An import reads little but ids, and uses most pages of an index only once per
// batch, so a larger cache costs memory and saves little time.
const (
	importCache     = 12 << 10
	importReadCache = 2 << 10
)

// importPatience is how long a batch waits for its turn, and then again how long it may take.
// Nobody is waiting for a response, and a busy machine is no reason to give up.
const importPatience = time.Minute

// importActor is the actor of an import in the journal.
const importActor = "import"

// Help implements kong's help for the command.
func (importCommand) Help() string {
	return `Examples:
  lyceum import users users.csv
  lyceum import transactions sales.jsonl.gz --create-missing
  lyceum import transactions sales.csv --dry-run
  lyceum import uploads uploads.csv --files ./files
  lyceum import courses courses.csv --base-url https://school.example.com

Ids are kept. A row with a known id is updated, so importing the same file twice changes nothing, and an
interrupted import is finished by repeating it. Every invalid row is reported with line, column and reason;
--on-error decides whether the valid rows are imported. Import a whole school in the order of the kinds above, so
that rows exist before others refer to them.`
}

// Run imports the file.
func (c *importCommand) Run(p *program) (err error) {
	if err := c.exists(); err != nil {
		return err
	}
	store, err := c.openWith(p, sqlstore.Options{
		Log: p.log, Cache: importCache, ReadCache: importReadCache, Patience: importPatience,
	})
	if err != nil {
		return err
	}
	defer closing(store, &err)
	school, err := c.find(p.ctx, store)
	if err != nil {
		return err
	}
	i := newImporter(p, store, school)
	i.beside = c.Files
	if c.CreateMissing {
		i.missing = lyceum.CreateMissing
	}
	if i.kept, err = c.filesFor(c.Kind, c.Files, &c.database); err != nil {
		return err
	}
	if c.BaseURL != "" {
		if wrong := webAddress("--base-url", c.BaseURL); len(wrong) > 0 {
			return lyceum.InvalidFields(wrong...)
		}
		c.rewrite = i.leadHere(strings.TrimRight(c.BaseURL, "/"))
	}
	return kindNamed(c.Kind).take(i, c)
}

func importRows[T any](p *program, c *importCommand, kind intake.Kind[T], sink intake.Sink[T]) error {
	path, discard, err := c.path(p)
	if err != nil {
		return err
	}
	defer discard()
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	var bar *progress
	var phase intake.Phase
	options := intake.Options{
		DryRun: c.DryRun, BatchSize: batchSize, LastIDs: c.AllowLastIDs, Rewrite: c.rewrite, JSON: jsonNamed(c.File),
		Progress: func(at intake.Progress) {
			if phase != at.Phase {
				bar.finish()
				phase, bar = at.Phase, newProgress(p, string(at.Phase), size, kind.String())
			}
			bar.setRows(int64(at.Rows), at.Bytes)
		},
		Problem: func(problem intake.Problem) {
			fmt.Fprintln(p.stderr, problemLine(problem))
		},
	}
	if c.Files != "" {
		options.BatchSize = 1 // a row can take as long as a large file
	}
	if c.OnError == "skip" {
		options.OnError = intake.Skip
	}
	result, err := intake.Import(p.ctx, func() (io.ReadCloser, error) { return os.Open(path) }, kind, sink, options)
	bar.finish()
	if len(result.Ignored) > 0 {
		fmt.Fprintf(p.stderr, "ignored columns: %s\n", strings.Join(result.Ignored, ", "))
	}
	if err != nil {
		return err
	}
	if c.DryRun {
		fmt.Fprintf(p.stdout, "%d %s read, %d good, %d bad; nothing was changed (--dry-run)\n",
			result.Rows, kind, result.Rows-result.Bad, result.Bad)
		if result.Bad > 0 {
			return errReported
		}
		return nil
	}
	fmt.Fprintf(p.stdout, "%d %s read: %d created, %d updated, %d unchanged, %d bad\n",
		result.Rows, kind, result.Saved.Created, result.Saved.Updated, result.Saved.Unchanged, result.Bad)
	return nil
}

// jsonNamed reports whether a file's name says that it is JSON Lines.
func jsonNamed(file string) bool {
	name := strings.TrimSuffix(strings.ToLower(file), ".gz")
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

// path returns the file to read. Input that can only be read once, such as standard input or a
// pipe, is copied to a file first, because a file that must be valid as a whole is read twice.
func (c *importCommand) path(p *program) (path string, discard func(), err error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(p.stdin), nil }
	if c.File != "-" {
		info, err := os.Stat(c.File)
		if err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			return "", nil, &lyceum.Error{
				Kind:   lyceum.NotFound,
				Detail: "the file " + c.File + " cannot be read; use the path of a CSV or JSON file, or - for standard input",
				Err:    err,
			}
		}
		if info.Mode().IsRegular() {
			return c.File, func() {}, nil
		}
		open = func() (io.ReadCloser, error) { return os.Open(c.File) }
	}
	return keepInput(p, open)
}

// keepInput copies input that can only be read once to a file.
func keepInput(p *program, open func() (io.ReadCloser, error)) (path string, discard func(), err error) {
	file, err := os.CreateTemp("", "lyceum-import-")
	if err != nil {
		return "", nil, inputNotKept(err)
	}
	discard = func() { _ = os.Remove(file.Name()) }
	copied := make(chan error, 1)
	go func() { // opening and reading a pipe cannot be canceled; that ends with the program
		input, err := open()
		if err == nil {
			_, err = io.Copy(file, input)
			err = errors.Join(err, input.Close())
		}
		copied <- errors.Join(err, file.Close())
	}()
	select {
	case err = <-copied:
	case <-p.ctx.Done():
		err = p.ctx.Err()
	}
	if err != nil {
		discard()
		if failed, is := errors.AsType[*fs.PathError](err); is && failed.Path == file.Name() {
			return "", nil, inputNotKept(err)
		}
		return "", nil, fmt.Errorf("keep the input: %w", err)
	}
	return file.Name(), discard, nil
}

func inputNotKept(err error) error {
	return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: "the input cannot be kept in " + os.TempDir() +
		"; free some space there, or set TMPDIR to another folder"}
}

func problemLine(problem intake.Problem) string {
	line := fmt.Sprintf("line %d: ", problem.Line)
	if problem.Column != "" {
		line += problem.Column + " "
	}
	return line + problem.Message
}
