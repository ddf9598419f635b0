package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// oldPlace is where an older lyceum stores a school.
type oldPlace struct {
	engine   string
	database []string // its flags
	folder   string   // for backups
}

// measureUpgrade creates a school with an older lyceum, requests everything that version 1
// shows, upgrades the database, and compares that with what this lyceum shows.
func measureUpgrade(ctx context.Context, s settings) error {
	old, err := oldBinary(ctx, s.work, s.from)
	if err != nil {
		return err
	}
	for _, size := range s.sizes {
		place := oldPlace{"sqlite", []string{"--data", filepath.Join(s.work, "old-school")}, s.work}
		if err := upgradeOnce(ctx, s, old, place, size); err != nil {
			return err
		}
		if err := os.RemoveAll(place.database[1]); err != nil {
			return err
		}
		server := os.Getenv("LYCEUM_TEST_POSTGRES")
		if server == "" {
			continue
		}
		err := withDatabase(ctx, server, func(address string) error {
			return upgradeOnce(ctx, s, old, oldPlace{"postgres", []string{"--database-url", address}, s.work}, size)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withDatabase creates a PostgreSQL database, which is dropped afterwards.
func withDatabase(ctx context.Context, server string, do func(address string) error) error {
	db, err := sql.Open("pgx", server)
	if err != nil {
		return err
	}
	defer db.Close()
	address, err := url.Parse(server)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("lyceum_bench_%d", time.Now().UnixNano())
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	address.Path = "/" + name
	err = do(address.String())
	_, dropped := db.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
	return errors.Join(err, dropped)
}

func upgradeOnce(ctx context.Context, s settings, old string, place oldPlace, size int) error {
	before, token, key, err := oldSchool(ctx, s, old, place, size)
	if err != nil {
		return err
	}
	fmt.Printf("## Upgrade of %d sales from %s, %s\n\n", size, s.from, place.engine)
	dry, err := s.timed(ctx, append([]string{"upgrade", "--dry-run"}, place.database...)...)
	if err != nil {
		return err
	}
	args := append([]string{"upgrade"}, place.database...)
	if place.engine == "postgres" {
		backup := filepath.Join(place.folder, "before.dump")
		defer os.Remove(backup)
		args = append(args, "--backup", backup)
	}
	done, err := s.timed(ctx, args...)
	if err != nil {
		return err
	}
	checked, err := s.timed(ctx, append([]string{"check"}, place.database...)...)
	if err != nil {
		return err
	}
	if err := refuses(ctx, old, place); err != nil {
		return err
	}
	fmt.Printf("```text\n%s%s```\n\n| command | seconds |\n|---|---|\n", done.said, checked.said)
	for _, row := range []struct {
		command string
		of      result
	}{{"upgrade --dry-run", dry}, {"upgrade", done}, {"check", checked}} {
		fmt.Printf("| `lyceum %s` | %.1f |\n", row.command, row.of.took.Seconds())
	}
	fmt.Println()
	served, err := s.serveOn(ctx, place.database)
	if err != nil {
		return err
	}
	defer func() { _ = served.stop() }()
	after, err := crawled(served.address, key, token)
	if err != nil {
		return err
	}
	fmt.Printf("The older lyceum refuses the upgraded database. Of the learners of a course, the progress of the "+
		"first %d is compared.\n\n", progressOf)
	return compare(before, after).print()
}

// refuses fails unless the older lyceum rejects an upgraded database.
func refuses(ctx context.Context, old string, place oldPlace) error {
	const says = "only knows versions up to"
	err := runIn(ctx, ".", old, append([]string{"check"}, place.database...)...)
	ended, is := errors.AsType[*exec.ExitError](err)
	if !is || ended.ExitCode() != 1 || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("the older lyceum should refuse the upgraded database with %q: %w", says, err)
	}
	return nil
}

// oldSchool creates a school with an older lyceum, with histories of every kind, and returns
// everything that version 1 shows.
func oldSchool(
	ctx context.Context, s settings, old string, place oldPlace, size int,
) (before map[string][]byte, token, key string, err error) {
	args := append([]string{
		"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--transactions", strconv.Itoa(size),
		"--seed", strconv.FormatUint(s.seed, 10),
	}, place.database...)
	sandbox, err := start(ctx, old, args...)
	if err != nil {
		return nil, "", "", err
	}
	fail := func(err error) (map[string][]byte, string, string, error) {
		return nil, "", "", errors.Join(err, sandbox.stop())
	}
	if err := importOld(ctx, s, old, place); err != nil {
		return fail(err)
	}
	shop, err := newShopper(ctx, sandbox)
	if err != nil {
		return fail(err)
	}
	if err := shop.live(); err != nil {
		return fail(err)
	}
	if token, err = learnerToken(ctx, sandbox); err != nil {
		return fail(err)
	}
	if before, err = crawled(sandbox.address, sandbox.key, token); err != nil {
		return fail(err)
	}
	if err := sandbox.stop(); err != nil {
		return nil, "", "", err
	}
	return before, token, sandbox.key, s.fixture(ctx, old, place)
}

// crawled requests everything that version 1 shows from a server.
func crawled(address, key, token string) (map[string][]byte, error) {
	connection, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer connection.conn.Close()
	c := &crawl{client: connection, key: key, token: token, address: address, responses: map[string][]byte{}}
	return c.responses, c.everything()
}

// result is the result of a command: how long it took, and what it printed.
type result struct {
	took time.Duration
	said string
}

func (s settings) timed(ctx context.Context, args ...string) (result, error) {
	c := exec.CommandContext(ctx, s.binary, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	begin := time.Now()
	if err := c.Run(); err != nil {
		return result{}, fmt.Errorf("lyceum %s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return result{time.Since(begin), out.String()}, nil
}

// fixture stores the older lyceum's database for a test, along with its exports, if that is
// wanted.
func (s settings) fixture(ctx context.Context, old string, place oldPlace) error {
	if s.fixtures == "" {
		return nil
	}
	for _, kind := range []string{"enrollments", "users"} {
		file := filepath.Join(s.fixtures, kind+"."+place.engine+".csv")
		_ = os.Remove(file)
		args := append([]string{"export", kind, "--output", file}, place.database...)
		if err := runIn(ctx, ".", old, args...); err != nil {
			return err
		}
	}
	if place.engine == "postgres" {
		return runIn(ctx, ".", "pg_dump", "--format=custom", "--compress=9", "--no-owner",
			"--file="+filepath.Join(s.fixtures, "school.dump"), "--dbname="+place.database[1])
	}
	backup := filepath.Join(s.work, "fixture.db")
	defer os.Remove(backup)
	if err := runIn(ctx, ".", old, append([]string{"backup", backup}, place.database...)...); err != nil {
		return err
	}
	return compress(backup, filepath.Join(s.fixtures, "school.db.gz"))
}

func compress(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(target, gzip.BestCompression)
	if err != nil {
		return errors.Join(err, target.Close())
	}
	_, err = io.Copy(packed, source)
	return errors.Join(err, packed.Close(), target.Close())
}
