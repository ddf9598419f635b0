package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// shop is a school with a plan and users, through whose API a program sells while the server
// dies and comes back.
type shop struct {
	place   string // of the database
	addr    string
	metrics string // address

	fileSize int      // maximum size of the server's files in bytes; 0 means no limit
	flags    []string // in addition to those of every server
	key      string
	school   lyceum.SchoolID
	server   *process
}

func openShop(t *testing.T, place string) *shop {
	t.Helper()
	s := &shop{place: place, addr: freeAddress(t), metrics: freeAddress(t)}
	store, err := openStore(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s.school = storetest.MakeSchool(t, store)
	storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
		_, e1 := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		_, e2 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 1, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Once", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		var users []lyceum.User
		for id := range lyceum.UserID(8) {
			users = append(users, lyceum.User{ID: id + 1, Email: fmt.Sprintf("user%d@example.com", id+1), Role: lyceum.Student, CreatedAt: storetest.Begin})
		}
		_, e3 := tx.Users.Save(tx, users...)
		return errors.Join(e1, e2, e3)
	})
	keys := access.NewKeys(store, time.Now)
	if _, s.key, err = keys.Create(t.Context(), lyceum.By{School: s.school, Actor: "test"}, "test", lyceum.Read|lyceum.Write|lyceum.Accounts, access.NewEntropy()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.server != nil {
			s.server.kill(t)
		}
	})
	return s
}

var givenAddresses sync.Map

// freeAddress returns an address that stays free until a server takes it, and again while that
// server is down: its port is below those that the system assigns by itself, including to other
// tests, and no other test of this process gets it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		if _, given := givenAddresses.LoadOrStore(address, true); given {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err == nil {
			defer l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// serve starts the server and waits until it responds.
func (s *shop) serve(t *testing.T) {
	t.Helper()
	args := []string{"serve", "--addr", s.addr, "--metrics-addr", s.metrics, "--rate-limit", "0", "--webhook-networks", "127.0.0.0/8"}
	if sqlstore.IsPostgres(s.place) {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--database-url", s.place, "--secret-key-file", file)
	} else {
		args = append(args, "--data", s.place)
	}
	args = append(args, s.flags...)
	cmd := exec.Command("lyceum", args...)
	if s.fileSize > 0 {
		cmd = exec.Command("prlimit", append([]string{fmt.Sprintf("--fsize=%d:unlimited", s.fileSize), "lyceum"}, args...)...)
	}
	var err error
	if s.server, err = launch(cmd); err != nil {
		t.Fatal(err)
	}
	ready := await(func() bool {
		response, err := http.Get("http://" + s.addr + "/readyz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK || !s.server.running()
	})
	if !ready || !s.server.running() {
		t.Fatal("the server does not answer")
	}
}

// send sends a request; an error means that its outcome is unknown.
func (s *shop) send(method, path, key string, body, into any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequest(method, "http://"+s.addr+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	r.Header.Set("apiKey", s.key)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	client := http.Client{Timeout: patience}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if into != nil && response.StatusCode < 300 {
		err = json.Unmarshal(text, into)
	}
	return response.StatusCode, err
}

// insist sends a request until there is a response, always with the same key.
func (s *shop) insist(method, path, key string, body, into any) int {
	status := 0
	await(func() bool {
		var err error
		status, err = s.send(method, path, key, body, into)
		return err == nil && status < 500
	})
	return status
}

// soldBy is what a program remembers about a sale.
type soldBy struct {
	Sale struct {
		ID           int32 `json:"id"`
		Transactions []struct {
			ID int32 `json:"id"`
		} `json:"transactions"`
	} `json:"sale"`
}

// trade sells, refunds and tags until it is told to stop, and returns the sales that were
// acknowledged. Every request is repeated with its key until there is a response.
func (s *shop) trade(t *testing.T, writer int, stop <-chan struct{}) (sold []int32) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return sold
		default:
		}
		key, user := fmt.Sprintf("w%d-%d", writer, n), 1+rand.IntN(8)
		var sale soldBy
		if status := s.insist(http.MethodPost, "/lyceum/v1/sales", key, map[string]any{"user_id": user, "pricing_plan_id": 1}, &sale); status != http.StatusCreated {
			t.Errorf("sale %s: %d", key, status)
			return sold
		}
		sold = append(sold, sale.Sale.ID)
		if n%3 == 0 {
			path := fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", sale.Sale.Transactions[0].ID)
			if status := s.insist(http.MethodPost, path, key+"r", map[string]any{"amount": 1 + n}, nil); status != http.StatusCreated {
				t.Errorf("refund %s: %d", key, status)
			}
		}
		if n%5 == 0 {
			path := fmt.Sprintf("/lyceum/v1/users/%d/tags", user)
			if status := s.insist(http.MethodPut, path, "", map[string]any{"tags": []string{key}}, nil); status != http.StatusOK {
				t.Errorf("tags %s: %d", key, status)
			}
		}
	}
}

