package sqlstore

import (
	"bytes"
	"fmt"
	"strings"
)

// leastCopied is the least number of rows of a table that are copied into PostgreSQL instead
// of inserted. Copying is less work for the server, which does it while the next rows are
// being made.
const leastCopied = 256

// copyIn begins to copy rows into a table, after the statements that wait. The values may be
// overwritten as soon as it returns.
func (p *pipeline) copyIn(table, columns string, rows int, values []any) error {
	lines, err := copied(values, len(values)/rows)
	if err != nil {
		return err
	}
	if err := p.settle(); err != nil {
		return err
	}
	text := "COPY " + table + " (school_id, " + columns + ") FROM STDIN"
	p.trace(text)
	p.copying.add(func() error {
		if _, err := p.conn.PgConn().CopyFrom(p.ctx, bytes.NewReader(lines), text); err != nil {
			return fmt.Errorf("copy rows: %w", err)
		}
		return nil
	})
	return nil
}

// settle sends the statements that wait and reads their results.
func (p *pipeline) settle() (err error) {
	if p.queue.Len() == 0 {
		return nil
	}
	results, n, err := p.send()
	if err != nil {
		return err
	}
	defer closing(results, &err)
	return passed(results, n)
}

// copyForm is the form of values in the text format of COPY.
var copyForm = form{
	null: `\N`, escapes: strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`), bytes: `\\x%x`,
}

// copied writes rows of some width in the text format of COPY.
func copied(values []any, width int) (text []byte, err error) {
	for i, value := range values {
		if text, err = copyForm.append(text, value); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i%width+1, err)
		}
		if i%width == width-1 {
			text = append(text, '\n')
		} else {
			text = append(text, '\t')
		}
	}
	return text, nil
}
