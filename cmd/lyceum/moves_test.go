package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// standing is a sandbox whose clock stands at 31 January 2010.
type standing struct {
	dir     string
	process *process
	url     string
	key     string
	known   credentials
}

// startStanding starts one in a folder, or resumes the one in the folder.
func startStanding(t *testing.T, dir string) *standing {
	t.Helper()
	s := startStandingAt(t, "--data", dir)
	s.dir = dir
	return s
}

// startStandingAt is startStanding for a place given by flags.
func startStandingAt(t *testing.T, place ...string) *standing {
	t.Helper()
	s := &standing{}
	out := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var errs bytes.Buffer
	cmd := exec.Command("lyceum", append([]string{
		"sandbox", "--json", "--addr", "127.0.0.1:0", "--transactions", "400", "--clock", "2010-01-31T10:00:00Z",
	}, place...)...)
	cmd.Stdout, cmd.Stderr = file, &errs
	if s.process, err = launch(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.kill(t) })
	ready := await(func() bool {
		text, err := os.ReadFile(out)
		return err == nil && bytes.HasSuffix(text, []byte("\n")) && json.Unmarshal(text, &s.known) == nil || !s.process.running()
	})
	if !ready || !s.process.running() {
		s.process.kill(t)
		t.Fatalf("the sandbox does not start: %s", errs.String())
	}
	s.url, s.key = s.known.BaseURL, s.known.APIKey
	return s
}

// call sends a request, whose response must be 2xx, and decodes the response.
func (s *standing) call(t *testing.T, method, path, body string, into any) {
	t.Helper()
	status, text := s.try(t, method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s is a %d: %s", method, path, status, text)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// try sends a request; the status is 0 if there is no response.
func (s *standing) try(t *testing.T, method, path, body string) (status int, text []byte) {
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	r.Header.Set("apiKey", s.key)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer w.Body.Close()
	if text, err = io.ReadAll(w.Body); err != nil {
		return 0, []byte(err.Error())
	}
	return w.StatusCode, text
}

// feed returns the changes of the school, one per line.
func (s *standing) feed(t *testing.T) (lines []string) {
	t.Helper()
	for after := int64(0); ; {
		var page struct {
			Changes []json.RawMessage `json:"changes"`
			Next    int64             `json:"next"`
			More    bool              `json:"more"`
		}
		s.call(t, http.MethodGet, "/lyceum/v1/changes?limit=1000&after="+strconv.FormatInt(after, 10), "", &page)
		for _, change := range page.Changes {
			lines = append(lines, strings.ReplaceAll(string(change), s.url, "BASE"))
		}
		if after = page.Next; !page.More {
			return lines
		}
	}
}

// TestKilledMove checks that a process that is killed while it moves the clock, and then
// restarted, ends in the same state as one that was not killed.
func TestKilledMove(t *testing.T) {
	t.Parallel()
	const move, end = `{"to":"2011-03-07T10:00:00Z"}`, "2011-03-07T10:00:00Z"
	base := filepath.Join(t.TempDir(), "base")
	first := startStanding(t, base)
	first.process.kill(t)
	whole := filepath.Join(t.TempDir(), "whole")
	if err := os.CopyFS(whole, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	w := startStanding(t, whole)
	w.call(t, http.MethodPost, "/lyceum/v1/clock", move, nil)
	want := w.feed(t)
	w.process.kill(t)

	s := startStanding(t, base)
	go s.try(t, http.MethodPost, "/lyceum/v1/clock", move)
	killed := await(func() bool {
		var shown struct {
			Clock struct {
				Now  time.Time       `json:"now"`
				Move json.RawMessage `json:"move"`
			} `json:"clock"`
		}
		s.call(t, http.MethodGet, "/lyceum/v1/clock", "", &shown)
		return shown.Clock.Now.Month() >= time.April || shown.Clock.Now.Year() > 2010
	})
	s.process.kill(t)
	if !killed {
		t.Fatal("the clock does not move")
	}
	s = startStanding(t, base)
	_, text := s.try(t, http.MethodGet, "/lyceum/v1/clock", "")
	if !bytes.Contains(text, []byte(`"now":"`+end+`"`)) {
		t.Errorf("after the restart the clock is %s", text)
	}
	if diff := cmp.Diff(want, s.feed(t)); diff != "" {
		t.Errorf("the feeds differ (-whole +killed):\n%.2000s", diff)
	}
	s.process.kill(t)
	command(t, "check", "--deep", "--data", base)
}

// receiver records the messages of a webhook. After it was told to be silent, it does not
// respond to the first one.
type receiver struct {
	mu     sync.Mutex
	silent bool
	came   []message
}

type message struct {
	id   string
	real time.Time // in its webhook-timestamp header
	at   time.Time // in the message itself
}

func (b *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Created time.Time `json:"created"`
	}
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(text, &body)
	seconds, _ := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
	b.mu.Lock()
	b.came = append(b.came, message{r.Header.Get("Webhook-Id"), time.Unix(seconds, 0), body.Created})
	silent := b.silent
	b.silent = false
	b.mu.Unlock()
	if silent {
		<-r.Context().Done()
	}
}

func (b *receiver) messages() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.came)
}