// TestTheFeedMissesNothing runs the script in the documentation, which keeps a copy of a
// school, while others write and both the server and the script are killed repeatedly. In the
// end the copy equals the school.
func TestTheFeedMissesNothing(t *testing.T) {
	t.Parallel()
	if !installed(t, "node") {
		t.Skip("node is not installed")
	}
	const kills, tradersCount = 8, 4
	s := openShop(t, filepath.Join(t.TempDir(), "data"))
	s.serve(t)
	file := filepath.Join(t.TempDir(), "copy.json")
	script, err := filepath.Abs("../../docs/samples/copy.mjs")
	if err != nil {
		t.Fatal(err)
	}
	copying := func() *process {
		t.Helper()
		p, err := launch(exec.Command("node", script, "http://"+s.addr, s.key, file))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	stop := make(chan struct{})
	var traders sync.WaitGroup
	var sold [tradersCount][]int32
	for writer := range tradersCount {
		traders.Go(func() { sold[writer] = s.trade(t, writer, stop) })
	}
	seen := int64(0)
	for range kills {
		p := copying()
		await(func() bool { at := reached(file); return at > seen || !p.running() })
		seen = reached(file)
		p.kill(t)
		s.server.kill(t)
		s.serve(t)
	}
	close(stop)
	traders.Wait()
	var end struct {
		Last int64 `json:"last"`
	}
	s.insist(http.MethodGet, "/lyceum/v1/changes?limit=1", "", nil, &end)
	for p := copying(); ; p = copying() {
		await(func() bool { return reached(file) >= end.Last || !p.running() })
		p.kill(t)
		if reached(file) >= end.Last {
			break
		}
	}
	// Each key got a response in the end, so it corresponds to one sale (R18).
	used := map[int32]bool{}
	for _, ids := range sold {
		for _, id := range ids {
			if used[id] {
				t.Errorf("two keys were answered with sale %d", id)
			}
			used[id] = true
		}
	}
	if total := s.compare(t, file); total != len(used) {
		t.Errorf("%d keys made %d sales", len(used), total)
	}
}

// TestACopyAfterARestore checks that what was sold after the backup also disappears from the
// copy, and that none of its ids is given to another sale.
func TestACopyAfterARestore(t *testing.T) {
	t.Parallel()
	if !installed(t, "node") {
		t.Skip("node is not installed")
	}
	s := openShop(t, filepath.Join(t.TempDir(), "data"))
	sell := func(key string) (id int32) {
		var sale soldBy
		s.insist(http.MethodPost, "/lyceum/v1/sales", key, map[string]any{"user_id": 1, "pricing_plan_id": 1}, &sale)
		path := fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", sale.Sale.Transactions[0].ID)
		s.insist(http.MethodPost, path, key+"r", map[string]any{"amount": 1}, nil)
		return sale.Sale.ID
	}
	script, err := filepath.Abs("../../docs/samples/copy.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file, backup := filepath.Join(t.TempDir(), "copy.json"), filepath.Join(t.TempDir(), "backup.db")
	follow := func() {
		t.Helper()
		var end struct {
			Last int64 `json:"last"`
		}
		s.insist(http.MethodGet, "/lyceum/v1/changes?limit=1", "", nil, &end)
		p, err := launch(exec.Command("node", script, "http://"+s.addr, s.key, file))
		if err != nil {
			t.Fatal(err)
		}
		await(func() bool { return reached(file) >= end.Last || !p.running() })
		p.kill(t)
	}
	s.serve(t)
	sell("kept")
	command(t, "backup", "--data", s.place, backup)
	lost := sell("lost")
	follow()
	s.server.kill(t)
	command(t, "restore", "--data", s.place, "--force", backup)
	s.serve(t)
	if id := sell("new"); id <= lost {
		t.Errorf("a sale after the restore has the id %d; %d is that of a lost one", id, lost)
	}
	follow()
	if total := s.compare(t, file); total != 2 {
		t.Errorf("%d sales, want 2", total)
	}
}

// reached returns the progress of a copy.
func reached(file string) int64 {
	var copied struct {
		Next int64 `json:"next"`
	}
	if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &copied) != nil {
		return 0
	}
	return copied.Next
}

// compare compares a copy with what version 1 shows of the school, and returns the number of
// transactions.
func (s *shop) compare(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var copied struct {
		Objects map[string]map[string]any `json:"objects"`
	}
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	total := 0
	for page := 1; ; page++ {
		var list struct {
			Transactions []map[string]any `json:"transactions"`
		}
		s.insist(http.MethodGet, fmt.Sprintf("/v1/transactions?per=100&page=%d", page), "", nil, &list)
		if len(list.Transactions) == 0 {
			break
		}
		for _, want := range list.Transactions {
			total++
			if got := copied.Objects[fmt.Sprintf("transaction %.0f", want["id"])]; !reflect.DeepEqual(got, want) {
				t.Errorf("the copy has %v, the school %v", got, want)
			}
		}
	}
	kept, refunds := 0, 0
	for name := range copied.Objects {
		if strings.HasPrefix(name, "transaction ") {
			kept++
		}
		if strings.HasPrefix(name, "movement ") {
			refunds++
		}
	}
	for user := 1; user <= 8; user++ {
		var shown struct {
			Tags []struct {
				Name string `json:"name"`
			} `json:"tags"`
		}
		s.insist(http.MethodGet, fmt.Sprintf("/v1/users/%d", user), "", nil, &shown)
		tags := []any{}
		for _, tag := range shown.Tags {
			tags = append(tags, tag.Name)
		}
		if got := copied.Objects[fmt.Sprint("user ", user)]["tags"]; !reflect.DeepEqual(got, tags) {
			t.Errorf("user %d has the tags %v, in the copy %v", user, tags, got)
		}
	}
	if kept != total || total == 0 || refunds == 0 {
		t.Errorf("the copy has %d transactions and %d refunds, the school %d", kept, refunds, total)
	}
	t.Logf("%d transactions and %d refunds are equal", total, refunds)
	return total
}

// TestR17_KilledBetweenCommitAndDelivery checks that a server that is killed repeatedly,
// between a sale and its dispatch and between sending and recording, delivers every event at
// least once, with the same id.
func TestR17_KilledBetweenCommitAndDelivery(t *testing.T) {
	t.Parallel()
	for _, engine := range []struct {
		name   string
		cycles int
	}{{"sqlite", 100}, {"postgres", 20}} {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			place := filepath.Join(t.TempDir(), "data")
			if engine.name == "postgres" {
				place = storetest.Postgres(t)
			}
			cycles := engine.cycles
			if underRace() {
				cycles /= 10
			}
			killDuringDeliveries(t, openShop(t, place), cycles)
		})
	}
}

