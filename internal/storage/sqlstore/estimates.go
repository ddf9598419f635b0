package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SQLite plans a statement with the statistics of indexes in its table sqlite_stat1. Without
// them, it assumes that a school has ten rows in a table, and prefers reading all of them to
// looking one up in an index. Its ANALYZE command would count the rows that exist at that
// time. These figures suit schools of any size: with them, a few rows of a large school are
// found by an index, and a small school has few rows to read either way.
const (
	rowsOfTable  = 1_000_000
	rowsOfSchool = 100_000
	fewestRows   = 2 // that are alike in all columns of a non-unique index
)

// Each further column of an index reduces the rows that it finds by one of these factors.
const (
	byKind   = 10     // a column with few values, such as a state
	byOffer  = 50     // something of which a school has few, such as courses
	byPerson = 20_000 // any other
	partial  = 10     // for a partial index
)

// coarse has the factors of the columns that are not byPerson. An expression has no name.
var coarse = map[string]int{
	"": byKind, "is_live": byKind, "product_type": byKind, "role": byKind, "state": byKind, "status": byKind,
	"type": byKind, "course_id": byOffer, "digital_download_id": byOffer, "membership_id": byOffer,
	"membership_tier_id": byOffer, "oauth_app_id": byOffer, "pricing_plan_id": byOffer,
	"product_collection_id": byOffer, "product_id": byOffer, "quiz_id": byOffer, "webhook_id": byOffer,
}

// estimate is what SQLite is told about an index: how many rows it has, and how many of them
// are alike in its first column, in the first two, and so on.
type estimate struct{ table, index, rows string }

// estimateRows returns estimate.rows.
func estimateRows(columns []string, unique, ofSome bool) string {
	if unique && len(columns) == 1 { // a table with one row per school
		return fmt.Sprint(rowsOfTable/rowsOfSchool, 1)
	}
	all, alike := rowsOfTable, rowsOfSchool
	if ofSome {
		all, alike = all/partial, alike/partial
	}
	parts := []string{strconv.Itoa(all)}
	for i, column := range columns {
		switch {
		case unique && i == len(columns)-1:
			alike = 1
		case i > 0:
			alike = max(alike/cmp.Or(coarse[column], byPerson), fewestRows)
		}
		parts = append(parts, strconv.Itoa(alike))
	}
	return strings.Join(parts, " ")
}

// schemaDB is a database, or a connection to it.
type schemaDB interface {
	querier
	BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error)
}

// estimateSQLite tells SQLite about its indexes, and about filterIndexes before they are
// created, unless it has been told already. Connections that read the schema afterwards use
// the estimates.
func estimateSQLite(ctx context.Context, db schemaDB) error {
	list, err := estimatesFor(ctx, db)
	if err != nil {
		return err
	}
	known, err := knownEstimates(ctx, db)
	if err != nil || slices.Equal(list, known) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// This creates the tables if they do not exist, counts nothing, and makes this connection
	// read what is in them. sqlite_stat4 has values that an ANALYZE has seen.
	const readAgain = "ANALYZE sqlite_schema"
	if _, err := tx.ExecContext(ctx, readAgain+"; DELETE FROM sqlite_stat1; DELETE FROM sqlite_stat4"); err != nil {
		return err
	}
	for _, e := range list {
		_, err := tx.ExecContext(ctx, "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", e.table, e.index, e.rows)
		if err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, readAgain); err != nil {
		return err
	}
	return tx.Commit()
}

// estimatesFor returns what SQLite should be told, by table and index.
func estimatesFor(ctx context.Context, db querier) (list []estimate, err error) {
	for i := range filterIndexes {
		columns, ofSome := filterIndexes[i].parts()
		list = append(list, estimate{"transactions", filterIndexes[i].name, estimateRows(columns, false, ofSome)})
	}
	rows, err := db.QueryContext(ctx, `SELECT m.name, l.name, l."unique", l.partial,
		group_concat(COALESCE(x.name, ''), ',' ORDER BY x.seqno)
		FROM sqlite_schema m, pragma_index_list(m.name) l, pragma_index_xinfo(l.name) x
		WHERE m.type = 'table' AND x.key GROUP BY 1, 2 HAVING min(x.seqno) = 0 AND x.name = 'school_id'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, index, columns string
		var unique, ofSome bool
		if err := rows.Scan(&table, &index, &unique, &ofSome, &columns); err != nil {
			return nil, err
		}
		list = append(list, estimate{table, index, estimateRows(strings.Split(columns, ","), unique, ofSome)})
	}
	slices.SortFunc(list, func(a, b estimate) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.index, b.index))
	})
	return slices.Compact(list), rows.Err()
}

// knownEstimates returns what SQLite has been told.
func knownEstimates(ctx context.Context, db querier) (list []estimate, err error) {
	rows, err := db.QueryContext(ctx, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'")
	if err != nil {
		return nil, err
	}
	there := rows.Next()
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || !there {
		return nil, err
	}
	rows, err = db.QueryContext(ctx, "SELECT tbl, COALESCE(idx, ''), stat FROM sqlite_stat1 ORDER BY 1, 2")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e estimate
		if err := rows.Scan(&e.table, &e.index, &e.rows); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, rows.Err()
}
