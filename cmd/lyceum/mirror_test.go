package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/mirror"
)

// v1Client sends requests to a v1 server with a key.
type v1Client struct{ base, key string }

func (a v1Client) get(t testing.TB, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("apiKey", a.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s is a %d, %v: %s", path, response.StatusCode, err, body)
	}
	return body
}

// ids returns one field of every row of a list.
func (a v1Client) ids(t testing.TB, path, list, field string) (ids []int) {
	t.Helper()
	for page := 1; ; page++ {
		var body map[string]json.RawMessage
		if err := json.Unmarshal(a.get(t, fmt.Sprintf("%s?per=100&page=%d", path, page)), &body); err != nil {
			t.Fatal(err)
		}
		var rows []map[string]any
		if err := json.Unmarshal(body[list], &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			ids = append(ids, int(row[field].(float64)))
		}
		if len(rows) < 100 {
			return ids
		}
	}
}

// everything returns the path of every response about a school.
func (a v1Client) everything(t testing.TB) (paths []string) {
	t.Helper()
	list := func(path, list, field string) []int {
		ids := a.ids(t, path, list, field)
		for page := range (len(ids)+99)/100 + 1 {
			paths = append(paths, fmt.Sprintf("%s?per=100&page=%d", path, page+1))
		}
		return ids
	}
	for _, id := range list("/v1/users", "users", "id") {
		paths = append(paths, fmt.Sprintf("/v1/users/%d", id))
	}
	for _, id := range list("/v1/pricing_plans", "pricing_plans", "id") {
		paths = append(paths, fmt.Sprintf("/v1/pricing_plans/%d", id))
	}
	list("/v1/transactions", "transactions", "id")
	paths = append(paths, "/v1/webhooks", "/v1/webhooks/1/events?per=100", "/v1/webhooks/2/events", "/v1/webhooks/3/events", "/v2/products/courses")
	for _, id := range list("/v1/courses", "courses", "id") {
		course := fmt.Sprintf("/v1/courses/%d", id)
		paths = append(paths, course)
		for _, user := range list(course+"/enrollments", "enrollments", "user_id") {
			paths = append(paths, fmt.Sprintf("%s/progress?user_id=%d", course, user))
		}
		paths = append(paths, a.lectures(t, course)...)
	}
	return paths
}

func (a v1Client) lectures(t testing.TB, course string) (paths []string) {
	t.Helper()
	var one struct {
		Course struct {
			Sections []struct {
				Lectures []struct {
					ID int `json:"id"`
				} `json:"lectures"`
			} `json:"lecture_sections"`
		} `json:"course"`
	}
	if err := json.Unmarshal(a.get(t, course), &one); err != nil {
		t.Fatal(err)
	}
	for _, section := range one.Course.Sections {
		for _, l := range section.Lectures {
			lecture := fmt.Sprintf("%s/lectures/%d", course, l.ID)
			paths = append(paths, lecture, lecture+"/quizzes")
			var quizzes struct {
				IDs []int `json:"quiz_ids"`
			}
			if err := json.Unmarshal(a.get(t, lecture+"/quizzes"), &quizzes); err != nil {
				t.Fatal(err)
			}
			for _, quiz := range quizzes.IDs {
				paths = append(paths, fmt.Sprintf("%s/quizzes/%d", lecture, quiz), fmt.Sprintf("%s/quizzes/%d/responses", lecture, quiz))
			}
		}
	}
	return paths
}

