package sqlstore

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

var references = define(&tables.References, noun[lyceum.TransactionID, lyceum.Reference, lyceum.ReferenceFilter]{
	table: table[lyceum.Reference]{name: "charge_references"},
	what:  "reference",
	key:   idKey("transaction_id", func(r *lyceum.Reference) *lyceum.TransactionID { return &r.Transaction }),
	rest: []column[lyceum.Reference]{
		textColumn("reference", func(r *lyceum.Reference) *string { return &r.Name }),
	},
	narrow: func(w *where, f lyceum.ReferenceFilter) {
		if f.Name.Present {
			w.equal("reference", f.Name.Value)
		}
		byReference(w, f.AnyCase)
	},
})

// referenceColumn returns a column by which a row is found by its reference, ignoring case. It is
// written with the reference and never read.
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
		w.equal("reference_key", lyceum.ReferenceKey(reference.Value))
	}
}

// writtenReference are the columns of a reference as it is written. The noun omits the last one,
// because SQLite would read all references by an index that has every column.
var writtenReference = append(slices.Clip(references.columns), "reference_key")

func (t *tx) TakeReference(reference string, id lyceum.TransactionID) error {
	from := lyceum.Tx{Tables: &tables, Changes: t}
	_, taken, err := references.First(from, lyceum.ReferenceFilter{AnyCase: lyceum.Some(reference)})
	switch {
	case err != nil:
		return err
	case taken:
		return lyceum.ErrReferenceTaken
	}
	row := lyceum.Reference{Transaction: id, Name: reference}
	err = t.q.group.add(edit{
		table: references.name, list: strings.Join(writtenReference, ", "), columns: writtenReference,
		school: int64(t.stamp.School), values: append(references.bind(&row), lyceum.ReferenceKey(reference)),
	})
	if err != nil {
		return fmt.Errorf("take reference: %w", err)
	}
	return nil
}
