package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/mirror"
)

type mirrorCommand struct {
	database     `embed:""`
	fileSettings `embed:""`
	inSchool     `embed:""`

	From         string `help:"Address of the other server, such as https://school.example.com." required:"" placeholder:"URL"`
	APIKeyFile   string `name:"api-key-file" help:"File with an API key of the other school." required:"" placeholder:"FILE"`
	State        string `help:"File that remembers the progress of the copy. (default: mirror-school-N.json in the data folder, or here with a database URL)" placeholder:"FILE"`
	AllowLastIDs bool   `name:"allow-last-ids" help:"Accept ids above 2147000000. Once the last one, 2147483647, is in use, nothing new can be created."`
	Parallel     int    `help:"Concurrent requests." default:"4"`

	DownloadFiles bool     `help:"Also download the files of lectures and the pictures of courses, from the other server only." group:"Files:"`
	FileOrigins   []string `help:"Other origins to download them from." placeholder:"https://HOST" group:"Files:"`
	BaseURL       string   `help:"Public address of the copy's API; the addresses of downloaded files begin with it." placeholder:"URL" group:"Files:"`
}

// Help implements kong's help for the command.
func (mirrorCommand) Help() string {
	return `Examples:
  lyceum mirror --from https://school.example.com --api-key-file key.txt --school 1
  lyceum mirror --from https://school.example.com --api-key-file key.txt --download-files \
    --base-url https://copy.example.com

Uses only the public operations and waits when the other server's rate limit is exhausted. Repeat the same command
to resume an interrupted copy, or to update a finished one. Create the school first, ideally with the email address
of the other school's owner: lyceum school create.

Version 1 does not expose when users were created, when enrollments ended, pricing plans without a course, or quiz
responses before the latest. Webhooks are copied for reference only; nothing is sent to them.

With --download-files, a file is downloaded if it is on the other server or at one of --file-origins; all others stay
links. Redirects are not followed, and the API key is not sent with these requests. An interrupted download
continues, and a completed one is not repeated.`
}

// Run copies the school.
func (c *mirrorCommand) Run(p *program) (err error) {
	key, err := secretFile("--api-key-file", c.APIKeyFile)
	if err != nil {
		return err
	}
	if c.Parallel < 1 || c.Parallel > 64 {
		return lyceum.InvalidFields(lyceum.FieldError{Field: "--parallel", Message: "must be from 1 to 64"})
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
	file := c.stateFile(school)
	state, err := readState(file)
	if err != nil {
		return err
	}
	i := newImporter(p, store, school)
	downloads, err := c.downloads(p, i)
	if err != nil {
		return err
	}
	var bar *progress
	phase := ""
	result, err := mirror.Run(p.ctx, mirror.Options{
		From: strings.TrimRight(c.From, "/"), Key: key, School: school, Store: store,
		People: i.people, Learning: i.learning, Sales: i.sales, Events: i.events, Clock: p.clock, Parallel: c.Parallel,
		LastIDs: c.AllowLastIDs, Files: downloads,
		State: state, Keep: func(s mirror.State) error { return writeState(file, s) },
		Resume: func(s mirror.State) {
			if s.Phase == "" {
				fmt.Fprintf(p.stderr, "starting over: %s was written for another database, or the database was restored "+
					"since\n", file)
				return
			}
			fmt.Fprintf(p.stderr, "resuming with the %s, as recorded in %s\n", s.Phase, file)
		},
		Progress: func(at string, rows int) {
			if at != phase {
				bar.finish()
				phase, bar = at, newProgress(p, "copying "+at, 0, "rows")
			}
			bar.set(int64(rows))
		},
		Problem: func(text string) { fmt.Fprintln(p.stderr, text) },
	})
	bar.finish()
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the state away: %w", err)
	}
	fmt.Fprintf(p.stdout, "%s read: %d created, %d updated, %d unchanged, %d refused\n",
		several(result.Saved.Total()+result.Problems, "row"), result.Saved.Created, result.Saved.Updated,
		result.Saved.Unchanged, result.Problems)
	if result.Problems > 0 {
		return errReported
	}
	return nil
}

// downloads returns which files are downloaded, or nil for none.
func (c *mirrorCommand) downloads(p *program, i *importer) (*mirror.Files, error) {
	if !c.DownloadFiles {
		if len(c.FileOrigins) > 0 {
			return nil, lyceum.Invalidf("--file-origins says where files are downloaded from; use it with --download-files")
		}
		return nil, nil //nolint:nilnil // no files are mirrored
	}
	if wrong := webAddress("--base-url", c.BaseURL); len(wrong) > 0 {
		return nil, lyceum.InvalidFields(wrong...)
	}
	kept, err := c.store(&c.database)
	if err != nil {
		return nil, err
	}
	i.learning.KeepFiles(kept)
	bar, read := newProgress(p, "downloading files", 0, "MiB"), int64(0)
	return &mirror.Files{
		Base: strings.TrimRight(c.BaseURL, "/"), Origins: c.FileOrigins,
		Read: func(bytes int64) {
			read += bytes
			bar.set(read >> 20)
		},
	}, nil
}

func (c *mirrorCommand) stateFile(school lyceum.SchoolID) string {
	if c.State != "" {
		return c.State
	}
	name := fmt.Sprintf("mirror-school-%d.json", school)
	if c.DatabaseURL != "" || c.DatabaseURLFile != "" {
		return name
	}
	return filepath.Join(c.Data, name)
}

func readState(file string) (mirror.State, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return mirror.State{}, &lyceum.Error{
			Kind: lyceum.Invalid, Detail: "the state file " + file + " cannot be read", Err: err,
		}
	}
	return mirror.ReadState(text)
}

// writeState replaces the state file atomically, because another mirror may be writing it, too.
func writeState(file string, s mirror.State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := replaceFile(file, text); err != nil {
		return &lyceum.Error{
			Kind: lyceum.Unavailable,
			Detail: "the state file " + file + " cannot be written; choose another one with --state, in a folder that " +
				"exists and is writable",
			Err: err,
		}
	}
	return nil
}
