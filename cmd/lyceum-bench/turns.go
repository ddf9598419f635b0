package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// turnConnections is how many connections of one school write the largest changes allowed.
	turnConnections = 30
	largeTags       = 100
	largeHook       = 99 // so that one more can be changed
)

// measureTurns measures how long POST /v1/users takes in one school while another school writes
// the largest changes allowed on many connections.
func measureTurns(ctx context.Context, s settings) error {
	fmt.Printf("## Turns\n\nOne connection creates users without a password in one school, while %d connections of "+
		"another school, which shares its writer, write the largest changes that they may. Rounds of %v, alternately; the "+
		"times of all %d rounds together.\n\n", turnConnections, s.duration, s.rounds)
	fmt.Print("| engine | concurrent load | its changes/s | POST /v1/users/s | p50 ms | p99 ms | slowest ms | " +
		"p99 / p99 alone |\n|---|---|---|---|---|---|---|---|\n")
	dir := filepath.Join(s.work, "turns")
	defer os.RemoveAll(dir)
	if err := measureTurnsOn(ctx, s, "sqlite", "--data", dir); err != nil {
		return err
	}
	if address := os.Getenv("LYCEUM_TEST_POSTGRES"); address != "" {
		if err := measureTurnsOn(ctx, s, "postgres", "--database-url", address); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// tenants are two schools of one server.
type tenants struct {
	server    *server
	few, many string // their API keys
	next      atomic.Int64
}

func measureTurnsOn(ctx context.Context, s settings, engine string, database ...string) error {
	t, err := s.tenants(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = t.server.stop() }()
	classes, err := t.classes()
	if err != nil {
		return err
	}
	took := make([][]time.Duration, len(classes))
	others := make([]int64, len(classes))
	for range s.rounds {
		for i, c := range classes {
			all, n, err := t.round(s.duration, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took[i], others[i] = append(took[i], all...), others[i]+n
		}
	}
	seconds := s.duration.Seconds() * float64(s.rounds)
	var alone float64
	for i, c := range classes {
		slices.Sort(took[i])
		n := len(took[i])
		at := func(place int) float64 { return took[i][place].Seconds() * 1e3 }
		if i == 0 {
			alone = at(n * 99 / 100)
		}
		fmt.Printf("| %s | %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.1f |\n",
			engine, c.name, float64(others[i])/seconds, float64(n)/seconds,
			at(n/2), at(n*99/100), at(n-1), at(n*99/100)/alone)
	}
	return nil
}

// tenants creates two schools, and serves them.
func (s settings) tenants(ctx context.Context, database []string) (*tenants, error) {
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(ctx, s.binary, append(args, database...)...)
		out, err := command.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("lyceum %s: %s", strings.Join(args, " "), failed.Stderr)
		}
		return strings.TrimSpace(string(out)), err
	}
	var schools []string
	for range 2 {
		out, err := run("school", "create", "--name", "Turns", "--owner-email", "owner@example.com")
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(out, "School "), ",")
		schools = append(schools, id)
	}
	var t tenants
	for _, key := range []struct {
		to     *string
		school string
	}{{&t.few, schools[0]}, {&t.many, schools[1]}} {
		var err error
		if *key.to, err = run(
			"apikey", "create", "--school", key.school, "--name", "bench", "--permissions", "read,write",
		); err != nil {
			return nil, err
		}
	}
	var err error
	t.server, err = s.serveOn(ctx, database)
	return &t, err
}

// serveOn serves a database without a rate limit.
func (s settings) serveOn(ctx context.Context, database []string) (*server, error) {
	key := filepath.Join(s.work, "secret.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"serve", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--secret-key-file", key, "--webhook-networks",
		"127.0.0.0/8", "--log-format", "json",
	}, database...)
	served := &server{command: exec.CommandContext(ctx, s.binary, args...)}
	served.command.Stderr = write
	err = served.command.Start()
	write.Close()
	if err != nil {
		return nil, err
	}
	log := bufio.NewScanner(read)
	if served.said.BaseURL = serving(log); served.said.BaseURL == "" {
		return nil, errors.Join(errors.New("lyceum serve tells no address"), served.stop())
	}
	go func() { serving(log); read.Close() }()
	base, err := url.Parse(served.said.BaseURL)
	if err != nil {
		return nil, errors.Join(err, served.stop())
	}
	served.address = base.Host
	return served, nil
}

// large is a class of large changes.
type large struct {
	name   string
	phrase func(n int64) []byte // nil for no changes
}

