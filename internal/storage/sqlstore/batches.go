package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ranks says which tables come before others: those to which they refer.
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
	for range keys { // no way along them is longer
		for _, key := range keys {
			r[key[0]] = max(r[key[0]], r[key[1]]+1)
		}
	}
	return r, rows.Err()
}

// columnTypes are the types of columns by table and column.
type columnTypes map[[2]string]string

// readTypes reads the types of the columns of PostgreSQL.
func (p *pool) readTypes(ctx context.Context) (columnTypes, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass)`)
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	defer rows.Close()
	types := columnTypes{}
	for rows.Next() {
		var key [2]string
		var name string
		if err := rows.Scan(&key[0], &key[1], &name); err != nil {
			return nil, fmt.Errorf("read columns: %w", err)
		}
		types[key] = name
	}
	return types, rows.Err()
}

// insertsAtOnce gives how many of n rows one statement inserts.
func (p *pool) insertsAtOnce(n int) int {
	if p.types != nil {
		return n
	}
	return chunkOf(n)
}

// insertion gives the statement that inserts rows of these values, and its arguments. On
// PostgreSQL they are arrays: one text serves any number of rows, and a row costs less.
func (p *pool) insertion(table, columns string, rows int, values []any) (text string, args []any) {
	width := len(values) / rows
	switch {
	case p.types == nil:
		return insertText(table, columns, width, rows), values
	case rows == 1: // it is queued, and the values are overwritten
		return insertText(table, columns, width, 1), slices.Clone(values)
	}
	return p.insertionOfArrays(table, columns, width, values)
}

// insertionOfArrays is insertion on PostgreSQL, for any number of rows.
func (p *pool) insertionOfArrays(table, columns string, width int, values []any) (text string, args []any) {
	args = arraysOf(values, width)
	for i := range args {
		if args[i].(array).isNull() {
			args[i] = nil // unnest fills it up to the length of the others
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

// typesOf gives the types of the school and of columns of a table.
func (p *pool) typesOf(table, columns string) []string {
	types := []string{p.types[[2]string{table, "school_id"}]}
	for column := range strings.SplitSeq(columns, ", ") {
		types = append(types, p.types[[2]string{table, column}])
	}
	return types
}

// batches puts rows together that one statement can insert: those of one table, parents
// before what refers to them. Updates follow the rows that are inserted, up to the first
// one into a table with an update before it, which may need what that gave up.
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

// compare puts tables in an order in which each one comes after those to which it refers.
func (r ranks) compare(a, b string) int {
	return cmp.Or(cmp.Compare(r[a], r[b]), strings.Compare(a, b))
}

// neighbours puts rows together that follow one another into one table, or that one
// statement updates.
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

// goWith reports whether one statement can write a row with others.
func goWith(rows []edit, next *edit) bool {
	first := &rows[0]
	if first.table != next.table || first.update != next.update || first.columns == nil || next.columns == nil {
		return false
	}
	// An update would take either of two versions of a row, which can be deleted once.
	same := func(row edit) bool { return row.school == next.school && equalValues(row.values[0], next.values[0]) }
	return next.update == "" || len(rows) < chunk && (next.gone || !slices.ContainsFunc(rows, same))
}

// updating gives the statement that updates rows of a table as the one of each would, and
// its arguments.
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

// deleting gives the statement that deletes the first n rows of a table as the one of each would, and
// its arguments. On SQLite they are more than one where they differ in the last of several keys only: to
// find a list of ids it may read all rows of a school.
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

// fromArrays gives the statement of PostgreSQL that does for rows of a table what that of each does with
// so many of its values, and its arguments: arrays, which it takes after a word.
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

// byColumns is a statement with values of v, as both engines name the columns of values.
func byColumns(text string) string { return numbered.ReplaceAllString(text, "v.column$1") }

// valuesOfRows are the school and the first values of each row.
func valuesOfRows(rows []edit, width int) []any {
	values := make([]any, 0, len(rows)*(1+width))
	for i := range rows {
		values = append(append(values, rows[i].school), rows[i].values[:width]...)
	}
	return values
}
