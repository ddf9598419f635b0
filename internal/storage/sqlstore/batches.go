package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ranks orders tables: each one ranks higher than those that it refers to.
type ranks map[string]int

// readRanks reads which tables refer to which.
func (p *pool) readRanks(ctx context.Context) (ranks, error) {
	rows, err := p.db.QueryContext(ctx, p.dialect.references)
	if err != nil {
		return nil, fmt.Errorf("read foreign keys: %w", err)
	}
	defer rows.Close()
	var keys [][2]string
	for rows.Next() {
		var key [2]string
		if err := rows.Scan(&key[0], &key[1]); err != nil {
			return nil, fmt.Errorf("read foreign keys: %w", err)
		}
		keys = append(keys, key)
	}
	r := ranks{}
	for range keys { // no chain of references is longer
		for _, key := range keys {
			r[key[0]] = max(r[key[0]], r[key[1]]+1)
		}
	}
	return r, rows.Err()
}

// columnTypes maps tables and columns to the types of the columns.
type columnTypes map[[2]string]string

// readTypes reads the types of all columns, and of the rows of all tables, from PostgreSQL. A column
// that was dropped is no part of a row.
func (p *pool) readTypes(ctx context.Context) (columnTypes, recordTypes, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT c.relname, CAST(t.oid AS BIGINT), CAST(t.typarray AS BIGINT), a.attname,
		CAST(a.atttypid AS BIGINT), format_type(a.atttypid, a.atttypmod)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = c.reltype
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass) ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, nil, fmt.Errorf("read columns: %w", err)
	}
	defer rows.Close()
	types, records := columnTypes{}, recordTypes{}
	for rows.Next() {
		var table, name string
		var of recordType
		var column recordColumn
		if err := rows.Scan(&table, &of.oid, &of.array, &column.name, &column.oid, &name); err != nil {
			return nil, nil, fmt.Errorf("read columns: %w", err)
		}
		types[[2]string{table, column.name}] = name
		if records[table] == nil {
			records[table] = &of
		}
		records[table].columns = append(records[table].columns, column)
	}
	return types, records, rows.Err()
}

// insertsAtOnce returns how many of n rows the next statement inserts.
func (p *pool) insertsAtOnce(n int) int {
	if p.types != nil {
		return n
	}
	return chunkOf(n)
}

// insertion returns the statement that inserts rows with these values, and its arguments. On
// PostgreSQL the arguments are arrays, so that one text serves any number of rows and each row
// costs less.
func (p *pool) insertion(table, columns string, rows int, values []any) (text string, args []any) {
	width := len(values) / rows
	switch {
	case p.types == nil:
		return insertText(table, columns, width, rows), values
	case rows == 1: // the statement is queued, and the values will be overwritten
		return insertText(table, columns, width, 1), slices.Clone(values)
	}
	return p.insertionOfArrays(table, columns, width, values)
}

// insertionOfArrays is insertion for PostgreSQL, with any number of rows.
func (p *pool) insertionOfArrays(table, columns string, width int, values []any) (text string, args []any) {
	args = arraysOf(values, width)
	for i := range args {
		if args[i].(array).isNull() {
			args[i] = nil // unnest pads it to the length of the others
		}
	}
	key := insertKey{table, 0}
	if kept, ok := insertTexts.Load(key); ok {
		return kept.(string), args
	}
	text = "INSERT INTO " + table + " (school_id, " + columns + ") SELECT * FROM unnest(" +
		strings.Join(plain(p.typesOf(table, columns)), ", ") + ")"
	insertTexts.Store(key, text)
	return text, args
}

// typesOf returns the types of school_id and the given columns of a table.
func (p *pool) typesOf(table, columns string) []string {
	types := []string{p.types[[2]string{table, "school_id"}]}
	for column := range strings.SplitSeq(columns, ", ") {
		types = append(types, p.types[[2]string{table, column}])
	}
	return types
}

// batches groups rows that one statement can write. Inserts are grouped by table, parents
// before the rows that refer to them, and are followed by the updates. The next round begins
// with the first insert into a table that has been updated, because the new row may need a key
// that the update gave up.
func (r ranks) batches(rows []edit) [][]edit {
	var all [][]edit
	for len(rows) > 0 {
		n, inserted, updates, updated := 0, map[string][]edit{}, []edit(nil), map[string]bool{}
		for ; n < len(rows) && (rows[n].update != "" || !updated[rows[n].table]); n++ {
			if row := rows[n]; row.update != "" {
				updates, updated[row.table] = append(updates, row), true
			} else {
				inserted[row.table] = append(inserted[row.table], row)
			}
		}
		for _, table := range slices.SortedFunc(maps.Keys(inserted), r.compare) {
			all = append(all, neighbours(inserted[table])...)
		}
		all = append(all, neighbours(updates)...)
		rows = rows[n:]
	}
	return all
}

