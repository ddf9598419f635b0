package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestKillsWhileEmailsWait queues emails while the mail server is down and kills the server;
// then it kills the server again while they are sent. Each email arrives once or, if it was
// being sent, twice as the same email. With LYCEUM_KILLS set, there are 1,000 of them.
func TestKillsWhileEmailsWait(t *testing.T) {
	t.Parallel()
	emails := 60
	if os.Getenv("LYCEUM_KILLS") != "" {
		emails = 1000
	}
	for engine, place := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "data") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s, box := openShop(t, place(t)), &postbox{addr: freeAddress(t), ids: map[string][]string{}}
			s.flags = []string{"--smtp-url", "smtp://" + box.addr, "--mail-from", "school@example.com"}
			s.enlist(t, emails)
			s.serve(t)
			begin := time.Now()
			s.readdress(t, emails)
			queued := time.Since(begin)
			s.server.kill(t)
			db := s.look(t)
			if waiting := inState(t, db, lyceum.EmailWaiting); waiting != emails {
				t.Fatalf("%d emails wait, want %d", waiting, emails)
			}
			box.open(t)
			begin = time.Now()
			s.serve(t)
			if !await(func() bool { return box.count() >= emails/3 }) {
				t.Fatal("nothing is sent")
			}
			s.server.kill(t)
			killed := box.count()
			s.serve(t)
			if !await(func() bool { return inState(t, db, lyceum.EmailSent) == emails }) {
				t.Fatalf("%d were sent", inState(t, db, lyceum.EmailSent))
			}
			sent := time.Since(begin)
			s.server.kill(t)
			twice := box.check(t, emails)
			t.Logf("%d emails queued in %v, killed when none and %d had arrived, all sent %v later, %d of them twice", emails, queued.Round(time.Millisecond), killed, sent.Round(time.Millisecond), twice)
		})
	}
}

// enlist adds n users to the school, starting with id 101.
func (s *shop) enlist(t *testing.T, n int) {
	t.Helper()
	store, err := openStore(t.Context(), s.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
		var users []lyceum.User
		for id := range lyceum.UserID(n) {
			users = append(users, lyceum.User{ID: id + 101, Email: fmt.Sprintf("before%d@example.com", id+101), Role: lyceum.Student, CreatedAt: storetest.Begin})
		}
		_, err := tx.Users.Save(tx, users...)
		return err
	})
}

// readdress changes their email addresses, about which their old addresses are notified.
func (s *shop) readdress(t *testing.T, n int) {
	t.Helper()
	var work sync.WaitGroup
	for part := range 8 {
		work.Go(func() {
			for id := 101 + part; id <= 100+n; id += 8 {
				path, body := fmt.Sprintf("/v2/users/%d", id), map[string]any{"email": fmt.Sprintf("after%d@example.com", id)}
				if status, err := s.send(http.MethodPatch, path, "", body, nil); err != nil || status != http.StatusOK {
					t.Errorf("user %d: %d %v", id, status, err)
				}
			}
		})
	}
	work.Wait()
}

// inState counts the emails in a state, bypassing the server.
func inState(t *testing.T, db *sql.DB, state lyceum.EmailState) (n int) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM emails WHERE state = '"+string(state)+"'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// postbox is a mail server that records who was sent which email.
type postbox struct {
	addr string
	mu   sync.Mutex
	ids  map[string][]string // Message-IDs by address
	all  int
}

func (m *postbox) open(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", m.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go m.converse(conn)
		}
	}()
}

// converse speaks as much SMTP (RFC 5321) as a sender needs.
func (m *postbox) converse(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 postbox\r\n")
	for lines.Scan() {
		switch command := strings.ToUpper(lines.Text()); {
		case command == "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			var text strings.Builder
			whole := false
			for !whole && lines.Scan() {
				whole = lines.Text() == "."
				text.WriteString(lines.Text() + "\n")
			}
			if !whole { // the sender was killed
				return
			}
			m.keep(text.String())
			fmt.Fprint(conn, "250 taken\r\n")
		case command == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func (m *postbox) keep(text string) {
	letter, err := mail.ReadMessage(strings.NewReader(text))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all++; err == nil {
		to := strings.Trim(letter.Header.Get("To"), "<>")
		m.ids[to] = append(m.ids[to], letter.Header.Get("Message-Id"))
	}
}

func (m *postbox) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

// check returns how many emails arrived twice, which must be identical, and fails if one did
// not arrive.
func (m *postbox) check(t *testing.T, n int) (twice int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	different := map[string]bool{}
	for id := 101; id <= 100+n; id++ {
		ids := m.ids["before"+strconv.Itoa(id)+"@example.com"]
		switch {
		case len(ids) == 0 || len(ids) > 2 || ids[0] == "" || ids[0] != ids[len(ids)-1]:
			t.Errorf("user %d was sent %q", id, ids)
			continue
		case len(ids) == 2:
			twice++
		}
		different[ids[0]] = true
	}
	if len(different) != n || m.all != n+twice || twice > 16 {
		t.Errorf("%d emails arrived with %d ids, %d twice", m.all, len(different), twice)
	}
	return twice
}
