package sqlstore

import (
	"database/sql"
	"fmt"

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

func (t *tx) TakeReference(reference string, id lyceum.TransactionID) error {
	var taken lyceum.TransactionID
	there, err := t.q.one("INSERT INTO charge_references (school_id, reference, transaction_id, reference_key) "+
		"SELECT CAST($1 AS INTEGER), CAST($2 AS TEXT), CAST($3 AS INTEGER), CAST($4 AS TEXT) WHERE NOT EXISTS "+
		"(SELECT 1 FROM charge_references"+t.q.pool.dialect.indexed("charge_references_key")+" WHERE school_id = $1 "+
		"AND reference_key = $4) RETURNING transaction_id",
		[]any{int64(t.stamp.School), reference, int64(id), lyceum.ReferenceKey(reference)}, scanInt(&taken))
	if err != nil {
		return fmt.Errorf("take reference: %w", err)
	}
	if !there {
		return lyceum.ErrReferenceTaken
	}
	return nil
}