// compare orders tables so that each comes after those that it refers to.
func (r ranks) compare(a, b string) int {
	return cmp.Or(cmp.Compare(r[a], r[b]), strings.Compare(a, b))
}

// neighbours groups consecutive rows that one statement can insert or update.
func neighbours(rows []edit) [][]edit {
	var all [][]edit
	from := 0
	for i := range rows {
		if i == len(rows)-1 || !goWith(rows[from:i+1], &rows[i+1]) {
			all = append(all, rows[from:i+1])
			from = i + 1
		}
	}
	return all
}

// goWith reports whether one statement can write next together with rows.
func goWith(rows []edit, next *edit) bool {
	first := &rows[0]
	if first.table != next.table || first.update != next.update || first.columns == nil || next.columns == nil {
		return false
	}
	// Of two versions of a row, an UPDATE could apply either one. A row is deleted only once.
	same := func(row edit) bool { return row.school == next.school && equalValues(row.values[0], next.values[0]) }
	return next.update == "" || len(rows) < chunk && (next.gone || !slices.ContainsFunc(rows, same))
}

// updating returns a single statement that does what the update of each row does, and its
// arguments.
func (p *pool) updating(rows []edit) (text string, args []any) {
	width := len(rows[0].taken())
	if p.types != nil {
		return p.fromArrays(rows, width, " FROM ")
	}
	places := make([]string, len(rows))
	for i := range places {
		places[i] = placeholders(i*(1+width)+1, 1+width)
	}
	from := " FROM (VALUES " + strings.Join(places, ",") + ") v WHERE "
	return strings.Replace(byColumns(rows[0].update), " WHERE ", from, 1), valuesOfRows(rows, width)
}

// deleting returns the statement that deletes the first n rows as the statement of each row
// would, and its arguments. On SQLite, n is more than 1 only for rows that differ in just the
// last of several keys: to find a plain list of ids, SQLite may read all rows of a school.
func (p *pool) deleting(rows []edit) (text string, args []any, n int) {
	first := &rows[0]
	keys := first.taken()
	if p.types != nil {
		text, args = p.fromArrays(rows, len(keys), " USING ")
		return text, args, len(rows)
	}
	last := len(keys) - 1
	alike := func(row *edit) bool { return row.school == first.school && same(row.values[:last], keys[:last]) }
	args = append([]any{first.school}, keys...)
	for n = 1; last > 0 && n < len(rows) && alike(&rows[n]); n++ {
		args = append(args, rows[n].values[last])
	}
	n = chunkOf(n)
	text = first.update
	if n > 1 {
		text = strings.TrimSuffix(text, fmt.Sprintf("= $%d", 1+len(keys))) + "IN " + placeholders(1+len(keys), n)
	}
	return text, args[:len(keys)+n], n
}

// fromArrays returns the PostgreSQL statement that does for all rows what the statement of
// each does with its first width values, and its arguments. Those are arrays, which are read
// in a clause that begins with word.
func (p *pool) fromArrays(rows []edit, width int, word string) (text string, args []any) {
	first := &rows[0]
	args = arraysOf(valuesOfRows(rows, width), 1+width)
	names := make([]string, len(args))
	for i := range names {
		names[i] = fmt.Sprintf("column%d", i+1)
	}
	types := p.typesOf(first.table, strings.Join(first.columns[:width], ", "))
	from := word + "unnest(" + strings.Join(hidden(types), ", ") + ") v (" + strings.Join(names, ", ") + ") WHERE "
	return strings.Replace(byColumns(first.update), " WHERE ", from, 1), args
}

// byColumns replaces the placeholders of a statement with the columns of v, by the names that
// both engines give to the columns of VALUES.
func byColumns(text string) string { return numbered.ReplaceAllString(text, "v.column$1") }

// valuesOfRows returns the school and the first width values of each row.
func valuesOfRows(rows []edit, width int) []any {
	values := make([]any, 0, len(rows)*(1+width))
	for i := range rows {
		values = append(append(values, rows[i].school), rows[i].values[:width]...)
	}
	return values
}
