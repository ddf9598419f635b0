package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands returns what scripts can do besides running lyceum:
//
//	serve NAME PROGRAM ARGS…          start a server; sets BASE, ADDR and, for
//	                                  sandbox --json, KEY. Its output is in
//	                                  NAME.out and NAME.err
//	stopserver [-INT] NAME            end it; it must exit with 0
//	get [-h HEADER]… [-o FILE] [-until STATUS] [-contains PATTERN] [-each URL] [-ca FILE] URL
//	                                  print status, headers and body; -o writes
//	                                  the body to a file instead. -until and
//	                                  -contains repeat the request until they are
//	                                  met, each time requesting -each first
//	send [-contains PATTERN] METHOD PATH [BODY]
//	                                  send a request to BASE with KEY; print status
//	                                  and body; -contains repeats it until it is met
//	receive FILE                      start a receiver of webhooks at HOOK, which
//	                                  appends each message to a file, one per line
//	verified FILE SECRET N            wait until a file has N messages; the
//	                                  libraries of Standard Webhooks must verify them
//	field NAME PATH FILE              set a variable to a part of a file's JSON
//	waitlog FILE PATTERN              wait until a line of a growing file matches
//	curls FILE                        run the lines in a file that call curl
//	hidebase FROM TO                  copy a file, replacing the address with BASE
//	readenv NAME FILE                 set a variable to the text of a file
//	keys FILE                         print the keys of a file's one line of JSON
//	passalong FROM TO SCHOOL FORMAT   export every kind from a folder, import it
//	                                  into a school in another folder or in a
//	                                  database, twice, and compare what that
//	                                  exports
//	refused PATTERN ARGS…             lyceum must fail with a sentence
//	holddb DIR, freedb                use a database like a separate program
//	newerschema DIR                   give a database a later schema version
//	oldschool PLACE                   create a data folder, or fill an empty
//	                                  PostgreSQL database, like an older lyceum
//	damage FILE                       overwrite a section in the middle of it
//	selfsigned CERT KEY               create a certificate for 127.0.0.1
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	plain := func(command func(ts *testscript.TestScript, args []string)) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("! is not for this command")
			}
			command(ts, args)
		}
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"serve":       plain(scriptServe),
		"stopserver":  plain(scriptStopServer),
		"get":         plain(scriptGet),
		"send":        plain(scriptSend),
		"receive":     plain(scriptReceive),
		"verified":    plain(scriptVerified),
		"field":       plain(scriptField),
		"waitlog":     plain(scriptWaitLog),
		"curls":       plain(scriptCurls),
		"hidebase":    plain(scriptHideBase),
		"readenv":     plain(scriptReadEnv),
		"keys":        plain(scriptKeys),
		"passalong":   plain(scriptPassAlong),
		"refused":     plain(scriptRefused),
		"holddb":      plain(scriptHoldDB),
		"freedb":      plain(scriptFreeDB),
		"newerschema": plain(scriptNewerSchema),
		"oldschool":   plain(scriptOldSchool),
		"damage":      plain(scriptDamage),
		"selfsigned":  plain(scriptSelfSigned),
	}
}

// story is what the commands of one script share.
type story struct {
	env     []string
	servers map[string]*process
	held    *sql.DB
}

type storyKey struct{}

func setUpScript(env *testscript.Env) error {
	env.Setenv("GORACE", raceOptions)
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("ROOT", root) // for what the documentation says to run
	s := &story{env: slices.Clone(env.Vars), servers: map[string]*process{}}
	env.Values[storyKey{}] = s
	env.Defer(func() {
		for _, server := range s.servers {
			_, _ = server.signal(syscall.SIGKILL)
		}
		s.free()
	})
	return nil
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

func usage(ts *testscript.TestScript, right bool, text string) {
	if !right {
		ts.Fatalf("usage: %s", text)
	}
}

func scriptServe(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "serve NAME PROGRAM ARGS…")
	s, name := storyOf(ts), args[0]
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), s.env
	for suffix, stream := range map[string]*io.Writer{".out": &cmd.Stdout, ".err": &cmd.Stderr} {
		file, err := os.Create(ts.MkAbs(name + suffix))
		ts.Check(err)
		defer file.Close()
		*stream = file
	}
	server, err := launch(cmd)
	ts.Check(err)
	s.servers[name] = server
	base := ""
	await(func() bool {
		base = readiness(ts, name)
		return base != "" || !server.running()
	})
	if base == "" {
		ts.Fatalf("%q is not ready: %v\n%s", args, server.err, ts.ReadFile(name+".err"))
	}
	ts.Setenv("BASE", base)
	_, address, _ := strings.Cut(base, "//")
	ts.Setenv("ADDR", address)
}

var (
	openAt  = regexp.MustCompile(`(?s)A school is running at (\S+) .*Ctrl-C to stop.*\n$`)
	serving = regexp.MustCompile(`"msg":"serving","address":"([^"]+)".*\n`)
)

