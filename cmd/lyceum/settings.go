package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// settings are the settings of a --config file, keyed by the flags' names, such as {"addr":
// "127.0.0.1:9000"}.
type settings map[string]json.RawMessage

func settingsFile(r io.Reader) (kong.Resolver, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var s settings
	err = json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &s) // without a byte order mark
	if wrong, is := errors.AsType[*json.SyntaxError](err); is {
		return nil, lyceum.Invalidf("the settings file is not valid JSON: %v after %d bytes", wrong, wrong.Offset)
	}
	if err != nil || s == nil {
		return nil, lyceum.Invalidf("the settings file must be one JSON object with flag names as keys, such as " +
			"{\"addr\": \"127.0.0.1:9000\"}")
	}
	return s, nil
}

// onlySettings removes the variables of flags that say what to do this time, such as the --name of a
// new key. The others are the flags of the programs that keep running, and --school.
func onlySettings(k *kong.Kong) error {
	setting := map[string]bool{"school": true}
	for _, flag := range k.Model.Flags {
		setting[flag.Name] = true
	}
	for _, command := range k.Model.Children {
		if !slices.Contains([]string{"serve", "sandbox", "listen"}, command.Name) {
			continue
		}
		for _, flag := range command.Flags {
			setting[flag.Name] = true
		}
	}
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && !setting[flag.Name] {
			flag.Envs, flag.Tag.Envs = nil, nil
		}
		return next(nil)
	})
}

// Validate implements kong.Resolver. One file may be for several commands, so a name must be a
// setting of any of them.
func (s settings) Validate(app *kong.Application) error {
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && len(flag.Envs) > 0 {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if !known[name] {
			return lyceum.Invalidf("the settings file has %q, which is not a setting of any command; see lyceum COMMAND --help",
				name)
		}
	}
	return err
}

// Resolve implements kong.Resolver. Settings in the environment take precedence.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil //nolint:nilnil // kong's way to leave the value unset
		}
	}
	value, there := s[flag.Name]
	if !there || string(value) == "null" {
		return nil, nil //nolint:nilnil // kong's way to leave the value unset
	}
	return settingText(value, flag.Target.Type())
}

// settingText returns a setting as it would be typed after its flag.
func settingText(value json.RawMessage, of reflect.Type) (string, error) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var text string
	var list []string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text, nil
	case of.Kind() == reflect.String:
		return "", errors.New("must be a quoted string in the settings file")
	case of.Kind() == reflect.Slice && json.Unmarshal(value, &list) == nil:
		return strings.Join(list, ","), nil
	case of.Kind() == reflect.Slice:
		return "", errors.New("must be a string or a list of strings in the settings file")
	case value[0] == '[' || value[0] == '{':
		return "", errors.New("must be a string, a number, true or false in the settings file")
	}
	return string(value), nil
}

// database says where the schools are stored.
type database struct {
	Data            string `help:"Folder of the SQLite database, and of uploaded files." default:"./lyceum-data" placeholder:"DIR"`
	DatabaseURL     string `help:"PostgreSQL database, instead of --data." placeholder:"postgres://…" xor:"database"`
	DatabaseURLFile string `help:"File with the PostgreSQL URL, to keep the password out of the process list." placeholder:"FILE" xor:"database"`
}

// oneDatabase rejects a folder that was given as a flag if a variable or the settings file names a
// PostgreSQL database, which the command would use instead. A server has a folder for uploaded files with
// PostgreSQL, too.
func oneDatabase(p *program) error {
	folder, other := false, ""
	for _, flag := range p.kong.Flags() {
		source := sourceOf(p, flag)
		switch url := strings.HasPrefix(flag.Name, "database-url"); {
		case flag.Name == "data":
			folder = source == "flag"
		case url && source == "environment":
			other = flag.Envs[0]
		case url && source == "file":
			other = flag.Name + " in the settings file"
		}
	}
	if !folder || other == "" || p.kong.Selected().Name == "serve" {
		return nil
	}
	return lyceum.Invalidf("--data is a folder, but %s names a PostgreSQL database; remove that, or if --data is only "+
		"the folder of uploaded files, also use --database-url or --database-url-file", other)
}

// address returns the PostgreSQL URL, or "" for SQLite.
func (d *database) address() (string, error) {
	if sqlstore.IsPostgres(d.Data) {
		return "", lyceum.Invalidf("--data must be a folder; use --database-url for a PostgreSQL database")
	}
	address := d.DatabaseURL
	if d.DatabaseURLFile != "" {
		var err error
		if address, err = secretFile("--database-url-file", d.DatabaseURLFile); err != nil {
			return "", err
		}
	}
	if address != "" && !sqlstore.IsPostgres(address) {
		return "", lyceum.Invalidf("--database-url must begin with postgres://; for SQLite use --data")
	}
	return address, nil
}

// folder returns the data folder, or "" for PostgreSQL.
func (d *database) folder() string {
	if d.DatabaseURL != "" || d.DatabaseURLFile != "" {
		return ""
	}
	return d.Data
}

