package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// SQLite looks up the rows that a row refers to each time one is written, which takes a
// seventh of an import of transactions. A group of changes with a great many rows turns that
// off and looks them up itself, once for each row that is referred to; what it has found stays
// known as long as nobody else commits. If it cannot tell, or does not find a row, it runs
// again with SQLite's foreign keys, which have the last word.

// foreignKey is a column of a table that refers to a row of another table in the same school.
type foreignKey struct{ column, table, key string }

// foreignKeys maps tables to their foreign keys, without the one to the school.
type foreignKeys map[string][]foreignKey

// parents identifies a table of a school to which others refer.
type parents struct {
	school int64
	table  string
}

// maxParents is how many tables of schools a store remembers rows of.
const maxParents = 256

// errKeys makes a group run again with SQLite's foreign keys.
var errKeys = errors.New("rows may refer to others that do not exist")

// readKeys reads the foreign keys of a SQLite database.
func (p *pool) readKeys(ctx context.Context) (foreignKeys, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT m.name, k.id, k."from", k."table", k."to"
		FROM sqlite_schema m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table' ORDER BY m.name, k.id`)
	if err != nil {
		return nil, fmt.Errorf("read foreign keys: %w", err)
	}
	defer rows.Close()
	keys := foreignKeys{}
	before := -1
	for rows.Next() {
		var child string
		var id int
		var to foreignKey
		if err := rows.Scan(&child, &id, &to.column, &to.table, &to.key); err != nil {
			return nil, fmt.Errorf("read foreign keys: %w", err)
		}
		if to.column == "school_id" && to.key == "school_id" {
			continue
		}
		if of := keys[child]; len(of) > 0 && before == id {
			return nil, fmt.Errorf("%s refers to %s by more than an id", child, to.table)
		}
		keys[child], before = append(keys[child], to), id
	}
	return keys, rows.Err()
}

// to reports whether other tables refer to a table.
func (k foreignKeys) to(table string) bool { return k.keyOf(table) != "" }

// keyOf returns the column by which others refer to a table, or nothing if none do.
func (k foreignKeys) keyOf(table string) string {
	for _, keys := range k {
		for _, to := range keys {
			if to.table == table {
				return to.key
			}
		}
	}
	return ""
}

// knowSchools reports whether the schools of the changes exist, to which every table refers.
func (g *group) knowSchools(members []*change) (bool, error) {
	known := g.known(parents{table: "schools"})
	for _, c := range members {
		if known.Contains(uint32(c.school)) {
			continue
		}
		var id int64
		err := g.runNow("SELECT school_id FROM schools WHERE school_id = $1", []any{int64(c.school)}, []any{scanInt(&id)},
			func() error { known.Add(uint32(id)); return nil })
		if err != nil || !known.Contains(uint32(c.school)) {
			return false, err
		}
	}
	return true, nil
}

// known returns the ids of a table's rows that are known to exist.
func (g *group) known(of parents) *roaring.Bitmap {
	if g.parents[of] == nil {
		g.parents[of] = roaring.New()
	}
	return g.parents[of]
}

// refer returns an error unless everything that rows of one table refer to exists.
func (g *group) refer(rows []edit) error {
	first := &rows[0]
	for _, to := range g.session.pool.keys[first.table] {
		at := slices.Index(first.columns, to.column)
		if at < 0 {
			return errKeys
		}
		ids := map[int64][]int64{}
		for i := range rows {
			switch id := rows[i].values[at].(type) {
			case nil:
			case int64:
				ids[rows[i].school] = append(ids[rows[i].school], id)
			default:
				return errKeys
			}
		}
		for school, ids := range ids {
			if found, err := g.knowRows(parents{school, to.table}, to.key, ids); err != nil || !found {
				return errors.Join(err, errKeys)
			}
		}
	}
	return nil
}

// knowRows reports whether a row exists for each of the ids.
func (g *group) knowRows(of parents, key string, ids []int64) (bool, error) {
	known := g.known(of)
	var open []any
	looked := roaring.New()
	for _, id := range ids {
		if id < 0 || id > math.MaxUint32 {
			return false, nil
		}
		if !known.Contains(uint32(id)) && looked.CheckedAdd(uint32(id)) {
			open = append(open, id)
		}
	}
	missing := len(open)
	var id int64
	text := "SELECT " + key + " FROM " + of.table + " WHERE school_id = $1 AND " + key + " IN "
	err := eachChunk(lyceum.SchoolID(of.school), open, func(list string, args []any) error {
		return g.runNow(text+list, args, []any{scanInt(&id)}, func() error {
			known.Add(uint32(id))
			missing--
			return nil
		})
	})
	return missing == 0, err
}

// forgetRows forgets which rows of a table exist.
func (g *group) forgetRows(table string) {
	maps.DeleteFunc(g.parents, func(p parents, _ *roaring.Bitmap) bool { return p.table == table })
}
