package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// orderedTables are the tables of what has an order, and their ids.
var orderedTables = map[lyceum.Ordered]struct{ table, id string }{
	lyceum.OrderedSections:    {"lecture_sections", "lecture_section_id"},
	lyceum.OrderedLectures:    {"lectures", "lecture_id"},
	lyceum.OrderedAttachments: {"attachments", "attachment_id"},
}

// Reorder implements lyceum.LearningChanges, with a statement for each readChunk rows.
func (t *tx) Reorder(noun lyceum.Ordered, positions map[int32]int32) error {
	of := orderedTables[noun]
	moved := slices.Sorted(maps.Keys(positions))
	for ids := range slices.Chunk(moved, readChunk) {
		w := &where{args: []any{int64(t.stamp.School), micros(lyceum.Second(t.stamp.At))}}
		w.and("school_id = $1")
		among(w, of.id, ids)
		var cases strings.Builder
		for i := range len(w.args) - 2 { // as many as among has, so that there are few texts
			id := ids[min(i, len(ids)-1)]
			cases.WriteString(" WHEN " + w.arg(int64(id)) + " THEN CAST(" + w.arg(int64(positions[id])) + " AS INTEGER)")
		}
		err := t.q.exec("UPDATE "+of.table+" SET position = CASE "+of.id+cases.String()+
			" END, updated_at = $2"+w.String(), w.args...)
		if err != nil {
			return fmt.Errorf("reorder %s: %w", of.table, err)
		}
		for _, id := range ids {
			t.Note(lyceum.EntryType(noun+".updated"), id)
		}
	}
	return nil
}