// readiness returns the address of a server once it has printed it: the sandbox on standard
// output, serve in its log.
func readiness(ts *testscript.TestScript, name string) string {
	out := ts.ReadFile(name + ".out")
	if line, found := strings.CutSuffix(out, "\n"); found && line[0] == '{' {
		var known credentials
		if err := json.Unmarshal([]byte(line), &known); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
		ts.Setenv("KEY", known.APIKey)
		return known.BaseURL
	}
	for text, pattern := range map[string]*regexp.Regexp{out: openAt, ts.ReadFile(name + ".err"): serving} {
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found[1]
		}
	}
	return ""
}

func scriptStopServer(ts *testscript.TestScript, args []string) {
	how := syscall.SIGTERM
	if len(args) == 2 && args[0] == "-INT" {
		how, args = syscall.SIGINT, args[1:]
	}
	usage(ts, len(args) == 1, "stopserver [-INT] NAME")
	server := storyOf(ts).servers[args[0]]
	if server == nil || !server.running() {
		ts.Fatalf("%s does not run", args[0])
	}
	status, err := server.signal(how)
	ts.Check(err)
	if status != 0 {
		ts.Fatalf("%s ended with %d\n%s", args[0], status, ts.ReadFile(args[0]+".err"))
	}
}

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func scriptGet(ts *testscript.TestScript, args []string) {
	var headers list
	flags := flag.NewFlagSet("get", flag.ContinueOnError)
	flags.Var(&headers, "h", "")
	output, until, ca := flags.String("o", "", ""), flags.Int("until", 0, ""), flags.String("ca", "", "")
	contains, each := flags.String("contains", "", ""), flags.String("each", "", "")
	ts.Check(flags.Parse(args))
	usage(ts, flags.NArg() == 1, "get [-h HEADER]… [-o FILE] [-until STATUS] [-contains PATTERN] [-each URL] [-ca FILE] URL")
	client := &http.Client{
		Timeout: patience, Transport: transport(ts, *ca),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	status, text, body := 0, "", []byte(nil)
	pattern, err := regexp.Compile("(?m)" + *contains)
	ts.Check(err)
	fetched := func() bool {
		if *each != "" {
			fetch(ts, client, *each, headers)
		}
		status, text, body = fetch(ts, client, flags.Arg(0), headers)
		return (*until == 0 || status == *until) && pattern.Match(body)
	}
	if *until == 0 && *contains == "" {
		fetched()
	} else if !await(fetched) {
		ts.Fatalf("%s answers %d and not %d with %q:\n%s", flags.Arg(0), status, *until, *contains, body)
	}
	if *output != "" {
		ts.Check(os.WriteFile(ts.MkAbs(*output), body, 0o600))
		body = nil
	}
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n", text, body)
}

func transport(ts *testscript.TestScript, ca string) *http.Transport {
	if ca == "" {
		return &http.Transport{}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(ts.ReadFile(ca))) {
		ts.Fatalf("%s is no certificate", ca)
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

// fetch returns the status, the status with the headers as text, and the body.
func fetch(ts *testscript.TestScript, client *http.Client, address string, headers []string) (int, string, []byte) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	ts.Check(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		if name == "Host" {
			request.Host = strings.TrimSpace(value)
		}
		request.Header.Set(name, strings.TrimSpace(value))
	}
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	text := response.Status + "\n"
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		text += name + ": " + strings.Join(response.Header[name], ", ") + "\n"
	}
	return response.StatusCode, text, body
}

var curlLine = regexp.MustCompile(`(?m)^\s*(curl -H '([^']*)' '([^']*)')$`)

// scriptCurls passes the lines to the shell, or sends the requests itself if curl is not
// installed.
func scriptCurls(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "curls FILE")
	_, missing := exec.LookPath("curl")
	for _, line := range curlLine.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		if missing != nil {
			status, _, body := fetch(ts, http.DefaultClient, line[3], []string{line[2]})
			if status != http.StatusOK {
				ts.Fatalf("%s answers %d: %s", line[3], status, body)
			}
			fmt.Fprintf(ts.Stdout(), "%s\n", body)
			continue
		}
		out, err := exec.Command("sh", "-c", line[1]+" --silent --show-error --fail-with-body").CombinedOutput()
		if err != nil {
			ts.Fatalf("%s: %v\n%s", line[1], err, out)
		}
		fmt.Fprintf(ts.Stdout(), "%s\n", out)
	}
}

func scriptHideBase(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "hidebase FROM TO")
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("BASE"), "BASE")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

func scriptReadEnv(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "readenv NAME FILE")
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

func scriptKeys(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "keys FILE")
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is not one line: %q", args[0], text)
	}
	ts.Check(printKeys(ts.Stdout(), json.NewDecoder(strings.NewReader(text)), ""))
}

