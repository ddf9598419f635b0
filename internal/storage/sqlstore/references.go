package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.References, noun[lyceum.TransactionID, lyceum.Reference, lyceum.ReferenceFilter]{
	table: table[lyceum.Reference]{name: "charge_references"},
	what:  "reference",
	key:   idKey("transaction_id", func(r *lyceum.Reference) *lyceum.TransactionID { return &r.Transaction }),
	rest: []column[lyceum.Reference]{
		textColumn("reference", func(r *lyceum.Reference) *string { return &r.Name }),
	},
	narrow: func(w *where, f lyceum.ReferenceFilter) {
		if f.Name.Present {
			w.and("reference = ?", f.Name.Value)
		}
		byReference(w, f.AnyCase)
	},
	hint: func(d *dialect, f lyceum.ReferenceFilter) string {
		if f.AnyCase.Present {
			return d.indexed("charge_references_key")
		}
		return ""
	},
})

// referenceColumn finds a row by its reference in any case of the letters. It
// is written with the reference, and never read.
func referenceColumn[T any](of func(*T) lyceum.Opt[string]) column[T] {
	return column[T]{
		name: "reference_key",
		bind: func(t *T) any {
			if reference := of(t); reference.Present {
				return lyceum.ReferenceKey(reference.Value)
			}
			return nil
		},
		scan: func(*T) sql.Scanner { return scanFunc(func(any) error { return nil }) },
	}
}

func byReference(w *where, reference lyceum.Opt[string]) {
	if reference.Present {
		w.and("reference_key = ?", lyceum.ReferenceKey(reference.Value))
	}
}

// referenceColumns are all that a row of charge_references has, besides the school.
var referenceColumns = []string{"reference", "transaction_id", "reference_key"}

func (t *tx) TakeReference(reference string, id lyceum.TransactionID) error {
	const table = "charge_references"
	key := lyceum.ReferenceKey(reference)
	args := []any{int64(t.stamp.School), key}
	in := scope{tables: []string{table}, equals: []equal{{"reference_key", args[1:]}}}
	var taken lyceum.TransactionID
	there, err := t.q.oneIn(in, "SELECT transaction_id FROM "+table+t.q.pool.dialect.indexed("charge_references_key")+
		" WHERE school_id = $1 AND reference_key = $2 LIMIT 1", args, scanInt(&taken))
	if err == nil && there {
		return lyceum.ErrReferenceTaken
	}
	if err == nil {
		err = t.q.group.add(edit{
			table: table, list: strings.Join(referenceColumns, ", "), columns: referenceColumns,
			school: int64(t.stamp.School), values: []any{reference, int64(id), key},
		})
	}
	if err != nil {
		return fmt.Errorf("take reference: %w", err)
	}
	return nil
}
