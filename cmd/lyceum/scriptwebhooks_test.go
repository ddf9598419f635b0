package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func scriptSend(ts *testscript.TestScript, args []string) {
	contains := regexp.MustCompile("")
	if len(args) > 2 && args[0] == "-contains" {
		contains, args = regexp.MustCompile(args[1]), args[2:]
	}
	usage(ts, len(args) == 2 || len(args) == 3, "send [-contains PATTERN] METHOD PATH [BODY]")
	body := ""
	if len(args) == 3 {
		body = args[2]
	}
	var status string
	var text []byte
	found := await(func() bool {
		status, text = sendOnce(ts, args[0], args[1], body)
		return contains.Match(text)
	})
	if !found {
		ts.Fatalf("%s never answers with %q:\n%s", args[1], contains, text)
	}
	ts.Check(os.WriteFile(ts.MkAbs("answer.json"), text, 0o600))
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n", status, text)
}

func sendOnce(ts *testscript.TestScript, method, path, body string) (status string, text []byte) {
	r, err := http.NewRequestWithContext(context.Background(), method, ts.Getenv("BASE")+path, strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("apiKey", ts.Getenv("KEY"))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	ts.Check(err)
	return response.Status, text
}

// scriptField reads a path such as sale.transactions.0.id.
func scriptField(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 3, "field NAME PATH FILE")
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[2])), &value))
	for part := range strings.SplitSeq(args[1], ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			n, err := strconv.Atoi(part)
			ts.Check(err)
			value = v[n]
		default:
			ts.Fatalf("there is no %s in %s", args[1], args[2])
		}
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

// received is a message, as written to a line of a file.
type received struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func scriptReceive(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "receive FILE")
	file := ts.MkAbs(args[0])
	var mu sync.Mutex
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := received{map[string]string{}, string(body)}
		for name := range r.Header {
			m.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		line, _ := json.Marshal(m)
		mu.Lock()
		defer mu.Unlock()
		out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", line)
		}
		if err != nil || out.Close() != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	ts.Defer(receiver.Close)
	ts.Setenv("HOOK", receiver.URL)
}

func scriptVerified(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 3, "verified FILE SECRET N")
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	var lines []string
	await(func() bool {
		lines = nil
		in, err := os.Open(file)
		if err != nil {
			return false
		}
		defer in.Close()
		for s := bufio.NewScanner(in); s.Scan(); {
			lines = append(lines, s.Text())
		}
		return len(lines) >= want
	})
	if len(lines) != want {
		ts.Fatalf("%d messages came, want %d:\n%s", len(lines), want, strings.Join(lines, "\n"))
	}
	verifier, err := standardwebhooks.NewWebhook(args[1])
	ts.Check(err)
	for _, line := range lines {
		var m received
		ts.Check(json.Unmarshal([]byte(line), &m))
		header := http.Header{}
		for name, value := range m.Headers {
			header.Set(name, value)
		}
		if err := verifier.Verify([]byte(m.Body), header); err != nil {
			ts.Fatalf("%v: %s", err, line)
		}
		fmt.Fprintln(ts.Stdout(), m.Body)
	}
	verifiedByNode(ts, file, args[1])
}

func scriptWaitLog(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "waitlog FILE PATTERN")
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	if !await(func() bool { return pattern.MatchString(ts.ReadFile(args[0])) }) {
		ts.Fatalf("no line matches %s:\n%s", args[1], ts.ReadFile(args[0]))
	}
}

// verifiedByNode verifies messages with the library that JavaScript receivers use.
func verifiedByNode(ts *testscript.TestScript, file, secret string) {
	if !installed(ts, "npm") {
		return
	}
	dir, err := os.MkdirTemp(ts.MkAbs("."), "node")
	ts.Check(err)
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "verify.mjs"} {
		text, err := os.ReadFile(filepath.Join(ts.Getenv("ROOT"), "cmd/lyceum/testdata/clients", name))
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, args := range [][]string{{"npm", "ci", "--no-audit", "--no-fund"}, {"node", "verify.mjs", file, secret}} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
}
