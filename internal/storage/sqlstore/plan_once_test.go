package sqlstore

import (
	"context"
	"errors"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"zombiezen.com/go/sqlite"
)

// TestSQLitePlansOnce counts plans by the calls of an authorizer, which SQLite calls when it
// plans.
func TestSQLitePlansOnce(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.reading(t.Context(), func(q reading) error {
		planned := 0
		err := q.(*direct).conn.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult {
			planned++
			return sqlite.AuthResultOK
		}))
		if err != nil {
			return err
		}
		const text = "SELECT user_id FROM users WHERE school_id = $1 AND role = $2 ORDER BY user_id LIMIT $3 OFFSET $4"
		for i, args := range [][]any{
			{int64(1), "student", int64(20), int64(0)},
			{int64(1), "student", int64(20), int64(20)},
			{int64(1), "owner", int64(25), int64(0)},
			{int64(2), "owner", int64(25), int64(0)},
			{int64(1), "owner", int64(1), int64(1)},
		} {
			if err := q.each(text, args, []any{&anything{}}, nothing); err != nil {
				return err
			}
			switch {
			case i == 0 && planned == 0:
				t.Error("a new statement was not planned")
			case i > 0 && planned > 0:
				t.Errorf("planned again for %v", args)
			}
			planned = 0
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPostgresPlansOnce uses PostgreSQL's count of custom plans.
func TestPostgresPlansOnce(t *testing.T) {
	t.Parallel()
	s, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, test := range []struct {
		name  string
		read  func(context.Context, func(*session) error) error
		again int64  // pages that are planned for their values
		joins string // whether hash joins and merge joins are on
	}{
		{"snapshot", s.reads.snapshot, 0, "off off"},
		{"survey", s.reads.survey, 3, "on on"},
		{"snapshot on the connection of a survey", s.reads.snapshot, 0, "off off"},
	} {
		err := test.read(t.Context(), func(q *session) error {
			plans := func() (again int64, err error) {
				_, err = q.one("SELECT COALESCE(CAST(sum(custom_plans) AS BIGINT), 0) FROM pg_prepared_statements "+
					"WHERE statement LIKE 'SELECT user_id%'", nil, scanInt(&again))
				return again, err
			}
			var joins string
			_, err := q.one("SELECT current_setting('enable_hashjoin') || ' ' || current_setting('enable_mergejoin')", nil,
				scanText(&joins))
			if joins != test.joins {
				t.Errorf("%s: joins are %s, want %s", test.name, joins, test.joins)
			}
			before, e := plans()
			if err := errors.Join(err, e); err != nil {
				return err
			}
			for page := range int64(3) {
				err := q.each("SELECT user_id FROM users WHERE school_id = $1 ORDER BY user_id LIMIT $2 OFFSET $3",
					[]any{int64(1), 20 + page, 20 * page}, []any{&anything{}}, nothing)
				if err != nil {
					return err
				}
			}
			after, err := plans()
			if again := after - before; err == nil && again != test.again {
				t.Errorf("%s: %d of 3 pages were planned again, want %d", test.name, again, test.again)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestPostgresPlansCombinedQueriesOnce checks combined queries: they are about few keys, for
// which a custom plan would look cheaper. The server makes five to compare.
func TestPostgresPlansCombinedQueriesOnce(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	const text = "SELECT name FROM users WHERE school_id = $1 AND user_id = $2"
	fetch := func(q *session) error {
		return q.link.(*pipeline).fetch([]*lookup{
			{text: text, args: []any{int64(1), int64(1)}}, {text: text, args: []any{int64(1), int64(2)}},
		})
	}
	err := s.writes.change(t.Context(), false, func(q *session) (bool, error) { return false, fetch(q) })
	if err != nil {
		t.Fatal(err)
	}
	if combined, known := s.writes.combined.Load(text); !known || combined.(combination).text == "" {
		t.Fatal("they are not combined")
	}
	err = s.writes.change(t.Context(), false, func(q *session) (bool, error) {
		for range 20 {
			if err := fetch(q); err != nil {
				return false, err
			}
		}
		var own, general int64
		_, err := q.one("SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT a.place%'", nil,
			scanInt(&own), scanInt(&general))
		if own > 5 || own+general < 20 {
			t.Errorf("of 20 askings %d were planned for their keys, and %d not", own, general)
		}
		return false, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPostgresPlansInsertionsOnce checks insertions, including those of few rows. The server
// makes five plans to compare.
func TestPostgresPlansInsertionsOnce(t *testing.T) {
	t.Parallel()
	pool := openTestPostgres(t).writes
	const table, columns = "bare", "n, word"
	pool.types[[2]string{table, "school_id"}], pool.types[[2]string{table, "n"}] = "int4", "int8"
	pool.types[[2]string{table, "word"}] = "text"
	values := func(n int64) []any { return []any{int64(0), n, "one", int64(0), n, "two"} }
	for name, insertion := range map[string]func(n int64) (text string, args []any){
		"plain":    func(n int64) (string, []any) { return pool.insertion(table, columns, 2, values(n)) },
		"compared": func(n int64) (string, []any) { return pool.comparedInsertion(table, columns, 2, values(n)) },
		"following": func(n int64) (string, []any) {
			text := pool.insertFollowingText(table, columns, []bool{false, true, false})
			return text, append(arraysOf(values(n), 3), arraysOf([]any{int64(1), nil}, 1)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := pool.change(t.Context(), false, func(q *session) (bool, error) {
				err := errors.Join(q.exec("CREATE TABLE bare (school_id int, n bigint, word text)"),
					q.exec("SELECT set_config('lyceum.guessed', 'right', true), set_config('lyceum.counters', '{7}', true)"))
				for n := range int64(20) {
					if err == nil {
						text, args := insertion(n)
						err = q.run(text, args)
					}
				}
				if err != nil {
					return false, err
				}
				var own, all, rows int64
				_, err = q.one("SELECT max(custom_plans), min(custom_plans + generic_plans) FROM pg_prepared_statements "+
					"WHERE statement LIKE 'INSERT INTO bare%'", nil, scanInt(&own), scanInt(&all))
				if err != nil {
					return false, err
				}
				if own > 5 || all < 20 {
					t.Errorf("of %d insertions %d were planned for their rows", all, own)
				}
				if _, err = q.one("SELECT count(*) FROM bare", nil, scanInt(&rows)); err == nil && rows != 40 {
					t.Errorf("%d rows, want 40", rows)
				}
				return false, err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPostgresCompilesNothing checks that JIT compilation is off for reads and writes.
func TestPostgresCompilesNothing(t *testing.T) {
	t.Parallel()
	s, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, p := range map[string]*pool{"reads": s.reads, "writes": s.writes} {
		var jit string
		if _, err := p.single(t.Context()).one("SELECT current_setting('jit')", nil, scanText(&jit)); err != nil || jit != "off" {
			t.Errorf("%s: jit is %q, %v", name, jit, err)
		}
	}
}
