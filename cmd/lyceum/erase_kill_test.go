package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestKillsDuringErasing erases people while the server is killed repeatedly. In the end
// nothing of them is left in the database, nor in any byte of SQLite's files, and the totals
// are unchanged. LYCEUM_KILLS sets a higher number of kills.
func TestKillsDuringErasing(t *testing.T) {
	t.Parallel()
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("LYCEUM_KILLS")); err == nil && n > kills {
		kills = n
	}
	for engine, place := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "data") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, place(t))
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // echoes the body
				body := new(bytes.Buffer)
				_, _ = body.ReadFrom(r.Body)
				_, _ = w.Write(body.Bytes())
			}))
			defer hook.Close()
			s.serve(t)
			s.must(t, http.MethodPost, "/lyceum/v1/webhooks", "hook", map[string]any{"url": hook.URL}, nil)
			lecture := s.lesson(t)
			var totals, after any
			for n := range kills {
				id := s.befriend(t, n)
				s.talk(t, lecture, id, n)
				s.must(t, http.MethodGet, "/v1/transactions?per=100", "", nil, &totals)
				path := fmt.Sprintf("/v2/users/%d", id)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = s.send(http.MethodDelete, path, "", nil, nil)
				}()
				time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) // the moment is what varies
				s.server.kill(t)
				<-done
				s.serve(t)
				if status := s.insist(http.MethodDelete, path, "", nil, nil); status != http.StatusAccepted && status != http.StatusNotFound {
					t.Fatalf("erased with %d", status)
				}
				if status := s.insist(http.MethodGet, path, "", nil, nil); status != http.StatusNotFound {
					t.Errorf("shown with %d", status)
				}
				s.must(t, http.MethodGet, "/v1/transactions?per=100", "", nil, &after)
				if fmt.Sprint(totals) != fmt.Sprint(after) {
					t.Errorf("the transactions were %v and are %v", totals, after)
				}
			}
			s.erased(t)
			s.must(t, http.MethodPost, "/v2/users", "", map[string]any{"name": "Another", "email": "quentin0@zoltan.example", "role": "student", "allow_marketing_emails": false}, nil)
		})
	}
}

// must repeats a request until there is a response, and fails unless that is a success.
func (s *shop) must(t *testing.T, method, path, key string, body, into any) {
	t.Helper()
	if status := s.insist(method, path, key, body, into); status < 200 || status > 299 {
		t.Fatalf("%s %s: %d", method, path, status)
	}
}

