package sales

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// recordedProblems returns problems of rows that say something else of a refund or a dispute
// than what was recorded here. Such a file is older than that, or comes from where nobody
// knows of it: taken in, it would take the refund out of the ledger.
func recordedProblems(
	tables *lyceum.Tables, from lyceum.Source, batch []lyceum.Transaction,
) (problems []lyceum.RowProblem, err error) {
	if _, found, err := tables.Movements.First(from, lyceum.MovementFilter{}); err != nil || !found {
		return nil, err
	}
	ids := make([]lyceum.TransactionID, len(batch))
	for n := range batch {
		ids[n] = batch[n].ID
	}
	moved := map[lyceum.TransactionID]bool{}
	for part := range slices.Chunk(ids, movementsAtOnce) {
		err := tables.Movements.Each(from, lyceum.MovementFilter{Transactions: part}, func(m *lyceum.Movement) error {
			moved[m.TransactionID] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	kept, err := tables.Transactions.Find(from, slices.Sorted(maps.Keys(moved))...)
	if err != nil {
		return nil, err
	}
	for n := range batch {
		if old, found := kept[batch[n].ID]; found {
			for _, p := range contradictions(&old, &batch[n]) {
				problems = append(problems, lyceum.RowProblem{Index: n, FieldError: p})
			}
		}
	}
	return problems, nil
}

// movementsAtOnce is for how many transactions movements are looked for at a time.
const movementsAtOnce = 128

// contradictions names what a row says that differs from a transaction with movements, of
// the fields with which these must agree.
func contradictions(kept, row *lyceum.Transaction) (all []lyceum.FieldError) {
	note := func(field string, same bool, value string) {
		if !same {
			all = append(all, lyceum.FieldError{Field: field, Message: fmt.Sprintf("must be %s, as it is here: transaction %d "+
				"was refunded or disputed in Lyceum, and an import does not change that; export it again, or leave it out",
				value, kept.ID)})
		}
	}
	amount := func(m lyceum.Minor) string { return strconv.FormatInt(int64(m), 10) }
	note("sale_id", row.SaleID == kept.SaleID, strconv.Itoa(int(kept.SaleID)))
	note("final_price", row.FinalPrice == kept.FinalPrice, amount(kept.FinalPrice))
	note("currency", row.Currency == kept.Currency, string(kept.Currency))
	note("tax_charge", row.TaxCharge == kept.TaxCharge, amount(kept.TaxCharge))
	note("has_chargeback", row.HasChargeback == kept.HasChargeback, orEmpty(kept.HasChargeback, strconv.FormatBool))
	note("chargeback_fee", row.ChargebackFee == kept.ChargebackFee, orEmpty(kept.ChargebackFee, amount))
	note("refunded_at", sameMoment(row.RefundedAt, kept.RefundedAt), orEmpty(kept.RefundedAt, func(t time.Time) string {
		return t.Format(time.RFC3339)
	}))
	note("amount_refunded", row.AmountRefunded == kept.AmountRefunded, amount(kept.AmountRefunded))
	return all
}

func sameMoment(a, b lyceum.Opt[time.Time]) bool {
	return a.Present == b.Present && a.Value.Equal(b.Value)
}

func orEmpty[T comparable](v lyceum.Opt[T], text func(T) string) string {
	if !v.Present {
		return "empty"
	}
	return text(v.Value)
}
