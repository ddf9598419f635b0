package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

const aboveLast = " 2147483647 is above 2147000000: ids end at 2147483647, and new rows need higher ones; use another id, or allow it with --allow-last-ids"

// TestImportKeepsLastIDs checks that no kind of row takes the last ids of a sequence unless
// that is allowed, and that new rows can still be created after a rejection.
func TestImportKeepsLastIDs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "box")
	sandbox(t, "--transactions", "60", "--data", dir)
	more := map[string][]string{ // fields that create something, besides id
		"transactions":  {"user_id", "pricing_plan_id", "sale_id", "affiliate_id", "author_id", "coupon_id"},
		"pricing-plans": {"course_id"},
		"attachments":   {"quiz_id"},
	}
	for _, kind := range rowKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "rows.jsonl")
			if kind.name == "tags" || kind.name == "uploads" {
				return // they have no ids of their own, and refer to existing rows
			}
			lines := bytes.Split([]byte(command(t, "export", kind.name, "--data", dir, "--format", "jsonl")), []byte("\n"))
			for _, field := range append([]string{"id"}, more[kind.name]...) {
				row := map[string]any{}
				for _, line := range lines { // a row that has the field
					if err := json.Unmarshal(line, &row); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
					if row[field] != nil {
						break
					}
				}
				if field == "quiz_id" {
					row["questions"] = nil // they would have to come after it
				}
				for id, refused := range map[int32]bool{lyceum.MaxID: true, lyceum.MaxImportedID: false} {
					row[field] = id
					text, err := json.Marshal(row)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, text, 0o600); err != nil {
						t.Fatal(err)
					}
					args := []string{"import", kind.name, file, "--data", dir, "--dry-run", "--create-missing"}
					if _, said := ran(t, args...); strings.Contains(said, "line 1: "+field+aboveLast) != refused {
						t.Errorf("%s %d: %s", field, id, said)
					}
					if !refused {
						continue
					}
					if _, said := ran(t, append(args, "--allow-last-ids")...); strings.Contains(said, "above") {
						t.Errorf("%s %d, allowed: %s", field, id, said)
					}
				}
			}
		})
	}
}

// TestMirrorKeepsLastIDs checks that what another school has under the last ids is reported and
// not copied, unless that is allowed.
func TestMirrorKeepsLastIDs(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const meta = `"meta":{"total":1,"page":1,"number_of_pages":1,"per_page":100,"has_more_results":false}}`
		user := `{"id":2147483647,"email":"last@example.com","name":"Last","role":"student","courses":[],"transactions":[],"tags":[],"src":null,"last_sign_in_at":null,"last_sign_in_ip":null}`
		switch users := `{"users":[],` + meta; {
		case r.URL.Path == "/v1/users/2147483647":
			fmt.Fprint(w, user)
		case r.URL.Path == "/v1/users":
			if r.URL.Query().Get("search_after") == "" || r.URL.Query().Get("search_after") == "0" {
				users = `{"users":[` + user + `],` + meta
			}
			fmt.Fprint(w, users)
		case r.URL.Path == "/v1/webhooks":
			fmt.Fprint(w, `{"webhooks":[]}`)
		default:
			fmt.Fprint(w, `{"courses":[],"pricing_plans":[],"transactions":[],"webhooks":[],"enrollments":[],"meta":{"total":0,"page":1,"from":0,"to":0,"per_page":100,"number_of_pages":1}}`)
		}
	}))
	t.Cleanup(other.Close)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := newSchool(t)
	args := []string{"mirror", "--data", dir, "--school", "1", "--from", other.URL, "--api-key-file", key}
	if status, said := ran(t, args...); status != 1 || !strings.Contains(said, "user 2147483647: id"+aboveLast) {
		t.Errorf("%d %s", status, said)
	}
	if users := command(t, "export", "users", "--data", dir); strings.Contains(users, "2147483647") {
		t.Errorf("the user was copied:\n%s", users)
	}
	if status, said := ran(t, append(args, "--allow-last-ids")...); status != 0 {
		t.Errorf("allowed: %d %s", status, said)
	}
	if users := command(t, "export", "users", "--data", dir); !strings.Contains(users, "2147483647") {
		t.Errorf("the user was not copied:\n%s", users)
	}
}
