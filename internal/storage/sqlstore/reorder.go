package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Reorder implements lyceum.LearningChanges. It runs one statement per readChunk rows.
func (t *tx) Reorder(seq lyceum.Sequence, positions map[int32]int32) error {
	table, id := tableOf()[seq], string(seq)
	updated := lyceum.EntryType(strings.TrimSuffix(id, "_id") + ".updated")
	moved := slices.Sorted(maps.Keys(positions))
	for ids := range slices.Chunk(moved, readChunk) {
		w := &where{args: []any{int64(t.stamp.School), micros(lyceum.Second(t.stamp.At))}}
		w.and("school_id = $1")
		among(w, id, ids)
		var cases strings.Builder
		for i := range len(w.args) - 2 { // as many as among adds, for few different texts
			row := ids[min(i, len(ids)-1)]
			cases.WriteString(" WHEN " + w.arg(int64(row)) + " THEN CAST(" + w.arg(int64(positions[row])) + " AS INTEGER)")
		}
		err := t.q.exec("UPDATE "+table+" SET position = CASE "+id+cases.String()+
			" END, updated_at = $2"+w.String(), w.args...)
		if err != nil {
			return fmt.Errorf("reorder %s: %w", table, err)
		}
		for _, row := range ids {
			t.Note(updated, row)
		}
	}
	return nil
}
