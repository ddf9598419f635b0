package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// A connection whose request was ended by a reset continues with the state after it.
func TestConnectionAfterAReset(t *testing.T) {
	t.Parallel()
	said := sandbox(t, "--clock", "2026-01-31T10:00:00Z", "--transactions", "30")
	send := func(client *http.Client, method, path, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, said.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("Authorization", "Bearer "+said.APIKey)
		r.Header.Set("apiKey", said.APIKey)
		r.Header.Set("Content-Type", "application/json")
		response, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	one, other := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}, &http.Client{Transport: &http.Transport{}}
	var ended atomic.Int64
	go func() { ended.Store(int64(send(one, "GET", "/lyceum/v1/changes?after=999999&wait=25", ""))) }()
	if !await(func() bool {
		if status := send(other, "POST", "/lyceum/v1/sandbox/reset", ""); status != http.StatusOK {
			t.Fatalf("reset: %d", status)
		}
		return ended.Load() != 0
	}) {
		t.Fatal("the request that waits does not end")
	}
	for range 3 {
		if status := send(one, "POST", "/v1/users", `{"email":"ann@example.com"}`); status != http.StatusCreated {
			t.Errorf("a request after it: %d", status)
		}
	}
}

// TestRequestThatAResetEnds checks that a request which is ended because the sandbox goes back can
// be repeated: it is no error of the server.
func TestRequestThatAResetEnds(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	defer leave()
	var cause error
	b := &sandboxServer{now: &running{gone: gone, handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leave()
		<-r.Context().Done()
		cause = context.Cause(r.Context())
	})}}
	b.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/lyceum/v1/sales", http.NoBody))
	if kind := lyceum.KindOf(cause); kind != lyceum.Unavailable {
		t.Errorf("%v is %s", cause, kind)
	}
}

// TestListAfterAReset checks that a client which has a list from before a reset gets the list of the
// state after it, although the clock stands still and the journal has as many entries as before.
func TestListAfterAReset(t *testing.T) {
	t.Parallel()
	said := sandbox(t, "--clock", "2026-01-31T10:00:00Z", "--transactions", "30")
	send := func(method, path, body, tag string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, said.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"apiKey": said.APIKey, "Content-Type": "application/json", "If-None-Match": tag} {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= 400 {
			t.Fatalf("%s %s: %d %s, %v", method, path, response.StatusCode, text, err)
		}
		return response, string(text)
	}
	tag := ""
	for _, tax := range []string{"100", "200"} {
		send("POST", "/lyceum/v1/sandbox/reset", "", "")
		send("POST", "/lyceum/v1/sales", `{"user_id":7,"pricing_plan_id":3,"tax_charge":`+tax+`}`, "")
		response, list := send("GET", "/v1/transactions?per=1", "", tag)
		if response.StatusCode != http.StatusOK || !strings.Contains(list, `"tax_charge":`+tax+",") {
			t.Errorf("with a tax of %s: %d %s", tax, response.StatusCode, list)
		}
		tag = response.Header.Get("ETag")
		if response, _ = send("GET", "/v1/transactions?per=1", "", tag); response.StatusCode != http.StatusNotModified {
			t.Errorf("the same list again: %d", response.StatusCode)
		}
	}
}

// TestSandboxKilledBeforeItsStartIsKept checks that a sandbox whose first start was killed after the
// school was generated can be reset, and that a school that was used since is not taken for the
// generated one.
func TestSandboxKilledBeforeItsStartIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, tc := range []struct{ path, body, says string }{
		{"/v1/transactions", "", `"total":30`},
		{"/lyceum/v1/sandbox/reset", "{}", `"now"`},
		{"/v1/users", `{"email":"ann@example.com"}`, `"id"`},
		{"/lyceum/v1/sandbox/reset", "{}", "the state at the start was not kept"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			said := sandbox(t, "--transactions", "30", "--data", dir)
			method := "POST"
			if tc.body == "" {
				method = "GET"
			}
			_, text := sample{method: method, path: tc.path, body: tc.body, key: said.APIKey}.send(t, said.BaseURL)
			if !strings.Contains(text, tc.says) {
				t.Errorf("%d: %s", i, text)
			}
		})
		if err := os.Remove(filepath.Join(dir, statesFolder, startState+stateSuffix)); i < 3 && err != nil {
			t.Fatal(err)
		}
	}
}

// TestResetWhileAnotherProgramReads checks that nothing of before a reset is left after it, although
// another program has the database open, so that SQLite keeps its log.
func TestResetWhileAnotherProgramReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said := sandbox(t, "--transactions", "30", "--data", dir)
	send := func(r sample) string {
		t.Helper()
		r.key = said.APIKey
		status, text := r.send(t, said.BaseURL)
		if status >= 400 {
			t.Fatalf("%s %s: %d %s", r.method, r.path, status, text)
		}
		return text
	}
	send(sample{method: "POST", path: "/v1/users", body: `{"email":"ann@example.com"}`})
	other := openDB(t, "sqlite", "file:"+filepath.Join(dir, sqlstore.FileName))
	if users := readRows(t, other, "users WHERE email = 'ann@example.com'", "email"); len(users) != 1 {
		t.Fatal("the other program reads", users)
	}
	send(sample{method: "POST", path: "/lyceum/v1/sandbox/reset"})
	if users := send(sample{method: "GET", path: "/v1/users", query: url.Values{"email": {"ann@example.com"}}}); !strings.Contains(users, `"users":[]`) {
		t.Error("after the reset:", users)
	}
}
