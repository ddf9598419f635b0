package server_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// till is a server on PostgreSQL that receives sales over the network, with another connection
// to its database.
type till struct {
	base, key string
	store     *sqlstore.Store
	school    lyceum.SchoolID
	other     *sql.Conn
}

func openTill(t *testing.T) *till {
	t.Helper()
	address := storetest.Postgres(t)
	store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &till{store: store, school: storetest.MakeSchool(t, store)}
	storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ada@example.com", CreatedAt: storetest.Begin})
		if err != nil {
			return err
		}
		_, err = tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: 1, Name: "Plan", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin,
		})
		return err
	})
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if s.other, err = db.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages, err := referencePages()
	if err != nil {
		t.Fatal(err)
	}
	tokens, keys := access.NewOAuth(store, time.Now), access.NewKeys(store, time.Now)
	if _, s.key, err = keys.Create(t.Context(), lyceum.By{School: s.school, Actor: "test"}, "till", lyceum.Read|lyceum.Write, access.NewEntropy()); err != nil {
		t.Fatal(err)
	}
	handler := server.Handler(server.Options{
		Faces: facesOver(store, time.Now, tokens), Keys: keys, OAuth: tokens, Limiter: access.NewLimiter(0, time.Now), Reference: pages,
		Ready: store.Ping, Metrics: server.NewMetrics("v1.2.3"), Log: slog.New(slog.DiscardHandler),
	})
	listener, err := server.Listen(t.Context(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(ctx, listener, handler, nil, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); serving.Wait() })
	s.base = "http://" + listener.Addr().String()
	return s
}

// sell reports a sale, with an Idempotency-Key.
func (s *till) sell(t *testing.T, n int) (response *http.Response, message string) {
	t.Helper()
	return s.send(t, http.MethodPost, "/lyceum/v1/sales", `{"user_id": 1, "pricing_plan_id": 1}`,
		"apiKey: "+s.key, "Content-Type: application/json", fmt.Sprintf("Idempotency-Key: sale %d", n))
}

// sold reports a sale until the server has time for it, which may take a while on a busy
// machine.
func (s *till) sold(t *testing.T, n int) {
	t.Helper()
	var response *http.Response
	var message string
	storetest.Await(func() bool {
		response, message = s.sell(t, n)
		return response == nil || response.StatusCode != http.StatusServiceUnavailable
	})
	if response == nil || response.StatusCode != http.StatusCreated {
		t.Errorf("sale %d again: %s", n, message)
	}
}

// refusal is the content of an error response. It is decoded once before any goroutine does so,
// because the race detector does not see that encoding/json synchronises its type cache.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

var _ = json.Unmarshal([]byte("{}"), new(refusal))

func (s *till) send(t *testing.T, method, path, body string, headers ...string) (response *http.Response, message string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil, ""
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	response, err = http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("no answer to %s %s: %v", method, path, err)
		return nil, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	var said refusal
	_ = json.Unmarshal(text, &said) // other text leaves it empty
	return response, said.Message + " [" + said.Code + "]"
}

func (s *till) deed(t *testing.T, text string) {
	t.Helper()
	if _, err := s.other.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func (s *till) sales(t *testing.T) (n int) {
	t.Helper()
	v := s.store.In(t.Context(), s.school)
	if err := v.Transactions.Each(v, lyceum.TransactionQuery{}, func(*lyceum.Transaction) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestR22_HeldLock checks that, while another connection holds a lock in PostgreSQL, every sale
// gets a 503 with a Retry-After and its outcome, and the server is not ready. Each sale happens
// once when it is retried with its key.
func TestR22_HeldLock(t *testing.T) {
	const buyers = 12
	s := openTill(t)
	s.deed(t, "BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE")
	var group sync.WaitGroup
	for n := range buyers {
		group.Go(func() {
			response, message := s.sell(t, n)
			if response == nil {
				return
			}
			if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" ||
				!strings.Contains(message, "nothing was changed") || !strings.HasSuffix(message, " [unavailable]") {
				t.Errorf("sale %d: %d %s", n, response.StatusCode, message)
			}
		})
	}
	held := storetest.Await(func() bool {
		response, _ := s.send(t, http.MethodGet, "/readyz", "")
		return response == nil || response.StatusCode == http.StatusServiceUnavailable
	})
	if !held {
		t.Error("the server is ready while writes wait")
	}
	group.Wait()
	s.deed(t, "ROLLBACK")
	if n := s.sales(t); n != 0 {
		t.Errorf("%d of the sales that changed nothing are there", n)
	}
	for n := range buyers {
		for range 2 {
			s.sold(t, n)
		}
	}
	if n := s.sales(t); n != buyers {
		t.Errorf("%d sales are there, want %d", n, buyers)
	}
}

// TestR22_LostCommit checks that a sale whose commit was not confirmed is reported as such, and
// can be retried with its key.
func TestR22_LostCommit(t *testing.T) {
	s := openTill(t)
	s.deed(t, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`)
	s.deed(t, `CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON transactions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lose()`)
	response, message := s.sell(t, 1)
	if response == nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" ||
		strings.Contains(message, "nothing was changed") || !strings.Contains(message, "unknown") || !strings.Contains(message, "Idempotency-Key") || !strings.HasSuffix(message, " [outcome_unknown]") {
		t.Errorf("got %v %s", response, message)
	}
	s.deed(t, "DROP TRIGGER lose ON transactions")
	for range 2 {
		s.sold(t, 1)
	}
	if n := s.sales(t); n != 1 {
		t.Errorf("%d sales are there, want 1", n)
	}
}
