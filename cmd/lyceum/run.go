package main

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/lyceum-school/lyceum"
	"golang.org/x/term"
)

// commands are the subcommands and global flags of lyceum.
type commands struct {
	Config    kong.ConfigFlag `help:"Read settings from a JSON file. Flags override LYCEUM_… variables, which override the file." placeholder:"FILE"`
	LogLevel  slog.Level      `help:"Minimum level of logged messages: debug, info, warn or error." default:"info"`
	LogFormat string          `help:"Format of the log on standard error: text, json, or auto (text on a terminal, otherwise json)." enum:"auto,text,json" default:"auto"`

	Sandbox    sandboxCommand     `cmd:"" help:"Start a disposable school with data, and print what a program needs to use it."`
	Serve      serveCommand       `cmd:"" help:"Serve the schools of a database."`
	School     schoolCommands     `cmd:"" help:"Create, list and change schools."`
	Apikey     apikeyCommands     `cmd:"" name:"apikey" help:"Create, list and revoke a school's API keys."`
	OAuthApp   oauthAppCommands   `cmd:"" name:"oauth-app" help:"Manage the apps that act for learners."`
	User       userCommands       `cmd:"" help:"Create password links; disable, enable and erase users."`
	Import     importCommand      `cmd:"" help:"Import rows from a CSV or JSON file."`
	Export     exportCommand      `cmd:"" help:"Export a school's rows as CSV or JSON Lines."`
	Mirror     mirrorCommand      `cmd:"" help:"Copy a school from any server that speaks version 1."`
	Listen     listenCommand      `cmd:"" help:"Forward a school's events to a program on this machine."`
	Backup     backupCommand      `cmd:"" help:"Copy the database and its uploaded files, even while they are in use, and verify the copy."`
	Prune      backupPruneCommand `cmd:"" name:"backup-prune" help:"Remove the files that no backup in a folder needs."`
	Restore    restoreCommand     `cmd:"" help:"Replace the database with a backup, and put its uploaded files back."`
	Move       moveCommand        `cmd:"" help:"Move a SQLite database to PostgreSQL."`
	Upgrade    upgradeCommand     `cmd:"" help:"Bring the database of an older lyceum up to date, after a backup."`
	Check      checkCommand       `cmd:"" help:"Verify the database's files and the consistency of its data."`
	Usage      usageCommand       `cmd:"" help:"Show how much disk space the data uses, and how long it is kept."`
	Files      filesCommands      `cmd:"" help:"Copy uploaded files to another place."`
	SecretKey  secretKeyCommands  `cmd:"" name:"secret-key" help:"Rotate, list and prune the server's secret keys."`
	ShowConfig showConfigCommand  `cmd:"" name:"config" help:"Print the settings serve would use, and where each comes from."`
	Version    versionCommand     `cmd:"" help:"Print the versions of lyceum and of the Go toolchain that built it."`
}

// program is the environment of a command.
type program struct {
	ctx    context.Context //nolint:containedctx // kong passes values; the context is the program's
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	clock  func() time.Time
	log    *slog.Logger
	kong   *kong.Context
}

// errReported ends the program with status 1 if the error has already been printed.
var errReported = errors.New("told already")

// exit is the panic value with which kong's request to exit, after --help, leaves its parser.
type exit int

// run is the whole program except for its process: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	return runBy(ctx, time.Now, args, stdin, stdout, stderr)
}

