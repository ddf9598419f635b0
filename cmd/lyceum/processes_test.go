package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"golang.org/x/crypto/argon2"
)

// childAstray is lyceum on a machine whose clock is wrong by its first argument.
func childAstray(args []string) error {
	off, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	clock := func() time.Time { return time.Now().Add(off) }
	if status := runBy(ctx, clock, args[1:], os.Stdin, os.Stdout, os.Stderr); status != 0 {
		return fmt.Errorf("exit status %d", status)
	}
	return nil
}

// cluster is a database that is served by several processes whose clocks are wrong.
type cluster struct {
	place  string
	store  lyceum.Store
	keys   *access.Keys
	limit  int
	bases  []string
	served []*process
	client *http.Client
}

func newCluster(t *testing.T, processes, limit int) *cluster {
	t.Helper()
	c := &cluster{place: storetest.Postgres(t), limit: limit, client: &http.Client{
		Transport:     &http.Transport{MaxConnsPerHost: 100, MaxIdleConnsPerHost: 100},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	secret := filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(secret, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.OpenPostgres(t.Context(), c.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.store = salesindex.Over(store, salesindex.Options{})
	t.Cleanup(func() { _ = c.store.Close() })
	c.keys = access.NewKeys(c.store, time.Now)
	offs := []string{"1m", "-1m", "0s", "30s"}
	for i := range processes {
		addr := freeAddress(t)
		p, err := launch(childCommand(t, "astray", offs[i%len(offs)], "serve", "--addr", addr, "--database-url", c.place,
			"--secret-key-file", secret, "--rate-limit", strconv.Itoa(limit)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.kill(t) })
		c.served = append(c.served, p)
		c.bases = append(c.bases, "http://"+addr)
		ready := await(func() bool {
			response, err := http.Get(c.bases[i] + "/readyz")
			if err == nil {
				response.Body.Close()
			}
			return err == nil && response.StatusCode == http.StatusOK || !p.running()
		})
		if !ready || !p.running() {
			t.Fatal("a server does not answer")
		}
	}
	return c
}

const clusterPassword = "correct horse battery"

// stop ends the processes, because PostgreSQL has few connections.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	for _, p := range c.served {
		p.kill(t)
	}
}

// school creates a school with a key, and a user with a password that is fast to check.
func (c *cluster) school(t *testing.T) (lyceum.SchoolID, string) {
	t.Helper()
	salt := []byte("salt of a test 1")
	encode := base64.RawStdEncoding.EncodeToString
	hash := fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version, encode(salt),
		encode(argon2.IDKey([]byte(clusterPassword), salt, 1, 8, 1, 32)))
	id := storetest.MakeSchool(t, c.store)
	storetest.Write(t, c.store, id, func(tx lyceum.Tx) error {
		return tx.Users.Insert(tx, lyceum.User{
			ID: 1, Email: "mira@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin,
			PasswordHash: lyceum.Some(hash),
		})
	})
	_, key, err := c.keys.Create(t.Context(), lyceum.By{School: id, Actor: "test"}, "test", lyceum.Read|lyceum.Write,
		access.NewEntropy())
	if err != nil {
		t.Fatal(err)
	}
	return id, key
}

// send sends a request to one of the processes.
func (c *cluster) send(t *testing.T, to int, method, path, key, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, c.bases[to%len(c.bases)]+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Apikey", key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.client.Do(request)
	if err != nil {
		t.Error(err)
		return &http.Response{}, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response, string(text)
}

// minute sends twice the limit to all processes from 100 callers, and returns how many requests
// were allowed, and whether all of that was within one minute.
func (c *cluster) minute(t *testing.T, key string) (allowed int64, whole bool) {
	t.Helper()
	reset := func() int {
		response, _ := c.send(t, 0, http.MethodGet, "/v1/pricing_plans", key, "")
		seconds, err := strconv.Atoi(response.Header.Get("Ratelimit-Reset"))
		if err != nil {
			t.Fatal("an answer says nothing about its limit")
		}
		if response.StatusCode == http.StatusOK {
			allowed++
		}
		return seconds
	}
	before := reset()
	var sent, passed, failed atomic.Int64
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			for i := int(sent.Add(1)); i <= 2*c.limit; i = int(sent.Add(1)) {
				response, text := c.send(t, i, http.MethodGet, "/v1/pricing_plans", key, "")
				for response.StatusCode == http.StatusServiceUnavailable { // the machine is busy
					response, text = c.send(t, i, http.MethodGet, "/v1/pricing_plans", key, "")
				}
				switch response.StatusCode {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusTooManyRequests:
				default:
					if failed.Add(1) == 1 {
						t.Errorf("status %d: %s", response.StatusCode, text)
					}
				}
			}
		})
	}
	group.Wait()
	after := reset()
	return allowed + passed.Load(), after <= before
}