// befriend creates a person who leaves traces everywhere.
func (s *shop) befriend(t *testing.T, n int) int32 {
	t.Helper()
	var made struct {
		Data struct {
			ID int32 `json:"id"`
		} `json:"data"`
	}
	email := fmt.Sprintf("quentin%d@zoltan.example", n)
	s.must(t, http.MethodPost, "/v2/users", "", map[string]any{"name": "Quentin Zoltan", "email": email, "role": "student", "allow_marketing_emails": true, "notes": "Zoltan's notes"}, &made)
	id := made.Data.ID
	path := fmt.Sprintf("/v2/users/%d", id)
	s.must(t, http.MethodPatch, path, "", map[string]any{"name": "Quentin Oldzoltan", "email": fmt.Sprintf("Old%d@zoltan.example", n)}, nil)
	s.must(t, http.MethodPatch, path, "", map[string]any{"name": "Quentin Zoltan", "email": email, "password": "four unrelated words"}, nil)
	s.must(t, http.MethodPut, fmt.Sprintf("/lyceum/v1/users/%d/tags", id), "", map[string]any{"tags": []string{"zoltan"}}, nil)
	s.must(t, http.MethodPost, "/lyceum/v1/orders", fmt.Sprintf("order%d", n), map[string]any{"email": email, "name": "Quentin Zoltan", "pricing_plan_id": 1}, nil)
	var sale soldBy
	s.must(t, http.MethodPost, "/lyceum/v1/sales", fmt.Sprintf("sale%d", n), map[string]any{"user_id": id, "pricing_plan_id": 1}, &sale)
	s.must(t, http.MethodPost, fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", sale.Sale.Transactions[0].ID), fmt.Sprintf("refund%d", n), map[string]any{"amount": 5, "reason": "Quentin Zoltan asked"}, nil)
	return id
}

// lesson is a lecture with a quiz.
type lesson struct{ id, quiz int32 }

// lesson creates a lecture of course 1.
func (s *shop) lesson(t *testing.T) lesson {
	t.Helper()
	var made struct {
		Data struct {
			ID int32 `json:"id"`
		} `json:"data"`
	}
	s.must(t, http.MethodPost, "/v2/products/courses/1/sections", "section", map[string]any{"name": "First"}, &made)
	path := fmt.Sprintf("/v2/products/courses/1/sections/%d/lectures", made.Data.ID)
	s.must(t, http.MethodPost, path, "lecture", map[string]any{"name": "Clay"}, &made)
	var quiz struct {
		Quiz struct {
			ID int32 `json:"id"`
		} `json:"quiz"`
	}
	s.must(t, http.MethodPost, fmt.Sprintf("/lyceum/v1/lectures/%d/quizzes", made.Data.ID), "quiz", map[string]any{"questions": []map[string]any{{
		"question_type": "fill_blank", "question": "Who made it?", "correct_answers": []string{"Nobody"},
	}}}, &quiz)
	return lesson{made.Data.ID, quiz.Quiz.ID}
}

// talk makes a person submit a quiz response and comment on a lecture, and others write about
// them.
func (s *shop) talk(t *testing.T, lecture lesson, id int32, n int) {
	t.Helper()
	path := fmt.Sprintf("/lyceum/v1/lectures/%d/comments", lecture.id)
	var made struct {
		Comment struct {
			ID int32 `json:"id"`
		} `json:"comment"`
	}
	s.must(t, http.MethodPost, path, fmt.Sprintf("comment%d", n), map[string]any{"user_id": id, "body": "I am Quentin Zoltan"}, &made)
	reply := map[string]any{
		"user_id": id, "parent_id": made.Comment.ID, "body": "Zoltan again",
		"attachments": []map[string]any{{"url": "https://zoltan.example/me.jpg", "kind": "image"}},
	}
	s.must(t, http.MethodPost, path, fmt.Sprintf("reply%d", n), reply, nil)
	s.must(t, http.MethodPost, "/lyceum/v1/enrollments", fmt.Sprintf("enroll%d", n), map[string]any{"user_id": 1, "product_type": "course", "product_id": 1}, nil)
	answers := map[string]any{"user_id": id, "answers": [][]string{{"by Zoltan"}}}
	s.must(t, http.MethodPost, fmt.Sprintf("/lyceum/v1/quizzes/%d/responses", lecture.quiz), fmt.Sprintf("response%d", n), answers, nil)
	about := fmt.Sprintf("Thank you, quentin zoltan (quentin%d@zoltan.example)!", n)
	s.must(t, http.MethodPost, path, fmt.Sprintf("about%d", n), map[string]any{"user_id": 1, "parent_id": made.Comment.ID, "body": about}, nil)
	s.must(t, http.MethodPost, "/v2/users", "", map[string]any{
		"name": "Friend", "email": fmt.Sprintf("friend%d@example.com", n), "role": "student", "allow_marketing_emails": false, "notes": "came with Quentin Zoltan",
	}, nil)
}

// erased waits until nothing is left to erase, and then searches for the people's names.
func (s *shop) erased(t *testing.T) {
	t.Helper()
	engine, address := "sqlite", "file:"+filepath.Join(s.place, sqlstore.FileName)+"?mode=ro"
	if sqlstore.IsPostgres(s.place) {
		engine, address = "pgx", s.place
	}
	db, err := sql.Open(engine, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begun := time.Now()
	done := await(func() bool {
		var left int
		return db.QueryRowContext(t.Context(), "SELECT count(*) FROM erasures").Scan(&left) == nil && left == 0
	})
	if !done {
		t.Fatal("people are still being erased")
	}
	t.Logf("nothing left to do after %v", time.Since(begun).Round(time.Second))
	for _, column := range columnsOf(t, db, engine) {
		var found int
		query := fmt.Sprintf("SELECT count(*) FROM %s WHERE LOWER(CAST(%s AS TEXT)) LIKE '%%zoltan%%'", column[0], column[1])
		if err := db.QueryRowContext(t.Context(), query).Scan(&found); err != nil || found > 0 {
			t.Errorf("%s.%s: %d rows, %v", column[0], column[1], found, err)
		}
	}
	if engine != "sqlite" {
		return
	}
	err = filepath.WalkDir(s.place, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if at := bytes.Index(bytes.ToLower(text), []byte("zoltan")); at >= 0 {
			t.Errorf("%s has %q", filepath.Base(path), text[max(0, at-60):min(len(text), at+60)])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// columnsOf lists the text columns of a database.
func columnsOf(t *testing.T, db *sql.DB, engine string) (columns [][2]string) {
	t.Helper()
	query := "SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.type = 'TEXT'"
	if engine != "sqlite" {
		query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text'"
	}
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var column [2]string
		if err := rows.Scan(&column[0], &column[1]); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(column[0], "sqlite_") {
			columns = append(columns, column)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}
