package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// recordsAhead inserts rows into a table like a group that goes ahead, as records. used is false if
// it cannot.
func recordsAhead(t *testing.T, s *Store, table, columns string, rows [][]any) (used bool) {
	t.Helper()
	err := s.writes.change(t.Context(), false, func(q *session) (bool, error) {
		p := q.link.(*pipeline)
		queries, may := p.goesAhead(aheadTurn, nil)
		if !may {
			p.mayBeOutstanding(s.writes.recordInsertion(table, columns).text)
			return false, nil
		}
		if err := p.later(aheadTurn, []any{"turn"}); err != nil {
			return false, err
		}
		if err := p.sendAhead(queries); err != nil {
			return false, err
		}
		r := s.writes.recordInsertion(table, columns)
		args, ok := p.insertionOfRecords(r, r.text, len(rows), slices.Concat(rows...))
		if used = ok; !used {
			return false, nil
		}
		return true, p.later(r.text, args)
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// withRecords returns a store with a single connection for changes. Its table recorded has a column
// of each type that Lyceum uses, one that was dropped, and one that is not inserted.
func withRecords(t *testing.T) *Store {
	t.Helper()
	s := openTestPostgres(t)
	s.writes.db.SetMaxOpenConns(1)
	runIn(t, s, `CREATE TABLE recorded (school_id int, gone int, id int, small smallint, big bigint, part double precision,
		word text, bytes bytea, other int DEFAULT 7)`)
	runIn(t, s, "ALTER TABLE recorded DROP gone")
	var err error
	s.writes.types, s.writes.records, err = s.reads.readTypes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const recordedColumns = "word, id, small, big, part, bytes"

// TestRecordsArriveAsTheyAre checks that rows sent as records arrive as they are, whatever their
// values and the order of their columns.
func TestRecordsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	s := withRecords(t)
	rows := [][]any{
		{int64(1), "one", int64(1), int64(1), int64(1), 1.5, []byte("bytes")},
		{int64(1), "", int64(2), nil, nil, nil, nil},
		{int64(1), `a, "quote", a \ and NULL`, int64(math.MaxInt32), int64(math.MaxInt16), int64(math.MaxInt64), math.MaxFloat64, []byte{0, 255}},
		{int64(2), "ñ – 語\n", int64(math.MinInt32), int64(math.MinInt16), int64(math.MinInt64), -0.1, []byte{}},
		{int64(2), nil, int64(3), int64(0), int64(0), 0.0, []byte(nil)},
	}
	if recordsAhead(t, s, "recorded", recordedColumns, rows) {
		t.Fatal("a statement was sent that is not prepared")
	}
	if !recordsAhead(t, s, "recorded", recordedColumns, rows) {
		t.Fatal("the rows are not sent as records")
	}
	var want, got []string
	for _, row := range rows {
		if b, is := row[6].([]byte); is && b == nil {
			row[6] = nil
		}
		want = append(want, fmt.Sprint(append(row, int64(7))...))
	}
	found, err := s.writes.db.QueryContext(t.Context(), "SELECT school_id, "+recordedColumns+", other FROM recorded")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		row, dest := make([]any, 8), make([]any, 8)
		for i := range row {
			dest[i] = &row[i]
		}
		if err := found.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(row...))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the rows are\n%q, want\n%q", got, want)
	}
}

// TestRowsThatCannotBeRecords checks that other statements are used if a value would have to be
// converted, or if the table was made again with the same columns.
func TestRowsThatCannotBeRecords(t *testing.T) {
	t.Parallel()
	s := withRecords(t)
	row := func(place int, value any) []any {
		values := []any{int64(1), "one", int64(1), int64(1), int64(1), 1.5, []byte("bytes")}
		values[place] = value
		return values
	}
	recordsAhead(t, s, "recorded", recordedColumns, [][]any{row(0, int64(1))})
	for place, value := range []any{"1", int64(1), int64(math.MaxInt32 + 1), int64(math.MinInt16 - 1), 1.0, int64(1), "bytes"} {
		if recordsAhead(t, s, "recorded", recordedColumns, [][]any{row(0, int64(1)), row(place, value)}) {
			t.Errorf("%v is sent as value %d of a record", value, place)
		}
	}
	s.writes.recordInsertion("recorded", recordedColumns).of.array++
	if recordsAhead(t, s, "recorded", recordedColumns, [][]any{row(0, int64(1))}) {
		t.Error("records are sent to a table with another type")
	}
	if s.writes.recordInsertion("none", "id") != nil {
		t.Error("there are records of a table that does not exist")
	}
}

// TestInsertionsAsRecords checks that groups insert records whether their guesses are compared by the
// store or by the database, and with values that follow counters.
func TestInsertionsAsRecords(t *testing.T) {
	t.Parallel()
	s := withRecords(t)
	rows := [][]any{
		{int64(1), "one", int64(10), int64(1), nil, nil, nil},
		{int64(1), "two", int64(20), nil, nil, 2.5, nil},
	}
	columns, width := recordedColumns, len(rows[0])
	insert := func(g *group) error {
		if g.provisional == nil {
			return g.insert("recorded", columns, rows, "")
		}
		var edits []edit
		for _, row := range rows {
			follows := make([]string, width-1)
			follows[1] = "id"
			edits = append(edits, edit{school: 1, values: row[1:], follows: follows})
		}
		edits[1].follows = nil
		return g.insertFollowing("recorded", columns, edits)
	}
	for _, test := range []struct {
		name  string
		group group
		want  []string
	}{
		{"query first", group{shared: true}, []string{"one 10", "two 20"}},
		{"compared", group{shared: true, presumed: true, compared: true}, []string{"one 10", "two 20"}},
		{"following", group{
			shared: true, presumed: true, compared: true, provisional: &provisional{of: []counterOf{{school: 1, name: "id"}}},
		}, []string{"one 1010", "two 20"}},
	} {
		var texts []string
		s.writes.trace = func(text string) {
			if strings.HasPrefix(text, "INSERT INTO recorded") {
				texts = append(texts, text)
			}
		}
		for range 2 { // prepares the statement
			var got []string
			err := s.writes.change(t.Context(), false, func(q *session) (bool, error) {
				err := q.run("SELECT set_config('lyceum.guessed', 'right', true), set_config('lyceum.counters', '{1000}', true)", nil)
				if err != nil {
					return false, err
				}
				g := test.group
				g.session, g.inserted = q, map[string]int{}
				if err := insert(&g); err != nil {
					return false, err
				}
				var row string
				return false, q.rows("SELECT word || ' ' || id FROM recorded ORDER BY word", nil, []any{scanText(&row)},
					func() error { got = append(got, row); return nil })
			})
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: the rows are %q, %v; want %q", test.name, got, err, test.want)
			}
		}
		if len(texts) != 2 || strings.Contains(texts[0], "recorded[]") || !strings.Contains(texts[1], "recorded[]") {
			t.Errorf("%s: %q, want the second one to insert records", test.name, texts)
		}
	}
}
