package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sandbox starts a sandbox and returns the credentials that it prints.
func sandbox(t *testing.T, args ...string) credentials {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var errs bytes.Buffer
	cmd := exec.Command(watched, append([]string{"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0"}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, &errs, t.TempDir()
	server, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.kill(t) })
	var known credentials
	ready := await(func() bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.HasSuffix(text, []byte("\n")) && json.Unmarshal(text, &known) == nil || !server.running()
	})
	if !ready || !server.running() {
		server.kill(t)
		t.Fatalf("the sandbox does not start: %s", errs.String())
	}
	return known
}

// TestBadInput sends the running program requests that nobody should send. The response is
// always a sentence that names the parameter, or a correct list, and never an internal error.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const (
		total   = 50
		integer = "must be an integer from -2147483648 to 2147483647"
		from1   = "must be an integer from 1 to 2147483647"
		boolean = "must be true or false (or 1 or 0)"
		date    = "must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"
		way     = "must be asc or desc"
		percent = "has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25"
	)
	type listRequest struct {
		query string
		wrong string // the sentence without the name; "" means a list
		found int    // total of the list
		shown int    // items of the list
	}
	var requests []listRequest
	add := func(found, shown int, queries ...string) {
		for _, q := range queries {
			requests = append(requests, listRequest{query: q, found: found, shown: shown})
		}
	}
	refuse := func(name, wrong string, values ...string) {
		for _, v := range values {
			requests = append(requests, listRequest{query: name + "=" + v, wrong: name + " " + wrong})
		}
		requests = append(requests,
			listRequest{query: name + "=1&" + name + "=1", wrong: name + " must be sent once"},
			listRequest{query: name + "=1&" + name + "=2", wrong: name + " must be sent once"},
			listRequest{query: name + "=%zz", wrong: name + " " + percent},
			listRequest{query: name + "=1%", wrong: name + " " + percent})
	}
	noInteger := []string{"2147483648", "-2147483649", "9223372036854775808", "1e9", "+1", "%201", "1%20", "1.0", "0x1", "1_0", "%EF%BC%91", "", "%00", "1%00", "one", "%FF"}
	for _, name := range []string{"user_id", "affiliate_id", "course_id", "pricing_plan_id"} {
		add(0, 0, name+"=0", name+"=-1", name+"=2147483647", name+"=-2147483648")
		refuse(name, integer, noInteger...)
	}
	for _, name := range []string{"page", "per"} {
		refuse(name, from1, append([]string{"0", "-1", "-2147483648"}, noInteger...)...)
	}
	add(total, 0, "page=2147483647", "page=400000000", "page=400000000&per=20", "page=2147483647&per=2147483647")
	add(total, total, "per=100", "per=101", "per=2147483647")
	for _, name := range []string{"is_fully_refunded", "is_chargeback"} {
		refuse(name, boolean, "2", "-1", "TRUE", "True", "yes", "null", "", "%20true", "true%00", "%EF%BC%91")
	}
	for _, name := range []string{"start", "end"} {
		refuse(name, date, "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "0000-01-01", "0000-12-31T23:59:59Z", "10000-01-01",
			"-0001-01-01", "2024-01-01T25:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:00", "2024-01-01T1:00:00Z", "9999-12-31T23:59:59-01:00",
			"1704067200", "now", "", "%20", "2024-01-01%00", "%EF%BC%922024-01-01", strings.Repeat("9", 8000))
	}
	refuse("sort_direction", way, "ASC", "up", "", "asc%00", "asc,desc")
	add(total, 20, "", "start=0001-01-01", "end=9999-12-31", "end=9999-12-31T23:59:59Z", "start=0001-01-01T00:00:00Z&end=9999-12-31",
		"start=2001-01-01T00:00:00+05:30", "nobody=knows", "sort_direction=asc")
	add(0, 0, "start=9999-12-31", "end=0001-01-01", "start=2025-01-01&end=2024-01-01")

	known := sandbox(t, "--transactions", fmt.Sprint(total))
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	for _, q := range requests {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, known.BaseURL+"/v1/transactions?"+q.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("apiKey", known.APIKey)
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%.80q: %v", q.query, err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if q.wrong != "" {
			want, _ := json.Marshal(map[string]string{"message": q.wrong})
			if response.StatusCode != http.StatusBadRequest || string(body) != string(want) {
				t.Errorf("%.80q: %d %.300s, want 400 %s", q.query, response.StatusCode, body, want)
			}
			continue
		}
		var list struct {
			Transactions []json.RawMessage `json:"transactions"`
			Meta         struct {
				Total int `json:"total"`
				From  int `json:"from"`
				To    int `json:"to"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(body, &list); err != nil || response.StatusCode != http.StatusOK ||
			list.Transactions == nil || len(list.Transactions) != q.shown || list.Meta.Total != q.found ||
			list.Meta.To != q.shown || list.Meta.From != min(1, q.shown) {
			t.Errorf("%.80q: %d, %d items of %d, %v: %.300s; want %d of %d", q.query, response.StatusCode, len(list.Transactions), list.Meta.Total, err, body, q.shown, q.found)
		}
	}
	t.Logf("%d questions", len(requests))
}

// TestArgumentsAreText checks that invalid UTF-8 is rejected on the command line and in the
// environment, neither of which can contain NUL.
func TestArgumentsAreText(t *testing.T) {
	t.Parallel()
	const bad = "a\xff"
	for _, tc := range []struct {
		says string
		env  string
		args []string
	}{
		{"--name: ", "", []string{"school", "create", "--owner-email", "owner@example.com", "--name", bad}},
		{"--name: ", "", []string{"school", "create", "--owner-email", "owner@example.com", "--name=" + bad}},
		{"--mail-from: ", "LYCEUM_MAIL_FROM=" + bad, []string{"config"}},
		{"--name: ", "", []string{"apikey", "create", "--name", bad}},
		{"--name: ", "", []string{"oauth-app", "create", "--redirect-url", "https://app.example.com/callback", "--name", bad}},
		{"--name: ", "", []string{"oauth-app", "change", "1", "--name", bad}},
		{"--redirect-url: ", "", []string{"oauth-app", "change", "1", "--redirect-url", "https://app.example.com/" + bad}},
		{"<file>: ", "", []string{"import", "users", bad}},
	} {
		cmd := exec.Command("lyceum", tc.args...)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), tc.env)
		text, err := cmd.CombinedOutput()
		if want := "lyceum: " + tc.says + "must be UTF-8 text without NUL characters"; err == nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%q: %v, %s, want %s", tc.args, err, text, want)
		}
	}
}
