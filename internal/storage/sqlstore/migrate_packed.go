package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// works holds the Go code that migrations run after their statements, by migration name.
var works = map[string]func(context.Context, *sql.Tx, *dialect) ([]Changes, error){"packed": packRows}

// packRows moves events and attempts into the tables that store them packed.
func packRows(ctx context.Context, tx *sql.Tx, d *dialect) ([]Changes, error) {
	var changes []Changes
	for _, m := range []packing{
		{
			from: "plain_payloads", key: "school_id, number", least: []any{int64(0), int64(math.MinInt64)},
			columns: "event, object_id, at, object",
			to:      "event_payloads", into: payloads.list(),
			row: func(row []any) []any { return append(row[:5:5], pack(textOf(row[5]))) },
		},
		{
			from: "plain_attempts", key: "school_id, webhook_event_id, attempt", least: []any{int64(0), int64(0), int64(0)},
			columns: "at, took, status, problem, is_kept, request_header, response_header, response_body",
			to:      "webhook_attempts", into: attemptColumns,
			row: func(row []any) []any {
				exchange := exchangeOf(&lyceum.Attempt{
					RequestHeader: textOf(row[8]), ResponseHeader: textOf(row[9]), ResponseBody: textOf(row[10]),
				})
				return append(row[:7:7], pack(exchange), row[7])
			},
		},
	} {
		rows, err := m.run(ctx, tx, d)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", m.to, err)
		}
		changes = append(changes, Changes{m.to, rows})
	}
	return changes, nil
}

func textOf(value any) string {
	if b, is := value.([]byte); is {
		return string(b)
	}
	return value.(string)
}

// packing copies the rows of one table, packed, into another.
type packing struct {
	from, key, columns string
	least              []any // sorts before every key
	to, into           string
	row                func([]any) []any
}

// packedAtOnce is how many rows are held in memory at a time.
const packedAtOnce = 256

func (m *packing) run(ctx context.Context, tx *sql.Tx, d *dialect) (moved int64, err error) {
	n := len(m.least)
	text := d.rebind("SELECT " + m.key + ", " + m.columns + " FROM " + m.from + " WHERE (" + m.key + ") > " +
		placeholders(1, n) + " ORDER BY " + m.key + " LIMIT " + strconv.Itoa(packedAtOnce))
	for last := m.least; ; {
		rows, err := m.read(ctx, tx, text, last)
		if err != nil {
			return moved, err
		}
		if len(rows) == 0 {
			return moved, nil
		}
		moved, last = moved+int64(len(rows)), rows[len(rows)-1][:n]
		for len(rows) > 0 {
			some := chunkOf(len(rows))
			var args []any
			for _, row := range rows[:some] {
				args = append(args, m.row(row)...)
			}
			insert := d.rebind(insertText(m.to, m.into, len(args)/some, some))
			if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
				return moved, err
			}
			rows = rows[some:]
		}
	}
}

func (m *packing) read(ctx context.Context, tx *sql.Tx, text string, after []any) (found [][]any, err error) {
	rows, err := tx.QueryContext(ctx, text, after...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	width := len(after) + 1 + strings.Count(m.columns, ",")
	for rows.Next() {
		row, dest := make([]any, width), make([]any, width)
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}
