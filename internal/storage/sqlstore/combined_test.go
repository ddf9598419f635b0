package sqlstore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestArraysOfPostgreSQL checks that PostgreSQL reads arrays as the values that they were made
// of, and that combined queries return to each caller what they would return alone.
func TestArraysOfPostgreSQL(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows := [][]any{
		{int64(math.MinInt64), "", []byte{}, 0.1, int64(math.MinInt32), int64(math.MinInt16)},
		{int64(math.MaxInt64), "NULL", []byte{0, 255, '"', '\\'}, -math.MaxFloat64, int64(math.MaxInt32), int64(math.MaxInt16)},
		{nil, `{a,"b"}, \x00 \\ ' é 😀`, []byte("a"), math.SmallestNonzeroFloat64, int64(-1), nil},
		{int64(0), " \t\n", nil, nil, nil, int64(0)},
		{int64(1), nil, []byte(nil), 1e21, int64(0), int64(1)},
	}
	const text = "SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::double precision[], $5::int[], $6::smallint[])"
	args := arraysOf(slices.Concat(rows...), 6)
	rows[4][2] = nil
	wantRows := func(form string, found pgx.Rows) {
		t.Helper()
		got, err := pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) {
			values, err := row.Values()
			for i, v := range values {
				switch v := v.(type) {
				case int32:
					values[i] = int64(v)
				case int16:
					values[i] = int64(v)
				}
			}
			return values, err
		})
		if d := cmp.Diff(rows, got); err != nil || d != "" {
			t.Errorf("the rows came back otherwise as %s: %v (-sent +read):\n%s", form, err, d)
		}
	}
	of, err := conn.Prepare(t.Context(), "arrays", text)
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]byte, len(args))
	for i := range args {
		var ok bool
		if values[i], ok = args[i].(array).binary(nil, of.ParamOIDs[i]); !ok {
			t.Errorf("argument %d has no binary form", i+1)
		}
	}
	results := conn.PgConn().ExecStatement(t.Context(), of, values, []int16{pgx.BinaryFormatCode}, nil)
	wantRows("bytes", pgx.RowsFromResultReader(conn.TypeMap(), results))
	if err := texts(args); err != nil {
		t.Fatal(err)
	}
	found, err := conn.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	wantRows("texts", found)

	pool := openTestPostgres(t).writes
	lookupsOf := func() (all []*lookup) {
		for i := range int64(20) {
			all = append(all, &lookup{
				text: "SELECT n * $1, $2 || n FROM generate_series(1, $3) n WHERE n % 2 = 1 ORDER BY n DESC LIMIT 3",
				args: []any{i, fmt.Sprintf(`%d "x\`, i), i},
			})
		}
		for range 3 { // queries without arguments cannot be combined
			all = append(all, &lookup{text: "SELECT 7"})
		}
		return all
	}
	var kept [2][][][]any
	for round := range kept {
		err := pool.change(t.Context(), false, func(q *session) (bool, error) {
			all := lookupsOf()
			if err := q.link.(*pipeline).fetch(all); err != nil {
				return false, err
			}
			for _, l := range all {
				kept[round] = append(kept[round], l.rows)
			}
			return false, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false} {
		combined, known := pool.combined.Load(lookupsOf()[i*20].text)
		if of, _ := combined.(combination); !known || (of.text != "") != want || (of.compare != "") != want {
			t.Errorf("text %d is combined: %+v, want %t", i, of, want)
		}
	}
	if d := cmp.Diff(kept[0], kept[1]); d != "" {
		t.Errorf("combined queries answer otherwise (-alone +combined):\n%s", d)
	}
}

// TestBinaryFormOfArrays checks that the binary form is the one that pgx writes.
func TestBinaryFormOfArrays(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	for _, test := range []struct {
		values []any
		same   any
	}{
		{[]any{int64(1), int64(-2)}, []*int32{new(int32(1)), new(int32(-2))}},
		{[]any{int64(1), nil, int64(-2)}, []*int32{new(int32(1)), nil, new(int32(-2))}},
		{[]any{nil}, []*int32{nil}},
	} {
		want, err := types.Encode(pgtype.Int4ArrayOID, pgtype.BinaryFormatCode, test.same, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := (array{test.values, 1, 0}).binary(nil, pgtype.Int4ArrayOID); !ok || !slices.Equal(got, want) {
			t.Errorf("%v is %x, want %x", test.values, got, want)
		}
	}
}

// TestInsertionsOfColumnsWithoutValues checks that a column that only some rows have is
// distinguished from one that no row has.
func TestInsertionsOfColumnsWithoutValues(t *testing.T) {
	t.Parallel()
	pool := openTestPostgres(t).writes
	const table, columns = "sparse", "first, last, none"
	for _, column := range []string{"school_id", "first", "last", "none"} {
		pool.types[[2]string{table, column}] = "int4"
	}
	rows := [][]any{{int64(1), int64(2), nil, nil}, {int64(1), nil, nil, nil}, {int64(1), nil, int64(3), nil}}
	text, args := pool.insertion(table, columns, len(rows), slices.Concat(rows...))
	var got []string
	err := pool.change(t.Context(), false, func(q *session) (bool, error) {
		err := errors.Join(q.exec("CREATE TABLE sparse (school_id int, first int, last int, none int)"), q.run(text, args))
		if err != nil {
			return false, err
		}
		var row string
		return false, q.each("SELECT concat_ws(',', school_id, first, last, none) FROM sparse ORDER BY first, last", nil,
			[]any{scanText(&row)}, func() error { got = append(got, row); return nil })
	})
	if want := []string{"1,2", "1,3", "1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the rows are %q, %v; want %q", got, err, want)
	}
}

// TestArraysWithoutABinaryForm checks that values that PostgreSQL would have to convert or
// reject are sent as text.
func TestArraysWithoutABinaryForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		oid   uint32
		value any
	}{
		{pgtype.Int4ArrayOID, int64(math.MaxInt32 + 1)},
		{pgtype.Int4ArrayOID, int64(math.MinInt32 - 1)},
		{pgtype.Int2ArrayOID, int64(math.MaxInt16 + 1)},
		{pgtype.Int2ArrayOID, int64(math.MinInt16 - 1)},
		{pgtype.Int8ArrayOID, "1"},
		{pgtype.Int8ArrayOID, 1.0},
		{pgtype.Float8ArrayOID, int64(1)},
		{pgtype.TextArrayOID, int64(1)},
		{pgtype.TextArrayOID, []byte("a")},
		{pgtype.ByteaArrayOID, "a"},
		{pgtype.Int8ArrayOID, true},
		{pgtype.BoolArrayOID, true},
		{pgtype.Int8OID, int64(1)},
	} {
		a := array{[]any{nil, test.value}, 1, 0}
		if b, ok := a.binary([]byte("before"), test.oid); ok || string(b) != "before" {
			t.Errorf("%T %v as %d: %q, %t", test.value, test.value, test.oid, b, ok)
		}
	}
}