// TestMirror copies a sandbox through a proxy that closes again and again, and compares every
// response of the copy with the original's.
func TestMirror(t *testing.T) {
	t.Parallel()
	said := sandbox(t, "--transactions", "300")
	original := v1Client{said.BaseURL, said.APIKey}
	dir, keys := newSchool(t), t.TempDir()
	keyFile := filepath.Join(keys, "key")
	if err := os.WriteFile(keyFile, []byte(original.key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(original.base)
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	through := httputil.NewSingleHostReverseProxy(to)
	through.ErrorLog = log.New(io.Discard, "", 0) // requests that were given up are not repeated
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) < 0 {
			http.Error(w, "closed", http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	mirror := func() (string, bool) {
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"mirror", "--data", dir, "--from", door.URL, "--api-key-file", keyFile, "--parallel", "3"}, nil, &out, &errs)
		if status != 0 && !strings.Contains(errs.String(), "does not accept the API key") {
			t.Fatalf("mirror: %d %s", status, errs.String())
		}
		return out.String(), status == 0
	}
	runs := 0
	for done := false; !done; runs++ {
		left.Store(400) // enough for a page of learners and what they have done
		if _, done = mirror(); runs > 100 {
			t.Fatal("a copy that is broken off never comes to its end")
		}
	}
	if runs < 3 {
		t.Errorf("the copy took %d runs", runs)
	}
	left.Store(1 << 40)
	if out, _ := mirror(); !strings.Contains(out, " 0 created, 0 updated, ") {
		t.Errorf("a second copy: %s", out)
	}
	command(t, "school", "set", "--data", dir, "--v2", "on") // it is off by default
	compare(t, original, serve(t, dir), said)
}

// serve serves a data folder and creates a key for it.
func serve(t *testing.T, dir string) v1Client {
	t.Helper()
	key := strings.TrimSpace(command(t, "apikey", "create", "--data", dir, "--name", "compare"))
	address := freeAddress(t)
	p, err := launch(exec.Command(watched, "serve", "--data", dir, "--addr", address, "--rate-limit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := p.signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	if !await(func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil || !p.running()
	}) || !p.running() {
		t.Fatal("the copy is not served")
	}
	return v1Client{"http://" + address, key}
}

// compare compares every response about one school with another's.
func compare(t *testing.T, original, copied v1Client, said credentials) {
	t.Helper()
	paths := original.everything(t)
	if others := copied.everything(t); !slices.Equal(paths, others) {
		t.Fatalf("%d answers, the copy has %d", len(paths), len(others))
	}
	for _, path := range paths {
		want, got := original.get(t, path), copied.get(t, path)
		// The copied school has a different name.
		want = bytes.ReplaceAll(want, []byte(`"Fernwood School of Craft"`), []byte(`"Fernwood"`))
		if !bytes.Equal(want, got) {
			t.Errorf("%s is\n%s, the copy has\n%s", path, want, got)
		}
	}
	t.Logf("%d answers are equal", len(paths))
	if len(paths) < 500 || said.SchoolID == 0 {
		t.Errorf("%d answers were compared", len(paths))
	}
}

// TestMirrorRefuses checks that what is impossible fails with a sentence that says what to do.
func TestMirrorRefuses(t *testing.T) {
	t.Parallel()
	dir, folder := newSchool(t), t.TempDir()
	key, state := filepath.Join(folder, "key"), filepath.Join(folder, "state")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/html"):
			_, _ = io.WriteString(w, "<!doctype html>")
		case strings.HasPrefix(r.URL.Path, "/away"):
			http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/nowhere"):
			http.NotFound(w, r)
		case strings.HasPrefix(r.URL.Path, "/no"):
			w.WriteHeader(http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/one"):
			_, _ = io.WriteString(w, `{"users":[{"id":2,"email":"ann@example.com"}],"meta":{"number_of_pages":1,"has_more_results":false}}`)
		case strings.HasPrefix(r.URL.Path, "/empty"):
			_, _ = io.WriteString(w, `{}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(other.Close)
	for name, text := range map[string]string{"key": "secret-key", "state": `{"from":"https://a.example.com","school":1,"phase":"users"}`, "damaged": "{", "phase": `{"from":"` + other.URL + `","school":1,"phase":"frogs"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		says string
		args []string
	}{
		{"does not accept the API key; put a valid one into the file", []string{"--from", other.URL}},
		{"does not allow this API key to request /v1/users", []string{"--from", other.URL + "/no"}},
		{"redirects to https://elsewhere.example.com/, and the API key is not sent there", []string{"--from", other.URL + "/away"}},
		{"/nowhere has nothing at /v1/users?page=1&per=100&search_after=0; --from must be the address before the paths of version 1, such as https://school.example.com", []string{"--from", other.URL + "/nowhere"}},
		{"the state file " + filepath.Join(folder, "no/state") + " cannot be written; choose another one with --state, in a folder that exists and is writable", []string{"--from", other.URL + "/one", "--state", filepath.Join(folder, "no/state")}},
		{"is not version 1's", []string{"--from", other.URL + "/html"}},
		{"/empty/v1/users?page=1&per=100&search_after=0 is not version 1's: it has no users", []string{"--from", other.URL + "/empty"}},
		{"--from must be an address such as https://school.example.com, without user, query and fragment", []string{"--from", "ftp://x"}},
		{"--from must be an address such as https://school.example.com, without user, query and fragment", []string{"--from", "https://u:p@x"}},
		{"the file given with --api-key-file cannot be read", []string{"--from", other.URL, "--api-key-file", filepath.Join(folder, "none")}},
		{"the state file belongs to a copy of https://a.example.com into school 1", []string{"--from", other.URL, "--state", state}},
		{"the state file is damaged; delete it to start over", []string{"--from", other.URL, "--state", filepath.Join(folder, "damaged")}},
		{`unknown phase "frogs" in the state file`, []string{"--from", other.URL, "--state", filepath.Join(folder, "phase")}},
		{"--parallel must be from 1 to 64", []string{"--from", other.URL, "--parallel", "0"}},
		{"there is no school 9", []string{"--from", other.URL, "--school", "9"}},
	} {
		args := append([]string{"mirror", "--data", dir}, tc.args...)
		if !slices.Contains(tc.args, "--api-key-file") {
			args = append(args, "--api-key-file", key)
		}
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, nil, &out, &errs); status != 1 || !strings.Contains(errs.String(), tc.says) || strings.Contains(errs.String(), "secret-key") {
			t.Errorf("%q ends with %d: %s", tc.args, status, errs.String())
		}
	}
}

// TestMirrorIsInterrupted interrupts a copy while it waits for the other server.
func TestMirrorIsInterrupted(t *testing.T) {
	t.Parallel()
	dir, key := newSchool(t), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("secret-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	t.Cleanup(other.Close)
	var errs bytes.Buffer
	status := run(ctx, []string{"mirror", "--data", dir, "--from", other.URL, "--api-key-file", key}, nil, io.Discard, &errs)
	if want := "lyceum: interrupted; repeat the command to finish the rest\n"; status != 1 || errs.String() != want {
		t.Errorf("it ends with %d: %s", status, errs.String())
	}
}

// TestMirrorAfterARestore checks that the state of an interrupted copy is not used with a
// database that lacks what was copied, and that the copy resumes with one that has it.
func TestMirrorAfterARestore(t *testing.T) {
	t.Parallel()
	said := sandbox(t, "--transactions", "30")
	to, err := url.Parse(said.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	var shut atomic.Bool
	through := httputil.NewSingleHostReverseProxy(to)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shut.Load() && strings.HasSuffix(r.URL.Path, "/transactions") {
			http.Error(w, "closed", http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	folder, dir := t.TempDir(), newSchool(t)
	key, before, halfway := filepath.Join(folder, "key"), filepath.Join(folder, "before.db"), filepath.Join(folder, "halfway.db")
	if err := os.WriteFile(key, []byte(said.APIKey), 0o600); err != nil {
		t.Fatal(err)
	}
	mirror := func(want int) string {
		t.Helper()
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"mirror", "--data", dir, "--from", door.URL, "--api-key-file", key}, nil, &out, &errs)
		if status != want {
			t.Fatalf("mirror: %d %s", status, errs.String())
		}
		return errs.String()
	}
	command(t, "backup", "--data", dir, before)
	shut.Store(true)
	mirror(1)
	command(t, "backup", "--data", dir, halfway)
	command(t, "restore", "--data", dir, "--force", halfway)
	const resumed = "resuming with the enrollments, as recorded in "
	if errs := mirror(1); !strings.Contains(errs, resumed) {
		t.Errorf("after a restore of what was copied: %s", errs)
	}
	command(t, "restore", "--data", dir, "--force", before)
	shut.Store(false)
	want := "starting over: " + filepath.Join(dir, "mirror-school-1.json") + " was written for another database, or the database was restored since\n"
	if errs := mirror(0); !strings.Contains(errs, want) || strings.Contains(errs, resumed) {
		t.Errorf("after a restore of what was there before: %s", errs)
	}
	if n := strings.Count(command(t, "export", "courses", "--data", dir), "\n"); n < 5 {
		t.Errorf("the copy has %d lines of courses", n)
	}
}

// TestMirrorOfAServerWithoutSearchAfter uses a server without search_after, which version 1
// only promises for what pages do not reach: a smaller school is copied by pages, and resumed
// at a page.
func TestMirrorOfAServerWithoutSearchAfter(t *testing.T) {
	t.Parallel()
	const total = 250
	var refused, again atomic.Bool
	meta := fmt.Sprintf(`{"total":%d,"page":1,"from":1,"to":1,"per_page":100,"number_of_pages":3}`, total)
	user := func(id int) string {
		email := fmt.Sprintf("u%d@example.com", id)
		if id == 1 {
			email = "owner@example.com" // who stays the owner of the copy
		}
		return fmt.Sprintf(`{"id":%d,"email":%q,"name":"User %[1]d","src":null,"role":"student","last_sign_in_ip":null,"courses":[],"tags":[]}`, id, email)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, one := strings.CutPrefix(r.URL.Path, "/v1/users/")
		id, _ := strconv.Atoi(name)
		switch page, _ := strconv.Atoi(r.URL.Query().Get("page")); {
		case one && id == total-150 && refused.CompareAndSwap(false, true): // on the second page
			w.WriteHeader(http.StatusUnauthorized)
		case one:
			if id > total-100 && refused.Load() {
				again.Store(true)
			}
			_, _ = io.WriteString(w, user(id))
		case r.URL.Path == "/v1/users":
			var users []string
			for n := (page - 1) * 100; n < min(page*100, total); n++ {
				users = append(users, user(total-n)) // newest first
			}
			_, _ = io.WriteString(w, `{"users":[`+strings.Join(users, ",")+`],"meta":`+meta+`}`)
		default:
			_, _ = io.WriteString(w, `{"courses":[],"pricing_plans":[],"transactions":[],"webhooks":[],"meta":{"number_of_pages":0}}`)
		}
	}))
	t.Cleanup(other.Close)
	dir, key := newSchool(t), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mirror", "--data", dir, "--from", other.URL, "--api-key-file", key, "--parallel", "1"}
	if status, said := ran(t, args...); status != 1 || !strings.Contains(said, "does not accept the API key") {
		t.Fatalf("the first run: %d %s", status, said)
	}
	if status, said := ran(t, args...); status != 0 || !strings.Contains(said, "resuming with the learners") || again.Load() {
		t.Errorf("the second run: %d %s; the first page again: %v", status, said, again.Load())
	}
	users := command(t, "export", "users", "--data", dir)
	if n := strings.Count(users, "@example.com"); n != total || !strings.Contains(users, "1,owner@example.com,User 1,owner,") {
		t.Errorf("%d of %d users were copied: %s", n, total, users)
	}
}

// TestMirrorKeepsTheOwner checks that the owner of the other school does not become that of the
// copy.
func TestMirrorKeepsTheOwner(t *testing.T) {
	t.Parallel()
	const eve = `{"id":1,"email":"eve@example.com","name":"Eve","src":null,"role":"owner","last_sign_in_ip":null,"courses":[],"tags":[]}`
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/users/1":
			_, _ = io.WriteString(w, eve)
		case "/v1/users":
			listed := eve
			if r.URL.Query().Get("search_after") == "1" {
				listed = ""
			}
			_, _ = io.WriteString(w, `{"users":[`+listed+`],"meta":{"total":1,"number_of_pages":1,"has_more_results":false}}`)
		default:
			_, _ = io.WriteString(w, `{"courses":[],"pricing_plans":[],"transactions":[],"webhooks":[],"meta":{"number_of_pages":0}}`)
		}
	}))
	t.Cleanup(other.Close)
	dir, key := newSchool(t), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := command(t, "export", "users", "--data", dir)
	status, said := ran(t, "mirror", "--data", dir, "--from", other.URL, "--api-key-file", key)
	if want := "user 1: id 1 is the school's owner, with another email address"; status != 1 || strings.Count(said, want) != 1 || !strings.Contains(said, " 1 refused\n") {
		t.Errorf("it ends with %d: %s", status, said)
	}
	if after := command(t, "export", "users", "--data", dir); after != before {
		t.Errorf("the copy had the users\n%sand has\n%s", before, after)
	}
}