// TestMovedTimes moves the clock of a sandbox in which everything happens that stores a time,
// with a receiver of webhooks. Messages arrive in order, the one without a response arrives
// again, and no time in the database is real.
func TestMovedTimes(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	box := &receiver{}
	hook := httptest.NewServer(box)
	defer hook.Close()
	s := startStanding(t, filepath.Join(t.TempDir(), "data"))
	s.call(t, http.MethodPost, "/lyceum/v1/webhooks",
		fmt.Sprintf(`{"url":%q,"events":["Transaction.created","Sale.subscription_canceled"]}`, hook.URL), nil)
	var plan struct {
		Plan struct {
			ID int `json:"id"`
		} `json:"pricing_plan"`
	}
	s.call(t, http.MethodPost, "/lyceum/v1/pricing_plans",
		`{"product_type":"course","product_id":1,"name":"Monthly","price":1000,"currency":"USD","frequency":"subscription",`+
			`"billing_interval":"month","billing_interval_count":1}`, &plan)
	for _, email := range []string{"a@example.com", "b@example.com"} {
		s.call(t, http.MethodPost, "/lyceum/v1/orders",
			fmt.Sprintf(`{"email":%q,"pricing_plan_id":%d}`, email, plan.Plan.ID), nil)
	}
	s.call(t, http.MethodPost, "/lyceum/v1/orders/1/complete", `{}`, nil)
	s.call(t, http.MethodPost, "/v1/users", `{"email":"c@example.com","name":"C"}`, nil)
	s.call(t, http.MethodPost, "/lyceum/v1/bulk_jobs", `{"action":"add_tags","tags":["x"],"user_ids":[7]}`, nil)
	var moved struct {
		Move struct {
			Payments int `json:"payment_count"`
			Sent     int `json:"delivery_count"`
			Failed   int `json:"failed_delivery_count"`
		} `json:"move"`
	}
	if !await(func() bool { return len(box.messages()) == 1 }) {
		t.Fatal("the message of the first payment does not come")
	}
	box.mu.Lock()
	box.silent, box.came = true, nil
	box.mu.Unlock()
	s.call(t, http.MethodPost, "/lyceum/v1/clock", `{"advance":"62d"}`, &moved)
	came := box.messages()
	if moved.Move.Failed != 1 || moved.Move.Sent != len(came)-1 || moved.Move.Payments == 0 {
		t.Errorf("%+v, and %d messages came", moved.Move, len(came))
	}
	seen := map[string]time.Time{}
	last := time.Time{}
	for i, m := range came {
		again := i > 0 && m.id == came[0].id
		if at, twice := seen[m.id]; twice != again || twice && !at.Equal(m.at) {
			t.Errorf("message %d, %s, came before", i+1, m.id)
		}
		if !again && m.at.Before(last) || m.at.Year() != 2010 {
			t.Errorf("message %d is of %v, after %v", i+1, m.at, last)
		}
		if m.real.Before(begin.Add(-time.Minute)) || m.real.After(time.Now().Add(time.Minute)) {
			t.Errorf("message %d was signed at %v", i+1, m.real)
		}
		seen[m.id], last = m.at, m.at
	}
	s.process.kill(t)
	checkTimes(t, s.dir, begin, time.Date(2010, time.April, 3, 10, 0, 0, 0, time.UTC))
}

// ahead are the columns of times that may be later than the clock.
var ahead = []string{"expires_at", "ends_at", "paid_until", "stops_at", "due_at", "grace_from", "access_limit_date", "next_attempt_at"}

// checkTimes checks that no number in a database is a real time in microseconds between begin
// and end, and that no time is later than the clock, except in the columns in ahead.
func checkTimes(t *testing.T, dir string, begin, end time.Time) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.type = 'INTEGER'`)
	if err != nil {
		t.Fatal(err)
	}
	var columns [][2]string
	for rows.Next() {
		var table, name string
		if err := rows.Scan(&table, &name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, [2]string{table, name})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, c := range columns {
		var n, late int
		err := db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT count(*) FILTER (WHERE %[2]q BETWEEN ?1 AND ?2),
			count(*) FILTER (WHERE %[2]q BETWEEN ?3 + 1 AND ?2) FROM %[1]q`, c[0], c[1]),
			begin.Add(-time.Hour).UnixMicro(), time.Now().Add(time.Hour).UnixMicro(), end.UnixMicro()).Scan(&n, &late)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			t.Errorf("%d of %s in %s are in real time", n, c[1], c[0])
		}
		if late > 0 && !slices.Contains(ahead, c[1]) {
			t.Errorf("%d of %s in %s are after the clock", late, c[1], c[0])
		}
		if strings.HasSuffix(c[1], "_at") {
			times++
		}
	}
	if times < 20 {
		t.Errorf("only %d columns of times were found", times)
	}
}
