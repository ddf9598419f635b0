package sqlstore

import (
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
	},
})

func (t *tx) TakeReference(reference string, id lyceum.TransactionID) error {
	var taken lyceum.TransactionID
	there, err := t.q.one("INSERT INTO charge_references (school_id, reference, transaction_id) VALUES ($1, $2, $3) ON "+
		"CONFLICT (school_id, reference) DO NOTHING RETURNING transaction_id",
		[]any{int64(t.stamp.School), reference, int64(id)}, scanInt(&taken))
	if err != nil || there {
		return err
	}
	if _, err = t.q.one("SELECT transaction_id FROM charge_references WHERE school_id = $1 AND reference = $2",
		[]any{int64(t.stamp.School), reference}, scanInt(&taken)); err != nil {
		return fmt.Errorf("find reference: %w", err)
	}
	return &lyceum.Error{
		Kind: lyceum.Conflict, Code: "reference_taken",
		Detail: fmt.Sprintf("the payment with this reference is recorded already, as transaction %d", taken),
	}
}
