package sqlstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const (
	aheadTurn = "SELECT set_config('lyceum.test', $1, true)"
	aheadText = "SELECT n, word FROM ahead WHERE n = $1"
	aheadRow  = "INSERT INTO ahead (n, word) VALUES ($1, $2)"
)

// goAhead runs queries on a table with a row of 1 and "one" like a group that goes ahead, and
// inserts rows. It returns the outcome, and whether it could go ahead.
func goAhead(t *testing.T, pool *pool, guesses map[int64][][]any, row string, args ...[]any) (ahead bool, err error) {
	t.Helper()
	err = pool.change(t.Context(), false, func(q *session) (bool, error) {
		p := q.link.(*pipeline)
		var missing []*lookup
		for n, guess := range guesses {
			missing = append(missing, &lookup{text: aheadText, args: []any{n}, guess: guess})
		}
		queries, may := p.goesAhead(aheadTurn, missing)
		if ahead = may; !ahead {
			return false, nil
		}
		if err := p.later(aheadTurn, []any{"turn"}); err != nil {
			return false, err
		}
		if err := p.sendAhead(queries); err != nil {
			return false, err
		}
		for _, of := range args {
			if err := p.later(row, of); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	return ahead, err
}

func runIn(t *testing.T, s *Store, text string) {
	t.Helper()
	if _, err := s.writes.db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func TestRowsGoAhead(t *testing.T) {
	t.Parallel()
	type guesses = map[int64][][]any
	one := []any{int64(1), "one"}
	for _, test := range []struct {
		name  string
		guess guesses
		row   string
		args  [][]any
		rows  int // in the table afterwards
		wrong bool
		code  string // of PostgreSQL's error
	}{
		{"guessed right", guesses{1: {one}, 5: nil}, aheadRow, [][]any{{2, "two"}, {3, "three"}}, 3, false, ""},
		{"one question", guesses{1: {one}}, aheadRow, [][]any{{2, "two"}}, 2, false, ""},
		{"no rows", guesses{1: {one}, 5: nil}, aheadRow, nil, 1, false, ""},
		{"another word", guesses{1: {{int64(1), "eins"}}}, aheadRow, [][]any{{2, "two"}}, 1, true, ""},
		{"a row too many", guesses{1: {one}, 5: {{int64(5), "five"}}}, aheadRow, [][]any{{2, "two"}}, 1, true, ""},
		{"a row too few", guesses{1: nil, 5: nil}, aheadRow, nil, 1, true, ""},
		{"refused", guesses{1: {one}}, aheadRow, [][]any{{2, "two"}, {1, "again"}, {3, "three"}}, 1, false, "23505"},
		{"wrong and refused", guesses{1: nil}, aheadRow, [][]any{{1, "again"}}, 1, true, ""},
		{"a text that is not prepared", guesses{1: {one}}, strings.ToLower(aheadRow), [][]any{{2, "two"}, {3, "three"}}, 3, false, ""},
		{"such a text after a wrong guess", guesses{1: nil}, strings.ToLower(aheadRow), [][]any{{2, "two"}}, 1, true, ""},
		{"such a text refused", guesses{1: {one}}, strings.ToLower(aheadRow), [][]any{{2, "two"}, {1, "again"}}, 1, false, "23505"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := openTestPostgres(t)
			s.writes.db.SetMaxOpenConns(1)
			runIn(t, s, "CREATE TABLE ahead (n int PRIMARY KEY, word text)")
			runIn(t, s, "INSERT INTO ahead VALUES (1, 'one')")
			for range 2 { // learns how the queries are combined, and prepares them
				if ahead, err := goAhead(t, s.writes, guesses{1: nil, 5: nil}, ""); ahead || err != nil {
					t.Fatal(ahead, err)
				}
			}
			_, _ = goAhead(t, s.writes, guesses{1: nil}, "")
			_, _ = goAhead(t, s.writes, guesses{1: {one}, 5: nil}, aheadRow, []any{2, "two"}) // prepares the insert
			runIn(t, s, "DELETE FROM ahead WHERE n > 1")

			ahead, err := goAhead(t, s.writes, test.guess, test.row, test.args...)
			if !ahead {
				t.Fatal("it does not go ahead")
			}
			refused, _ := errors.AsType[*pgconn.PgError](err)
			_, unknown := errors.AsType[*commitError](err)
			switch {
			case unknown:
				t.Errorf("the outcome is unknown: %v", err)
			case test.wrong != errors.Is(err, errGuessed):
				t.Errorf("%v; wrong is %t", err, test.wrong)
			case test.code != "" && (refused == nil || refused.Code != test.code):
				t.Errorf("%v, want %s", err, test.code)
			case test.code == "" && !test.wrong && err != nil:
				t.Error(err)
			}
			var rows int
			if err := s.writes.db.QueryRowContext(t.Context(), "SELECT count(*) FROM ahead").Scan(&rows); err != nil || rows != test.rows {
				t.Errorf("%d rows, %v; want %d", rows, err, test.rows)
			}
		})
	}
}

// TestStatementsThatAreStale checks that a connection is not used again if the result columns of
// its prepared statements have changed.
func TestStatementsThatAreStale(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	s.writes.db.SetMaxOpenConns(1)
	runIn(t, s, "CREATE TABLE ahead (n int PRIMARY KEY, word text)")
	guess := map[int64][][]any{1: nil}
	if ahead, err := goAhead(t, s.writes, guess, ""); ahead || err != nil {
		t.Fatal(ahead, err)
	}
	if ahead, err := goAhead(t, s.writes, guess, ""); !ahead || err != nil {
		t.Fatal(ahead, err)
	}
	runIn(t, s, "ALTER TABLE ahead ALTER word TYPE int USING length(word)")
	ahead, err := goAhead(t, s.writes, guess, "")
	if refused, is := errors.AsType[*pgconn.PgError](err); !ahead || !is || refused.Code != planChanged {
		t.Fatal(ahead, err)
	}
	if ahead, err := goAhead(t, s.writes, guess, ""); ahead || err != nil {
		t.Fatalf("on another connection: %t, %v", ahead, err)
	}
	if ahead, err := goAhead(t, s.writes, guess, ""); !ahead || err != nil {
		t.Fatalf("once that has prepared them: %t, %v", ahead, err)
	}
}

// TestR22_ServerEndsWhileRowsGoAhead checks that if the server ends the session before the
// commit, the outcome is not reported as unknown.
func TestR22_ServerEndsWhileRowsGoAhead(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	s.writes.db.SetMaxOpenConns(1)
	runIn(t, s, "CREATE TABLE ahead (n int PRIMARY KEY, word text)")
	runIn(t, s, "CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS "+
		"$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NEW; END $$")
	runIn(t, s, "CREATE TRIGGER ends BEFORE INSERT ON ahead FOR EACH ROW WHEN (NEW.n = 9) EXECUTE FUNCTION end_session()")
	one := map[int64][][]any{1: nil}
	for range 2 { // prepares the query and the insert
		if _, err := goAhead(t, s.writes, one, aheadRow, []any{2, "two"}); err != nil {
			t.Fatal(err)
		}
		runIn(t, s, "DELETE FROM ahead")
	}
	ahead, err := goAhead(t, s.writes, one, aheadRow, []any{2, "two"}, []any{9, "nine"}, []any{3, "three"})
	public := lyceum.Public(s.outcome(err))
	if !ahead || err == nil || public != nil && public.Code == lyceum.OutcomeUnknown {
		t.Errorf("went ahead is %t, the session has ended: %v; told is %v", ahead, err, public)
	}
	var rows int
	if err := s.writes.db.QueryRowContext(t.Context(), "SELECT count(*) FROM ahead").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// TestGroupsThatGuessWrongQueryFirst checks that a group that went ahead with a wrong guess runs
// again, and that later groups query first. A group that queries what is not known yet looks for
// that and goes ahead.
func TestGroupsThatGuessWrongQueryFirst(t *testing.T) {
	t.Parallel()
	stores := openProcesses(t, false, func(string) {})
	school := schoolOfDeeds(t, stores[0])
	makePlans(t, stores[0], school)
	if err := addUser(stores[0], school, 1); err != nil {
		t.Fatal(err)
	}
	product := int32(0)
	block := func(at *Store, plan lyceum.PricingPlanID) (price lyceum.Minor, runs int) {
		var deeds []*deed
		for range 3 {
			product++
			b := lyceum.Block{User: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: product}, CreatedAt: storetest.Begin}
			deeds = append(deeds, &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
				runs++
				offer, err := tx.FindOffer(plan, 1)
				if err != nil {
					return err
				}
				price = offer.Plan.Value.Price
				if b.ID, err = tx.Blocks.NextID(tx); err != nil {
					return err
				}
				return tx.Blocks.Insert(tx, b)
			}})
		}
		together(at, deeds, school)
		for _, d := range deeds {
			if d.failed {
				t.Fatal(d.reason)
			}
		}
		return price, runs
	}
	goneAhead := func() int64 { return stores[0].writes.ahead.Load() }
	eventually(t, "a group goes ahead", func() bool { block(stores[0], 1); return goneAhead() > 0 })
	before := goneAhead()
	if _, runs := block(stores[0], 1); goneAhead() != before+1 || runs != 3 {
		t.Fatalf("%d groups go ahead, %d runs", goneAhead()-before, runs)
	}
	storetest.Write(t, stores[1], school, func(tx lyceum.Tx) error {
		plan, err := tx.PricingPlans.Get(tx, 1)
		if err != nil {
			return err
		}
		plan.Price++
		return tx.PricingPlans.Update(tx, plan)
	})
	before = goneAhead()
	if price, runs := block(stores[0], 1); price != 101 || goneAhead() != before+1 || runs <= 3 {
		t.Errorf("after a change by another process: %d groups go ahead, %d runs find a price of %d", goneAhead()-before, runs, price)
	}
	for range leastStreak - 1 {
		before = goneAhead()
		if price, _ := block(stores[0], 1); price != 101 || goneAhead() != before {
			t.Errorf("afterwards: %d groups go ahead, the price is %d", goneAhead()-before, price)
		}
	}
	eventually(t, "a group goes ahead again", func() bool { block(stores[0], 1); return goneAhead() > before })
	before = goneAhead()
	if price, _ := block(stores[0], 2); price != 100 || goneAhead() != before+1 {
		t.Errorf("with a plan that nobody knows: %d groups go ahead, the price is %d", goneAhead()-before, price)
	}
	if block(stores[0], 1); goneAhead() != before+2 {
		t.Error("after a plan that nobody knew, a group does not go ahead")
	}
}