// TestMirrorOfUsersItCannotReach checks that the copy fails with a sentence instead of sending
// requests forever.
func TestMirrorOfUsersItCannotReach(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for meta, says := range map[string]string{
		`{"total":10001,"number_of_pages":101}`:                   "has 10001 users and ignores search_after; pages reach only 10000, so they cannot be copied",
		`{"total":1,"number_of_pages":1,"has_more_results":true}`: "does not list users in the order of their ids after user 7, so they cannot be copied",
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"users":[{"id":7,"email":"u7@example.com","name":null}],"meta":`+meta+`}`)
		}))
		t.Cleanup(other.Close)
		status, said := ran(t, "mirror", "--data", newSchool(t), "--from", other.URL, "--api-key-file", key)
		if status != 1 || !strings.Contains(said, says) {
			t.Errorf("%s: %d %s", meta, status, said)
		}
	}
}

// TestMirrorOfASchoolThatChanges checks that what is deleted between being listed and being
// requested is reported, and that nothing else is missed: neither the courses after one that
// was deleted between two runs, nor a sale of a server whose clock is ahead.
func TestMirrorOfASchoolThatChanges(t *testing.T) {
	t.Parallel()
	const one = `"meta":{"total":1,"number_of_pages":1}`
	course := func(id int) string {
		return fmt.Sprintf(`{"course":{"id":%d,"name":"Course %[1]d","is_published":true,"author_bio":{"name":"Ann","user_id":4},`+ // who was erased
			`"lecture_sections":[{"id":%[1]d,"name":"One","position":1,"lectures":[{"id":%[1]d1,"position":1},{"id":%[1]d2,"position":2}]}]}}`, id)
	}
	user := `{"id":2,"email":"u2@example.com","role":"student","courses":[{"course_id":3,"enrolled_at":"2099-01-01T00:00:00Z","is_active_enrollment":true}],"tags":[]}`
	responses := map[string]string{
		"/v1/users?search_after=0":  `{"users":[{"id":2,"email":"u2@example.com"},{"id":3,"email":"u3@example.com"}],"meta":{"number_of_pages":1,"has_more_results":false}}`,
		"/v1/users?search_after=3":  `{"users":[],"meta":{"number_of_pages":1,"has_more_results":false}}`,
		"/v1/users/2":               user,
		"/v1/courses":               `{"courses":[{"id":9},{"id":1},{"id":3},{"id":2}],` + one + `}`,
		"/v1/courses/1":             course(1),
		"/v1/courses/2":             course(2),
		"/v1/courses/3":             course(3),
		"/v1/courses/1/lectures/11": `{"lecture":{"id":11,"name":"Clay","attachments":[]}}`,
		"/v1/courses/3/lectures/31": `{"lecture":{"id":31,"name":"Wheel","attachments":[{"id":8,"kind":"quiz","position":1,"quiz":{"id":6,"questions":[]}}]}}`,
		"/v1/courses/3/lectures/31/quizzes/8/responses": `{"quiz_responses":{"responses":[{"student_id":2,"percent_correct":0.5},{"student_id":4,"percent_correct":1},{"student_id":5,"percent_correct":0.25}]}}`,
		"/v1/courses/3/lectures/32":                     `{"lecture":{"id":32,"name":"Kiln","attachments":[]}}`,
		"/v1/courses/3/enrollments":                     `{"enrollments":[{"user_id":2,"enrolled_at":"2099-01-01T00:00:00Z","expires_at":"2099-06-01T00:00:00Z"}],` + one + `}`,
		"/v1/pricing_plans":                             `{"pricing_plans":[{"id":5},{"id":6}],` + one + `}`,
		"/v1/pricing_plans/5":                           `{"pricing_plan":{"id":5,"course_id":3,"name":"Once","price":100,"currency":"USD","frequency":{"type":"one_time"},"created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"}}`,
		"/v1/transactions":                              `{"transactions":[{"id":7,"user_id":5,"pricing_plan_id":5,"sale_id":7,"created_at":"2099-01-01T00:00:00Z","purchased_at":"2099-01-01T00:00:00Z","charge":100,"final_price":100,"currency":"USD","revenue":90,"status":"paid"}],` + one + `}`,
		"/v1/webhooks":                                  `{"webhooks":[{"id":1,"workflow_state":"active","url":"https://example.com/","event_trigger":"Sale.created","webhook_events_count":0}]}`,
	}
	var refused atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if after := r.URL.Query().Get("search_after"); after != "" {
			path += "?search_after=" + after
		}
		response := responses[path]
		switch {
		case r.URL.Query().Has("end") || r.URL.Query().Has("enrolled_in_before"): // before anything that this server has
			response = `{"transactions":[],"enrollments":[],` + one + `}`
		case path == "/v1/courses/3" && refused.CompareAndSwap(false, true): // after courses 1 and 2
			w.WriteHeader(http.StatusUnauthorized)
			return
		case path == "/v1/courses" && refused.Load():
			response = `{"courses":[{"id":9},{"id":3},{"id":2}],` + one + `}`
		}
		if response == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, response)
	}))
	t.Cleanup(other.Close)
	dir, key := newSchool(t), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mirror", "--data", dir, "--from", other.URL, "--api-key-file", key, "--parallel", "1"}
	gone := func(what, path string) string {
		return fmt.Sprintf("%s: %s lists it, but has nothing at %s; it may have been deleted since\n", what, other.URL, path)
	}
	status, said := ran(t, args...)
	if want := gone("lecture 12", "/v1/courses/1/lectures/12"); status != 1 || !strings.Contains(said, want) || !strings.Contains(said, "does not accept the API key") {
		t.Fatalf("the first run: %d %s", status, said)
	}
	status, said = ran(t, args...)
	want := gone("course 9", "/v1/courses/9") + gone("pricing plan 6", "/v1/pricing_plans/6") + gone("user 3", "/v1/users/3")
	if status != 1 || !strings.Contains(said, want) || !strings.Contains(said, ", 3 refused\n") {
		t.Errorf("the second run: %d %s", status, said)
	}
	for kind, text := range map[string]string{
		"courses": "3,Course 3,", "lectures": "31,3,3,Wheel,", "pricing-plans": "5,", "transactions": "2099-01-01T00:00:00Z",
		"enrollments": "2099-01-01T00:00:00Z,2099-06-01T00:00:00Z,", "webhooks": "https://example.com/", "authors": ",Ann,,,,",
		"quiz-responses": ",6,5,", // of an erased user who bought something; the other one is unknown
	} {
		if got := command(t, "export", kind, "--data", dir); !strings.Contains(got, text) {
			t.Errorf("the %s lack %q:\n%s", kind, text, got)
		}
	}
}

// TestMirrorKeepsProgressTogether checks that users who enroll or are created during the copy
// are copied with their progress and its id, and that progress that started in the copy, with
// another id, is updated.
func TestMirrorKeepsProgressTogether(t *testing.T) {
	t.Parallel()
	const one = `"meta":{"total":1,"number_of_pages":1}`
	var enrolled atomic.Bool
	progress := func(id, percent int) string {
		return fmt.Sprintf(`{"course_progress":{"id":%d,"percent_complete":%d,"certificate":{},"lecture_sections":[]},%s}`, id, percent, one)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := `{"pricing_plans":[],"transactions":[],"enrollments":[],"webhooks":[],` + one + `}`
		switch r.URL.Path {
		case "/v1/users":
			response = `{"users":[],"meta":{"number_of_pages":1,"has_more_results":false}}`
			if r.URL.Query().Get("search_after") == "0" {
				response = `{"users":[{"id":2,"email":"u2@example.com"}],"meta":{"number_of_pages":1,"has_more_results":false}}`
			}
		case "/v1/users/2", "/v1/users/9":
			courses := ""
			if enrolled.Load() {
				courses = `{"course_id":1,"enrolled_at":"2024-01-01T00:00:00Z","is_active_enrollment":true},` +
					`{"course_id":2,"enrolled_at":"2024-02-02T00:00:00Z","is_active_enrollment":true}`
			}
			response = `{"id":2,"email":"u` + r.URL.Path[len("/v1/users/"):] + `@example.com","role":"student","courses":[` + courses + `],"tags":[]}`
		case "/v1/courses":
			response = `{"courses":[{"id":1},{"id":2}],` + one + `}`
		case "/v1/courses/1", "/v1/courses/2":
			response = `{"course":{"id":` + r.URL.Path[len("/v1/courses/"):] + `,"name":"Pottery","author_bio":{"name":"Ann"},"lecture_sections":[]}}`
		case "/v1/courses/1/enrollments":
			response = `{"enrollments":[{"user_id":2,"enrolled_at":"2024-01-01T00:00:00Z"},{"user_id":9,"enrolled_at":"2024-01-01T00:00:00Z"}],` + one + `}`
			enrolled.Store(true)
		case "/v1/courses/1/progress":
			response = progress(map[string]int{"2": 77, "9": 78}[r.URL.Query().Get("user_id")], 30)
		case "/v1/courses/2/progress":
			response = progress(map[string]int{"2": 88, "9": 89}[r.URL.Query().Get("user_id")], 40)
		case "/v2/products/courses":
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, response)
	}))
	t.Cleanup(other.Close)
	dir, folder := newSchool(t), t.TempDir()
	for kind, text := range map[string]string{"users": "id,email\n2,u2@example.com\n", "courses": "id,name,is_published\n2,Felt,true\n"} {
		command(t, "import", kind, write(t, folder, kind, text), "--data", dir)
	}
	own := write(t, folder, "progress.csv", "id,user_id,course_id,percent_complete,completed_at,certificate_issued_at,certificate_page_id,certificate_serial_number\n3,2,2,10,,,,\n")
	command(t, "import", "progress", own, "--data", dir)
	args := []string{"mirror", "--data", dir, "--from", other.URL, "--api-key-file", write(t, folder, "key", "key")}
	for range 2 {
		says(t, 0, `, 0 refused`, args...)
	}
	got := command(t, "export", "progress", "--data", dir)
	if !strings.Contains(got, "\n3,2,2,40,") || !strings.Contains(got, "\n77,2,1,30,") || !strings.Contains(got, "\n78,9,1,30,") {
		t.Error(got)
	}
}

// TestMirrorStatesAreWrittenAtOnce checks that with several mirrors writing the same state file
// concurrently, each write succeeds, and what is read is complete.
func TestMirrorStatesAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state")
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for n := range int64(200) {
				if err := writeState(file, mirror.State{Phase: "users", Cursor: n}); err != nil {
					t.Error(err)
				}
				if s, err := readState(file); err != nil || s.Phase != "users" {
					t.Errorf("%+v, %v", s, err)
				}
			}
		})
	}
	writers.Wait()
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
