package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// PostgreSQL reads the arrays as the values that they were made of, and combined queries
// answer each of their callers as alone.
func TestArraysOfPostgreSQL(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows := [][]any{
		{int64(math.MinInt64), "", []byte{}, 0.1},
		{int64(math.MaxInt64), "NULL", []byte{0, 255, '"', '\\'}, -math.MaxFloat64},
		{nil, `{a,"b"}, \x00 \\ ' é 😀`, []byte("a"), math.SmallestNonzeroFloat64},
		{int64(0), " \t\n", nil, nil},
		{int64(1), nil, []byte(nil), 1e21},
	}
	args, err := arraysOf(slices.Concat(rows...), 4)
	if err != nil {
		t.Fatal(err)
	}
	found, err := conn.Query(t.Context(),
		"SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::double precision[])", args...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if err != nil {
		t.Fatal(err)
	}
	rows[4][2] = nil
	if d := cmp.Diff(rows, got); d != "" {
		t.Errorf("the rows came back otherwise (-sent +read):\n%s", d)
	}

	pool := openTestPostgres(t).writes
	ask := func() (all []*answer) {
		for i := range int64(20) {
			all = append(all, &answer{
				text: "SELECT n * $1, $2 || n FROM generate_series(1, $3) n WHERE n % 2 = 1 ORDER BY n DESC LIMIT 3",
				args: []any{i, fmt.Sprintf(`%d "x\`, i), i},
			})
		}
		for range 3 { // without arguments there is nothing to combine
			all = append(all, &answer{text: "SELECT 7"})
		}
		return all
	}
	var kept [2][][][]any
	for round := range kept {
		err := pool.change(t.Context(), false, func(q *session) (bool, error) {
			all := ask()
			if err := q.link.(*pipeline).fetch(all); err != nil {
				return false, err
			}
			for _, a := range all {
				kept[round] = append(kept[round], a.rows)
			}
			return false, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false} {
		combined, known := pool.combined.Load(ask()[i*20].text)
		if of, _ := combined.(combination); !known || (of.text != "") != want || (of.compare != "") != want {
			t.Errorf("text %d is combined: %+v, want %t", i, of, want)
		}
	}
	if d := cmp.Diff(kept[0], kept[1]); d != "" {
		t.Errorf("combined queries answer otherwise (-alone +combined):\n%s", d)
	}
}