// printKeys prints the keys of the next JSON value, in order, one per line.
func printKeys(w io.Writer, d *json.Decoder, under string) error {
	token, err := d.Token()
	if err != nil || token != json.Delim('{') {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s\n", under, key)
		if err := printKeys(w, d, fmt.Sprintf("%s%s.", under, key)); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// canary replaces every secret in the scripts; no message may contain it.
const canary = "canary"

func scriptRefused(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "refused PATTERN ARGS…")
	err := ts.Exec("lyceum", args[1:]...)
	failure := new(exec.ExitError)
	if !errors.As(err, &failure) || failure.ExitCode() != 1 {
		ts.Fatalf("%v, and not the exit status 1", err)
	}
	out, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	sentence, rest, _ := strings.Cut(stderr, "\n")
	if out != "" || !strings.HasPrefix(sentence, "lyceum: ") || rest != "" && (!strings.HasPrefix(rest, "  because: ") || strings.Count(rest, "\n") > 1) {
		ts.Fatalf("not one sentence:\n%s%s", out, stderr)
	}
	if !regexp.MustCompile(args[0]).MatchString(sentence) {
		ts.Fatalf("%q does not match %q", args[0], sentence)
	}
	for _, never := range []string{"panic", "goroutine ", canary} {
		if strings.Contains(stderr, never) {
			ts.Fatalf("%q is in\n%s", never, stderr)
		}
	}
}

func openDatabase(ts *testscript.TestScript, dir string) *sql.DB {
	path := filepath.Join(ts.MkAbs(dir), sqlstore.FileName)
	_, err := os.Stat(path)
	ts.Check(err)
	db, err := sql.Open("sqlite", "file:"+path)
	ts.Check(err)
	return db
}

func scriptHoldDB(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "holddb DIR")
	held := openDatabase(ts, args[0])
	storyOf(ts).held = held
	var n int
	ts.Check(held.QueryRowContext(context.Background(), "SELECT count(*) FROM schools").Scan(&n))
}

func scriptFreeDB(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 0, "freedb")
	storyOf(ts).free()
}

func (s *story) free() {
	if s.held != nil {
		_ = s.held.Close()
		s.held = nil
	}
}

func scriptNewerSchema(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "newerschema DIR")
	db := openDatabase(ts, args[0])
	defer db.Close()
	_, err := db.ExecContext(context.Background(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)")
	ts.Check(err)
}

func scriptOldSchool(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "oldschool PLACE")
	place := args[0]
	if !sqlstore.IsPostgres(place) {
		place = ts.MkAbs(place)
	}
	ts.Check(putOldSchool(place))
}

func scriptDamage(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "damage FILE")
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	defer file.Close()
	info, err := file.Stat()
	ts.Check(err)
	_, err = file.WriteAt(bytes.Repeat([]byte("damage"), 4096), info.Size()/2)
	ts.Check(err)
}

func scriptSelfSigned(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "selfsigned CERT KEY")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	for i, block := range []pem.Block{{Type: "CERTIFICATE", Bytes: certificate}, {Type: "PRIVATE KEY", Bytes: private}} {
		var text bytes.Buffer
		ts.Check(pem.Encode(&text, &block))
		ts.Check(os.WriteFile(ts.MkAbs(args[i]), text.Bytes(), 0o600))
	}
}

func scriptPassAlong(ts *testscript.TestScript, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: passalong FROM TO SCHOOL FORMAT")
	}
	from, to, school, format := []string{"--data", args[0]}, []string{"--data", args[1]}, args[2], args[3]
	if strings.HasPrefix(args[1], "postgres://") {
		to[0] = "--database-url"
	}
	run := func(args ...string) string {
		ts.Check(ts.Exec("lyceum", args...))
		return ts.ReadFile("stdout")
	}
	export := func(place []string, school, kind string) string {
		return run("export", kind, place[0], place[1], "--school", school, "--format", format)
	}
	for _, kind := range rowKinds {
		if kind.name == "uploads" { // TestFilesAreExportedAndImported covers their files
			continue
		}
		rows := export(from, "1", kind.name)
		if strings.Count(rows, "\n") < 2 {
			ts.Fatalf("there are no %s", kind.name)
		}
		file := ts.MkAbs(kind.name + "." + format)
		ts.Check(os.WriteFile(file, []byte(rows), 0o600))
		run("import", kind.name, file, to[0], to[1], "--school", school)
		if said := run("import", kind.name, file, to[0], to[1], "--school", school); !strings.Contains(said, " 0 created, 0 updated, ") {
			ts.Fatalf("a second time: %s", said)
		}
		if again := export(to, school, kind.name); again != rows {
			ts.Check(os.WriteFile(file+".again", []byte(again), 0o600))
			_ = ts.Exec("diff", file, file+".again")
			ts.Fatalf("%s came back otherwise", kind.name)
		}
	}
}