// classes returns the classes of large changes, after creating what they change.
func (t *tenants) classes() ([]large, error) {
	user, err := t.make("/v1/users", `{"email":"many@example.com"}`, "user", "id")
	if err != nil {
		return nil, err
	}
	var hook int
	for n := range largeHook {
		if hook, err = t.make(
			"/lyceum/v1/webhooks", fmt.Sprintf(`{"url":"https://127.0.0.1:9/%d","events":["User.updated"]}`, n), "webhook",
			"id",
		); err != nil {
			return nil, err
		}
	}
	var users []int
	for n := range turnConnections {
		id, err := t.make("/v1/users", fmt.Sprintf(`{"email":"many%d@example.com"}`, n), "user", "id")
		if err != nil {
			return nil, err
		}
		users = append(users, id)
	}
	tags := func(n int64) []byte {
		names := make([]string, largeTags)
		for i := range names {
			names[i] = fmt.Sprintf("%d of %d %s", i, n, strings.Repeat("x", 220))
		}
		text, err := json.Marshal(map[string]any{"tags": names})
		if err != nil {
			panic(err) // strings can always be encoded
		}
		return phrase(
			http.MethodPut, fmt.Sprintf("/lyceum/v1/users/%d/tags", users[n%int64(len(users))]), t.many, string(text),
		)
	}
	hooks := func(n int64) []byte {
		return phrase(
			http.MethodPatch, fmt.Sprintf("/lyceum/v1/webhooks/%d", hook), t.many,
			fmt.Sprintf(`{"url":"https://127.0.0.1:9/again/%d"}`, n),
		)
	}
	renames := func(n int64) []byte {
		return phrase(
			http.MethodPatch, fmt.Sprintf("/v1/users/%d", user), t.many,
			fmt.Sprintf(`{"name":"%d %s"}`, n, strings.Repeat("y", 200)),
		)
	}
	return []large{
		{"nothing", nil},
		{"100 other tags of a user", tags},
		{"a webhook among 100", hooks},
		{"a name, sent to 99 webhooks", renames},
		{"all of them", func(n int64) []byte { return []func(int64) []byte{tags, hooks, renames}[n%3](n) }},
	}, nil
}

// phrase renders a request with a JSON body.
func phrase(method, path, key, body string) []byte {
	return []byte(method + " " + path + " HTTP/1.1\r\nHost: bench\r\napiKey: " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// make creates something in the second school, and returns its id.
func (t *tenants) make(path, body string, in ...string) (int, error) {
	c, err := dial(t.server.address)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	status, text, err := c.do(phrase(http.MethodPost, path, t.many, body), true)
	if err != nil || status/100 != 2 {
		return 0, fmt.Errorf("POST %s: %d %s: %w", path, status, text, err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return 0, err
	}
	for _, name := range in {
		if object, ok := value.(map[string]any)[name]; ok { // version 1 has no envelope
			value = object
		}
	}
	id, ok := value.(float64)
	if !ok {
		return 0, fmt.Errorf("POST %s names no id: %s", path, text)
	}
	return int(id), nil
}

// round creates users for the given duration during large changes of the other school. It
// returns how long each took, and how many large changes were made.
func (t *tenants) round(duration time.Duration, c large) (took []time.Duration, others int64, err error) {
	end := time.Now().Add(duration)
	var made atomic.Int64
	var group sync.WaitGroup
	failures := make([]error, turnConnections)
	if c.phrase != nil {
		for n := range turnConnections {
			group.Go(func() {
				failures[n] = t.send(end, func() []byte { return c.phrase(t.next.Add(1)) }, func(time.Duration) { made.Add(1) })
			})
		}
	}
	err = t.send(end, func() []byte {
		return phrase(http.MethodPost, "/v1/users", t.few, fmt.Sprintf(`{"email":"few%d@example.com"}`, t.next.Add(1)))
	}, func(d time.Duration) { took = append(took, d) })
	group.Wait()
	if err = errors.Join(errors.Join(failures...), err); err == nil && len(took) == 0 {
		err = errors.New("no user was created")
	}
	return took, made.Load(), err
}

// send sends requests on one connection until the given time.
func (t *tenants) send(end time.Time, next func() []byte, done func(time.Duration)) error {
	c, err := dial(t.server.address)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for time.Now().Before(end) {
		request := next()
		begin := time.Now()
		status, _, err := c.do(request, false)
		if err != nil {
			return err
		}
		if status/100 != 2 {
			return fmt.Errorf("status %d", status)
		}
		done(time.Since(begin))
	}
	return nil
}