// TestProcessesShareLimits checks that several processes together allow as many requests per
// minute from 100 callers, and check as many wrong passwords, as a single one. Their clocks are
// two minutes apart. LYCEUM_PROCESSES=4 runs the whole campaign, and prints its table.
func TestProcessesShareLimits(t *testing.T) {
	t.Parallel()
	most, limits := 2, []int{300}
	if n, err := strconv.Atoi(os.Getenv("LYCEUM_PROCESSES")); err == nil && n > 0 {
		most, limits = n, []int{60, 600, 6000, 60000}
	}
	for processes := 2; processes <= most; processes *= 2 {
		for _, limit := range limits {
			c := newCluster(t, processes, limit)
			var allowed int64
			whole := false
			for try := 0; try < 10 && !whole; try++ {
				_, key := c.school(t)
				allowed, whole = c.minute(t, key)
			}
			t.Logf("%d processes: %d requests of %d allowed in a minute, by 100 callers", processes, allowed, limit)
			if !whole {
				t.Fatal("no minute was long enough")
			}
			if l := int64(limit); allowed < l-l/10 || allowed > l+l/10 {
				t.Errorf("%d processes allow %d requests, want %d within a tenth", processes, allowed, limit)
			}
			if limit == limits[len(limits)-1] {
				whole = false
				for try := 0; try < 10 && !whole; try++ {
					whole = c.passwords(t)
				}
				if !whole {
					t.Error("no minute was long enough for wrong passwords")
				}
			}
			c.stop(t)
		}
	}
}

// passwords tries wrong passwords at all processes at the same time, from 100 callers, until no
// more are checked, and reports whether all of that was within one minute.
func (c *cluster) passwords(t *testing.T) (whole bool) {
	t.Helper()
	begin := time.Now()
	school, _ := c.school(t)
	page := fmt.Sprintf("/secure/%d/identity/sign_in", school)
	try := func(to int, password string) int {
		response, err := c.client.PostForm(c.bases[to%len(c.bases)]+page, url.Values{
			"email": {"mira@example.com"}, "password": {password},
		})
		if err != nil {
			t.Error(err)
			return 0
		}
		response.Body.Close()
		return response.StatusCode
	}
	var looked atomic.Int64
	for before := int64(-1); before < looked.Load(); { // those that wait too long are rejected too, without being counted
		before = looked.Load()
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() {
				switch status := try(i, "wrong"); status {
				case http.StatusUnprocessableEntity:
					looked.Add(1)
				case http.StatusTooManyRequests:
				default:
					t.Errorf("a wrong password: status %d", status)
				}
			})
		}
		group.Wait()
	}
	for i := range c.bases {
		if status := try(i, clusterPassword); status != http.StatusTooManyRequests && time.Since(begin) < time.Minute {
			t.Errorf("the right password at process %d: status %d", i, status)
		}
	}
	if time.Since(begin) >= time.Minute {
		return false
	}
	t.Logf("%d processes: %d wrong passwords for one account from one address looked at in a minute, by 100 callers",
		len(c.bases), looked.Load())
	if n := looked.Load(); n < 9 || n > 11 {
		t.Errorf("%d processes look at %d wrong passwords, want 10 within a tenth", len(c.bases), n)
	}
	return true
}

// TestProcessesAgreeOnTheTime checks that sales recorded in turn by processes whose clocks are
// two minutes apart are dated in the order of the journal.
func TestProcessesAgreeOnTheTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0)
	_, key := c.school(t)
	last := time.Time{}
	for i := range 6 {
		response, text := c.send(t, i, http.MethodPost, "/lyceum/v1/courses", key, fmt.Sprintf(`{"name":"Pottery %d"}`, i))
		var made struct {
			Course struct {
				CreatedAt time.Time `json:"created_at"`
			} `json:"course"`
		}
		if err := json.Unmarshal([]byte(text), &made); err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("status %d, %v: %s", response.StatusCode, err, text)
		}
		at := made.Course.CreatedAt
		if at.Before(last) || time.Since(at).Abs() > 30*time.Second {
			t.Errorf("process %d dates a course %v, after %v, at %v", i%2, at, last, time.Now().UTC())
		}
		last = at
	}
}