// inbox records the ids with which the sales arrived.
type inbox struct {
	mu   sync.Mutex
	ids  map[int32]map[string]bool // sale -> webhook-ids
	came atomic.Int64
}

func (b *inbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var e struct {
		ID int32 `json:"id"`
	}
	if json.NewDecoder(r.Body).Decode(&e) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ids[e.ID] == nil {
		b.ids[e.ID] = map[string]bool{}
	}
	b.ids[e.ID][r.Header.Get("Webhook-Id")] = true
	b.came.Add(1)
}

func (b *inbox) has(id int32) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ids[id]) > 0
}

func killDuringDeliveries(t *testing.T, s *shop, cycles int) {
	t.Helper()
	box := &inbox{ids: map[int32]map[string]bool{}}
	to := httptest.NewServer(box)
	defer to.Close()
	s.serve(t)
	if status := s.insist(http.MethodPost, "/lyceum/v1/webhooks", "hook", map[string]any{"url": to.URL, "events": []string{"Sale.created"}}, nil); status != http.StatusCreated {
		t.Fatalf("webhook: %d", status)
	}
	var sold []int32
	for cycle := range cycles {
		for n := range 1 + rand.IntN(4) {
			var sale soldBy
			status, err := s.send(http.MethodPost, "/lyceum/v1/sales", fmt.Sprintf("%d-%d", cycle, n), map[string]any{"user_id": 1, "pricing_plan_id": 1}, &sale)
			if err != nil || status != http.StatusCreated {
				t.Fatalf("cycle %d: %d %v", cycle, status, err)
			}
			sold = append(sold, sale.Sale.ID)
		}
		if rand.IntN(2) == 0 { // sometimes right away, sometimes during delivery
			before := box.came.Load()
			await(func() bool { return box.came.Load() > before })
		}
		s.server.kill(t)
		s.serve(t)
	}
	missing := 0
	await(func() bool {
		missing = 0
		for _, id := range sold {
			if !box.has(id) {
				missing++
			}
		}
		return missing == 0
	})
	box.mu.Lock() // resent events may still arrive
	defer box.mu.Unlock()
	for id, names := range box.ids {
		if len(names) != 1 {
			t.Errorf("sale %d came under %d ids", id, len(names))
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d sales never came", missing, len(sold))
	}
	twice := int(box.came.Load()) - len(box.ids)
	t.Logf("%d kills, %d sales acknowledged, %d missing, %d sent again", cycles, len(sold), missing, twice)
}

// TestTheDocumentsHaveTheScript checks that the documentation shows the script that is run.
func TestTheDocumentsHaveTheScript(t *testing.T) {
	script, err := os.ReadFile("../../docs/samples/copy.mjs")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/own-interface.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(script), "\n") // without its comment
	if !strings.Contains(string(page), "```js\n"+program+"```\n") {
		t.Error("docs/own-interface.md shows another script than docs/samples/copy.mjs")
	}
}
