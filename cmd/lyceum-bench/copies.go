package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// copySales raises the number of transactions of the school in a folder to size by copying
// those it has, along with their sales: with the same times and buyers, but new ids.
func copySales(ctx context.Context, dir string, size int) (err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName)+
		"?_pragma=synchronous(0)&_pragma=cache_size(-500000)&_pragma=temp_store(2)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var made, transactions, sales int64
	err = db.QueryRowContext(ctx,
		"SELECT count(*), max(transaction_id), (SELECT max(sale_id) FROM sales) FROM transactions").
		Scan(&made, &transactions, &sales)
	if err != nil || made == 0 || made >= int64(size) {
		return err
	}
	indexes, err := indexesOf(ctx, db, "transactions", "sales")
	if err != nil {
		return err
	}
	for _, index := range indexes { // creating them again is faster than maintaining them
		if _, err := db.ExecContext(ctx, "DROP INDEX "+index.name); err != nil {
			return err
		}
	}
	for n := int64(1); n*made < int64(size); n++ {
		shift := map[string]int64{"transaction_id": n * transactions, "sale_id": n * sales}
		rest := min(made, int64(size)-n*made)
		for table, where := range map[string]string{
			"transactions": fmt.Sprintf("transaction_id <= %d ORDER BY transaction_id LIMIT %d", transactions, rest),
			"sales":        fmt.Sprintf("sale_id <= %d", sales),
		} {
			if err := copyRows(ctx, db, table, where, shift); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "copied %d of %d transactions\n", min((n+1)*made, int64(size)), size)
	}
	for _, index := range indexes {
		if _, err := db.ExecContext(ctx, index.made); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, `UPDATE counters SET value = CASE name
			WHEN 'transactions' THEN (SELECT count(*) FROM transactions)
			WHEN 'transaction_id' THEN (SELECT max(transaction_id) FROM transactions)
			WHEN 'sales' THEN (SELECT count(*) FROM sales)
			ELSE (SELECT max(sale_id) FROM sales) END
		WHERE name IN ('transactions', 'transaction_id', 'sales', 'sale_id')`)
	if err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "index")) // it does not contain the copies
}

// tableIndex is an index of a table with the statement that created it.
type tableIndex struct{ name, made string }

func indexesOf(ctx context.Context, db *sql.DB, tables ...string) (list []tableIndex, err error) {
	rows, err := db.QueryContext(ctx,
		"SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var index tableIndex
		if err := rows.Scan(&table, &index.name, &index.made); err != nil {
			return nil, err
		}
		if slices.Contains(tables, table) {
			list = append(list, index)
		}
	}
	return list, rows.Err()
}

// copyRows copies rows of a table, adding to some columns.
func copyRows(ctx context.Context, db *sql.DB, table, where string, shift map[string]int64) error {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return err
	}
	defer rows.Close()
	var columns, values []string
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return err
		}
		columns = append(columns, column)
		if by := shift[column]; by != 0 {
			column = fmt.Sprintf("%s + %d", column, by)
		}
		values = append(values, column)
	}
	if err := rows.Close(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") SELECT "+
		strings.Join(values, ", ")+" FROM "+table+" WHERE "+where)
	return errors.Join(err, rows.Err())
}