// runBy is run with a given clock.
func runBy(
	ctx context.Context, clock func() time.Time, args []string, stdin io.Reader, stdout, stderr io.Writer,
) (status int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			status = int(r)
		default:
			panic(r)
		}
	}()
	withoutEmptyVariables()
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("lyceum"),
		kong.Description("The back end of an online school: its sales ledger and the access other programs get to it.\n\n"+
			"First steps: lyceum sandbox"),
		rowKindVars(),
		kong.DefaultEnvars("LYCEUM"),
		kong.PostBuild(onlySettings),
		kong.Configuration(settingsFile),
		kong.TypeMapper(reflect.TypeFor[slog.Level](), textMapper("debug, info, warn or error")),
		kong.TypeMapper(reflect.TypeFor[netip.Prefix](), textMapper("a network such as 10.1.0.0/16")),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(stdout, stderr),
		kong.KindMapper(reflect.String, kong.MapperFunc(readText)),
		kong.Exit(func(code int) { panic(exit(code)) }),
	)
	if err != nil {
		return fail(stderr, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(withNegatives(args))
	if unread, is := errors.AsType[*fs.PathError](err); is && unread.Op != "write" { // not of --help
		return fail(stderr, &lyceum.Error{
			Kind: lyceum.Invalid,
			Detail: "the --config file cannot be read; it must be a JSON file with flag names as keys, such as {\"addr\": " +
				"\"127.0.0.1:9000\"}",
			Err: unread,
		})
	}
	if err != nil && negativeUnknown.MatchString(err.Error()) {
		return fail(stderr, lyceum.Invalidf("numbers of schools, keys, apps and users begin at 1; "+
			"there are no negative ones"))
	}
	if err != nil {
		return fail(
			stderr,
			fmt.Errorf("%s; see lyceum --help and lyceum COMMAND --help", withoutPasswords(err.Error())),
		)
	}
	if err := cmp.Or(emptyFlag(parsed), repeatedFlag(parsed)); err != nil {
		return fail(stderr, err)
	}
	out := &output{Writer: stdout}
	p := &program{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr, clock: clock, kong: parsed}
	p.log = newLog(stderr, cli.LogFormat, cli.LogLevel)
	if err := oneDatabase(p); err != nil {
		return fail(stderr, err)
	}
	if err = parsed.Run(p); err == nil {
		err = out.failure()
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = lyceum.Errorf(lyceum.Unavailable, "interrupted; repeat the command to finish the rest")
	}
	return fail(stderr, err)
}

// output is the standard output. It remembers the first error, so that a command need not check what
// it prints.
type output struct {
	io.Writer

	err error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// failure is the error of a command that did its work, but could not print all of its output.
func (o *output) failure() error {
	if o.err == nil {
		return nil
	}
	return &lyceum.Error{
		Kind: lyceum.Unavailable, Err: o.err, Detail: "standard output cannot be written, so part of the output is lost",
	}
}

// readText reads text from the command line or the environment. Kong itself would replace
// invalid UTF-8 with U+FFFD and store that.
func readText(ctx *kong.DecodeContext, target reflect.Value) error {
	if text, ok := ctx.Scan.Peek().Value.(string); ok && !lyceum.IsText(text) {
		return errors.New(lyceum.TextTaken)
	}
	return ctx.Scan.PopValueInto("text", target.Addr().Interface())
}

// withoutEmptyVariables unsets empty settings in the environment: they mean the same as none,
// but kong would treat them as values.
func withoutEmptyVariables() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); value == "" && strings.HasPrefix(name, "LYCEUM_") {
			_ = os.Unsetenv(name) // fails only for names that the environment cannot contain
		}
	}
}

// withNegatives joins a negative number to the flag before it; otherwise kong takes it for a
// separate flag.
func withNegatives(args []string) (tied []string) {
	for i, arg := range args {
		if i > 0 && negative.MatchString(arg) && flagAlone.MatchString(args[i-1]) {
			tied[len(tied)-1] += "=" + arg
		} else {
			tied = append(tied, arg)
		}
	}
	return tied
}

var (
	negative        = regexp.MustCompile(`^-[0-9]`)
	negativeUnknown = regexp.MustCompile(`^unknown flag -[0-9]`)
	flagAlone       = regexp.MustCompile(`^--[^=]+$`)
)

// emptyFlag rejects text that was given but is empty: someone who fills it in from an unset
// variable does not mean to leave it out. Required flags are checked by the commands
// themselves.
func emptyFlag(parsed *kong.Context) error {
	for _, step := range parsed.Path {
		if flag := step.Flag; flag != nil && !flag.Required && flag.Target.Kind() == reflect.String &&
			flag.Target.Len() == 0 {
			return lyceum.InvalidFields(lyceum.FieldError{
				Field: "--" + flag.Name, Message: "is empty; set a value, or leave it out",
			})
		}
	}
	return nil
}

// repeatedFlag rejects a flag that takes one value and was given several.
func repeatedFlag(parsed *kong.Context) error {
	given := map[*kong.Flag]bool{}
	for _, step := range parsed.Path {
		flag := step.Flag
		if flag == nil || step.Resolved || flag.IsBool() || flag.IsCumulative() {
			continue
		}
		if given[flag] {
			return lyceum.InvalidFields(lyceum.FieldError{
				Field: "--" + flag.Name, Message: "is given more than once; give it one value",
			})
		}
		given[flag] = true
	}
	return nil
}

// textMapper reads flags whose type is from the standard library, because those types' errors
// do not say what is accepted.
func textMapper(accepted string) kong.MapperFunc {
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("value", &text); err != nil {
			return err
		}
		if target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) != nil {
			return fmt.Errorf("must be %s but got %q", accepted, text)
		}
		return nil
	}
}

// fail prints what went wrong and returns the exit status. The public message is one sentence;
// its cause follows on a separate line.
func fail(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errReported) {
		return 1
	}
	e := lyceum.Public(err)
	if e.Kind == lyceum.Internal {
		fmt.Fprintln(stderr, "lyceum:", err)
		return 1
	}
	for _, sentence := range e.Sentences() {
		fmt.Fprintln(stderr, "lyceum:", sentence)
	}
	if e.Err != nil {
		lines := strings.FieldsFunc(e.Err.Error(), func(r rune) bool { return r == '\n' || r == '\t' })
		fmt.Fprintln(stderr, "  because:", withoutPasswords(strings.Join(lines, " ")))
	}
	if e.Code == damaged {
		return 2
	}
	return 1
}

// withoutPasswords removes user and password from URLs that a message repeats, such as a
// database's that was typed in the wrong place. A password may have a / or an @ in it.
func withoutPasswords(message string) string {
	return credentialsInAddress.ReplaceAllString(message, "://[redacted]@")
}

var credentialsInAddress = regexp.MustCompile(`://\S+@`)

func newLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" || format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