// create is open for a command that may create a new database; see mayCreate.
func (d *database) create(p *program) (*sqlstore.Store, error) {
	if dir := d.folder(); dir != "" {
		if err := mayCreate(dir, ""); err != nil {
			return nil, err
		}
	}
	return d.open(p)
}

// open opens the database, and creates it if it does not exist.
func (d *database) open(p *program) (*sqlstore.Store, error) {
	return d.openWith(p, sqlstore.Options{Log: p.log})
}

func (d *database) openWith(p *program, options sqlstore.Options) (*sqlstore.Store, error) {
	address, err := d.address()
	if err != nil {
		return nil, err
	}
	if address == "" {
		return sqlstore.Open(p.ctx, d.Data, options)
	}
	store, err := sqlstore.OpenPostgres(p.ctx, address, options)
	if err != nil {
		return nil, err
	}
	shared, err := store.Clock(p.ctx, p.clock)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	p.clock = shared // whatever this machine's clock shows
	return store, nil
}

// lock makes this process the only server of a SQLite database, and rejects a folder in which
// it must not create one; given is a file that may be there. PostgreSQL may have several
// servers, so it is not locked.
func (d *database) lock(given string) (release func(), err error) {
	if address, err := d.address(); err != nil || address != "" {
		return func() {}, err
	}
	refused := mayCreate(d.Data, given)
	if err := os.MkdirAll(d.Data, 0o700); err != nil {
		return nil, &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: "the data folder " + d.Data + " cannot be created; choose another one with --data",
			Err: err,
		}
	}
	if release, err = lockFolder(d.Data); err == nil && refused != nil {
		release()
		return nil, refused
	}
	return release, err
}

// existing is open for a command that must not create a database.
func (d *database) existing(p *program) (*sqlstore.Store, error) {
	if err := d.exists(); err != nil {
		return nil, err
	}
	return d.open(p)
}

// exists rejects a data folder without a database.
func (d *database) exists() error {
	address, err := d.address()
	if err != nil || address != "" {
		return err
	}
	if !hasDatabase(d.Data) {
		return lyceum.Errorf(lyceum.NotFound, "there is no database in %s; set its folder with --data, or create "+
			"one with lyceum school create", d.Data)
	}
	return nil
}

// secretFile reads a secret from a file, without a line end after it.
func secretFile(flag, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", &lyceum.Error{Kind: lyceum.Invalid, Detail: "the file given with " + flag + " cannot be read", Err: err}
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case strings.TrimSpace(secret) == "":
		return "", lyceum.Invalidf("the file given with %s is empty; it must have one line of text", flag)
	case strings.ContainsFunc(secret, unicode.IsControl):
		return "", lyceum.Invalidf("the file given with %s must have one line of text and no control characters", flag)
	}
	return secret, nil
}

// webAddress returns what is wrong with the address of a site, to which paths will be appended.
func webAddress(flag, address string) []lyceum.FieldError {
	site, err := url.Parse(address)
	web := strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
	if err == nil && web && site.Hostname() != "" && site.User == nil && !strings.ContainsAny(address, "?#") {
		return nil
	}
	return []lyceum.FieldError{{
		Field:   flag,
		Message: "must be a URL such as https://school.example.com, without user, query or fragment",
	}}
}

// pagesAddress returns what is wrong with the address of the pages, which must be at its root.
func pagesAddress(flag, address string) []lyceum.FieldError {
	wrong := webAddress(flag, address)
	if site, err := url.Parse(address); wrong == nil && err == nil && strings.Trim(site.Path, "/") != "" {
		wrong = []lyceum.FieldError{{
			Field: flag, Message: "must have no path: the pages are at the root of their address, such as " +
				site.Scheme + "://" + site.Host,
		}}
	}
	return wrong
}

// inSchool selects the school that a command acts in.
type inSchool struct {
	School *lyceum.SchoolID `help:"School number; optional when there is only one." placeholder:"N"`
}

// find returns the selected school, or the only one.
func (s *inSchool) find(ctx context.Context, store lyceum.Store) (lyceum.SchoolID, error) {
	if s.School != nil {
		if *s.School < 1 {
			return 0, lyceum.InvalidFields(lyceum.FieldError{
				Field: "--school", Message: "must be 1 or more; lyceum school list shows the numbers",
			})
		}
		school, err := store.In(ctx, *s.School).GetSchool()
		return school.ID, err
	}
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return 0, err
	}
	switch len(schools) {
	case 1:
		return schools[0].ID, nil
	case 0:
		return 0, lyceum.Errorf(lyceum.NotFound, "there is no school yet; create one with lyceum school create")
	}
	return 0, lyceum.Invalidf("there are %d schools; choose one with --school (see lyceum school list)",
		len(schools))
}

// by returns the command as the actor in the school that find returns.
func (s *inSchool) by(ctx context.Context, store lyceum.Store) (lyceum.By, error) {
	school, err := s.find(ctx, store)
	return lyceum.By{School: school, Actor: actor}, err
}

// closing closes a store and keeps the first error.
func closing(store io.Closer, err *error) {
	if closeErr := store.Close(); *err == nil && closeErr != nil {
		*err = fmt.Errorf("close the database: %w", closeErr)
	}
}
