package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// rush is a school in one database that is served by two processes.
type rush struct {
	addresses [2]string
	key       string
	client    *http.Client
}

type made struct {
	ID int `json:"id"`
}

// sold is the response to a request of a rush.
type sold struct {
	status int
	Code   string `json:"code"`
	Sale   struct {
		Warnings []struct {
			Code string `json:"code"`
		} `json:"warnings"`
	} `json:"sale"`
	Plan   made `json:"pricing_plan"`
	Coupon made `json:"coupon"`
	Course made `json:"course"`
}

func (s *sold) String() string {
	if len(s.Sale.Warnings) > 0 {
		return fmt.Sprint(s.status, " ", s.Sale.Warnings[0].Code)
	}
	return strings.TrimSpace(fmt.Sprint(s.status, " ", s.Code))
}

// post sends a request to one of the processes.
func (r *rush) post(ctx context.Context, i int, path, body string) (*sold, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.addresses[i%2]+"/lyceum/v1/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Apikey", r.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s := &sold{status: response.StatusCode}
	return s, errors.Join(err, json.Unmarshal(text, s))
}

func (r *rush) create(t *testing.T, path, body string) *sold {
	t.Helper()
	s, err := r.post(t.Context(), 0, path, body)
	if err != nil || s.status != http.StatusCreated {
		t.Fatalf("%s: %v, %v", path, s, err)
	}
	return s
}

// at sends the requests of n buyers concurrently, and counts the responses. If the response
// says that the school is busy, the request is repeated, as it says.
func (r *rush) at(t *testing.T, n int, path string, body func(i int) string) map[string]int {
	t.Helper()
	var group sync.WaitGroup
	responses := make([]string, n)
	for i := range n {
		group.Go(func() {
			s, err := r.post(t.Context(), i, path, body(i))
			for err == nil && s.status == http.StatusServiceUnavailable {
				s, err = r.post(t.Context(), i, path, body(i))
			}
			if responses[i] = fmt.Sprint(err); err == nil {
				responses[i] = s.String()
			}
		})
	}
	group.Wait()
	count := map[string]int{}
	for _, a := range responses {
		count[a]++
	}
	return count
}

// TestRushOnTwoProcesses has buyers come to two processes on one PostgreSQL database at the
// same time. The number of accepted orders equals the number of seats or uses, and every sale
// with a reference is recorded, those beyond it with a warning. LYCEUM_BUYERS sets a higher
// number of buyers.
func TestRushOnTwoProcesses(t *testing.T) {
	t.Parallel()
	n, err := strconv.Atoi(os.Getenv("LYCEUM_BUYERS"))
	if err != nil || n < 10 {
		n = 50
	}
	left := n / 10
	place, secret := storetest.Postgres(t), filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(secret, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "school", "create", "--database-url", place, "--name", "Fernwood", "--owner-email", "owner@example.com")
	users := filepath.Join(t.TempDir(), "users.csv")
	rows := "id,email\n"
	for i := range n {
		rows += fmt.Sprintf("%d,buyer%d@example.com\n", 1000+i, i)
	}
	if err := os.WriteFile(users, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "import", "users", users, "--database-url", place)
	r := &rush{
		key:    strings.TrimSpace(command(t, "apikey", "create", "--database-url", place, "--name", "rush", "--permissions", "read,write")),
		client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 100, MaxIdleConnsPerHost: 100}},
	}
	for i := range r.addresses {
		r.addresses[i] = serveAt(t, "--database-url", place, "--secret-key-file", secret)
	}
	course := r.create(t, "courses", `{"name":"Pottery"}`).Course.ID
	plan := func(seats string) int {
		return r.create(t, "pricing_plans", fmt.Sprintf(`{"product_type":"course","product_id":%d,"name":"Once","price":1000,"currency":"USD"%s}`, course, seats)).Plan.ID
	}
	coupon := func(code string) int {
		return r.create(t, "coupons", fmt.Sprintf(`{"code":%q,"discount_percent":0.5,"number_available":%d}`, code, left)).Coupon.ID
	}
	seats := fmt.Sprintf(`,"enrollment_cap":%d`, left)
	few, others, many := plan(seats), plan(seats), plan("")
	once, another := coupon("ONCE"), coupon("ANOTHER")
	for _, tc := range []struct {
		name, path   string
		body         func(i int) string
		fits, misfit string
	}{
		{"orders of a plan", "orders", func(i int) string {
			return fmt.Sprintf(`{"email":"buyer%d@example.com","pricing_plan_id":%d}`, i, few)
		}, "201", "409 sold_out"},
		{"orders with a coupon", "orders", func(i int) string {
			return fmt.Sprintf(`{"email":"buyer%d@example.com","pricing_plan_id":%d,"coupon_id":%d}`, i, many, once)
		}, "201", "409 coupon_used_up"},
		{"sales of a plan", "sales", func(i int) string {
			return fmt.Sprintf(`{"user_id":%d,"pricing_plan_id":%d,"reference":"plan_%d"}`, 1000+i, others, i)
		}, "201", "201 sold_out"},
		{"sales with a coupon", "sales", func(i int) string {
			return fmt.Sprintf(`{"user_id":%d,"pricing_plan_id":%d,"coupon_id":%d,"reference":"coupon_%d"}`, 1000+i, many, another, i)
		}, "201", "201 coupon_used_up"},
	} {
		got := r.at(t, n, tc.path, tc.body)
		if got[tc.fits] != left || got[tc.misfit] != n-left {
			t.Errorf("%s: %v, want %d and %d", tc.name, got, left, n-left)
		}
		t.Logf("%s: %v", tc.name, got)
	}
	command(t, "check", "--database-url", place)
}
