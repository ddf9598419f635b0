package sqlstore

import (
	"context"
	"fmt"
	"slices"
)

// On PostgreSQL, triggers look up what new rows of some tables refer to, which takes a tenth of
// what a sale takes. A group that writes all its rows at once, and has read or written everything
// that they refer to in the same transaction, tells the triggers so: the database has already found
// it, in the turn of the school, so that nobody can have deleted it since.

// referred is the statement that spares the triggers, and referredIfRight the same for a group
// whose guesses the database compares.
const (
	referred        = "SELECT set_config('lyceum.referred', 'yes', true)"
	referredIfRight = referred + " WHERE " + ifRight
)

// readTriggerKeys reads the references that triggers check, without those to the school. Their
// columns have the same name in both tables.
func (p *pool) readTriggerKeys(ctx context.Context) (foreignKeys, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT a.args[1], a.args[2], f.relname FROM pg_trigger t
		JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class f ON f.oid = t.tgrelid,
		LATERAL (SELECT string_to_array(encode(t.tgargs, 'escape'), '\000') AS args) a
		WHERE p.proname = 'keep_referred' AND f.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass)`)
	if err != nil {
		return nil, fmt.Errorf("read references: %w", err)
	}
	defer rows.Close()
	keys := foreignKeys{}
	for rows.Next() {
		var child string
		var to foreignKey
		if err := rows.Scan(&child, &to.column, &to.table); err != nil {
			return nil, fmt.Errorf("read references: %w", err)
		}
		if to.key = to.column; to.table != "schools" {
			keys[child] = append(keys[child], to)
		} else if _, others := keys[child]; !others {
			keys[child] = nil
		}
	}
	return keys, rows.Err()
}

// sayReferred tells PostgreSQL that all rows that are about to be written refer to rows that exist,
// if the group knows that.
func (g *group) sayReferred() error {
	p := g.session.pool
	if !p.dialect.pipelined || g.alone || g.saved || g.flushed > 0 || !g.knowsReferences() {
		return nil
	}
	if g.compared {
		return g.later(referredIfRight)
	}
	return g.later(referred)
}

// knowsReferences reports whether the log has rows whose references triggers would check, and every
// row that they refer to was found in this transaction or is in the log.
func (g *group) knowsReferences() bool {
	keys, refers := g.session.pool.keys, false
	for i := range g.log {
		w := &g.log[i]
		if w.columns == nil || w.gone {
			return false // others may refer to what it deletes
		}
		_, checked := keys[w.table]
		refers = refers || checked && w.update == ""
	}
	if !refers {
		return false
	}
	g.noteFound()
	schools := map[int64]bool{} // which exist, because they have rows
	for of, rows := range g.parents {
		schools[of.school] = schools[of.school] || !rows.IsEmpty()
	}
	g.noteInserted()
	for i := range g.log {
		w := &g.log[i]
		to, checked := keys[w.table]
		if !checked || w.update != "" {
			continue
		}
		known := func(key foreignKey) bool {
			at := slices.Index(w.columns, key.column)
			return at >= 0 && (w.values[at] == nil || g.exists(w.parent(at, key.table), w.values[at]))
		}
		for _, key := range to {
			if !known(key) {
				return false
			}
		}
		if !schools[w.school] {
			return false
		}
	}
	return true
}

// parent returns where the row is to which a column refers.
func (w *edit) parent(column int, table string) parents {
	if w.follows != nil && w.follows[column] != "" {
		table += " by distance"
	}
	return parents{w.school, table}
}

// noteFound notes the rows that the group's queries found in tables to which others refer.
func (g *group) noteFound() {
	clear(g.parents)
	keys := g.session.pool.keys
	for _, l := range g.lookups {
		school, is := l.school()
		if !is || !l.known || l.huge {
			continue
		}
		if in := &l.in; in.columns != nil && in.through == nil && keys.keyOf(in.tables[0]) == in.columns[0] {
			for _, row := range l.rows {
				g.noteExists(parents{int64(school), in.tables[0]}, row[0])
			}
		}
		for i, of := range l.in.tallies {
			if len(of.equals) != 1 || len(of.equals[0].values) != 1 || keys.keyOf(of.table) != of.equals[0].column {
				continue
			}
			for _, row := range l.rows {
				if n, _ := row[i].(int64); n > 0 {
					g.noteExists(parents{int64(school), of.table}, of.equals[0].values[0])
				}
			}
		}
	}
}

// noteInserted notes the rows of the log in tables to which others refer.
func (g *group) noteInserted() {
	keys := g.session.pool.keys
	for i := range g.log {
		if w := &g.log[i]; w.update == "" && keys.keyOf(w.table) == w.columns[0] {
			g.noteExists(w.parent(0, w.table), w.values[0])
		}
	}
}

func (g *group) noteExists(of parents, id any) {
	if n, is := id.(int64); is && n == int64(uint32(n)) {
		g.known(of).Add(uint32(n))
	}
}

func (g *group) exists(of parents, id any) bool {
	n, is := id.(int64)
	return is && n == int64(uint32(n)) && g.known(of).Contains(uint32(n))
}
